#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes script and style of the exported page as C: embed_page.py PAGE_FOLDER OUTPUT.c

With their SHA-256, by which the page's own policy lets them run and nothing else."""
import base64, hashlib, os, sys


def literal(data):
    """Bytes as the lines of a C string; octal, so that no digit can follow by accident."""
    for at in range(0, len(data), 64):
        yield '    "' + ''.join(f'\\{b:03o}' for b in data[at:at + 64]) + '"'


def main(folder, output):
    out = ['// SPDX-License-Identifier: Apache-2.0', '// Made by tools/embed_page.py; not to be edited.',
           '#include "render/render_int.h"', '']
    for name, file in (('script', 'flame.js'), ('style', 'flame.css')):
        with open(os.path.join(folder, file), 'rb') as f:
            data = f.read()
        if b'</' in data:
            raise SystemExit(f'{file}: "</" would end its element')
        sha = base64.b64encode(hashlib.sha256(data).digest()).decode()
        out.append(f'const struct fk_page_part fk_page_{name} = {{')
        out.append(f'    "sha256-{sha}", {len(data)},')
        out += literal(data)
        out.append('};')
    with open(output, 'w', encoding='ascii') as f:
        f.write('\n'.join(out) + '\n')


if __name__ == '__main__':
    main(*sys.argv[1:])
