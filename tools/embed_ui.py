#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the built interface as C: embed_ui.py UI_DIST OUTPUT.c

UI_DIST/manifest.txt names each address with its file, media type and caching, separated by tabs. Without it (the interface was not
built) the table is empty and the server says so on its pages.
"""
import gzip, hashlib, os, sys


def literal(data):
    """Bytes as the lines of a C string; octal, so that no digit can follow by accident."""
    for at in range(0, len(data), 64):
        yield '"' + ''.join(f'\\{b:03o}' for b in data[at:at + 64]) + '"'


def read_manifest(dist):
    path = os.path.join(dist, 'manifest.txt')
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as f:
        return sorted(tuple(line.rstrip('\n').split('\t')) for line in f if line.strip())


def main(dist, output):
    names, files, rows = {}, [], []
    for url, file, media, cache in read_manifest(dist):
        if file not in names:
            with open(os.path.join(dist, file), 'rb') as f:
                data = f.read()
            names[file] = len(names)
            files.append((data, gzip.compress(data, 9, mtime=0)))
        tag = hashlib.sha256(files[names[file]][0]).hexdigest()[:16]
        caching = 'NULL' if cache == 'no-cache' else '"public, max-age=31536000, immutable"'
        rows.append((url[1:], names[file], media, tag, caching))
    out = ['// SPDX-License-Identifier: Apache-2.0', '// Made by tools/embed_ui.py; not to be edited.', '#include "api/api_int.h"', '']
    for i, (plain, packed) in enumerate(files):
        for kind, data in (('plain', plain), ('gzip', packed)):
            out.append(f'static const char {kind}{i}[] =')
            out += ['    ' + line for line in literal(data)] or ['    ""']
            out[-1] += ';'
    out += ['', 'const struct fk_http_asset fk_ui_assets[] = {']
    for url, i, media, tag, caching in sorted(rows, key=lambda r: r[0].encode()):
        out.append(f'    {{"{url}", "{media}", "\\"{tag}\\"", {caching}, {{plain{i}, sizeof(plain{i}) - 1}}, '
                   f'{{gzip{i}, sizeof(gzip{i}) - 1}}, {{0}}}},')
    if not rows:
        out.append('    {0},')
    out += ['};', f'const size_t fk_ui_assets_n = {len(rows)};', '']
    text = '\n'.join(out)
    with open(output, 'w', encoding='ascii') as f:
        f.write(text)


if __name__ == '__main__':
    main(*sys.argv[1:])
