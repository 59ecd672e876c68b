#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
# Quick: {build}/flamekeep
"""docs/formats.md names the formats that the program reads, no more and no fewer:  formats_page_test.py FLAMEKEEP"""
import os, re, subprocess, sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../docs/formats.md')


def main(args):
    refusal = subprocess.run([args[0], 'show', '-'], input=b'\xde\xad\xbe\xef\x01', stdout=subprocess.PIPE, stderr=subprocess.PIPE).stderr.decode()
    known = set(re.search(r'read are: (.*)', refusal).group(1).strip().rstrip('.').split(', '))
    with open(PAGE, encoding='utf-8') as f:
        table = f.read().split('## Read', 1)[1].split('\n## ', 1)[0]
    named = {name for line in table.splitlines() if line.startswith('| `') for name in re.findall(r'`([^`]+)`', line.split('|')[1])}
    for name in sorted(known - named):
        print(f'{name} is read, and docs/formats.md does not say so')
    for name in sorted(named - known):
        print(f'{name} stands in docs/formats.md, and is not read')
    bad = len(known ^ named)
    print(f'{len(known & named)} passed, {bad} failed')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
