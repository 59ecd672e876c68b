#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums an llvm-cov report by room and holds it against the marks:  coverage_rooms.py REPORT"""
import re, sys

MARKS = {90: 'codec formats elf model block query', 85: 'base os rpc http store ingest symbols match render',
         75: 'agent api scrape cli catalog blob'}


def main(path):
    rooms = {}
    for line in open(path):
        cells = line.split()
        # name, regions (3), functions (3), lines, missed lines, share, ...
        m = re.match(r'(?:.*src/)?([a-z]+)/[\w.]+$', cells[0]) if len(cells) > 9 else None
        if m and cells[7].isdigit():
            total, missed = rooms.get(m.group(1), (0, 0))
            rooms[m.group(1)] = total + int(cells[7]), missed + int(cells[8])
    marks, low = {r: mark for mark, names in MARKS.items() for r in names.split()}, 0
    for room, (total, missed) in sorted(rooms.items()):
        share, mark = 100 * (total - missed) / max(total, 1), marks.get(room, 0)
        low += share < mark
        print(f'{room:10} {share:6.2f} % of {total:6} lines' + (f', under its mark of {mark} %' if share < mark else ''))
    if not rooms:
        print('no room in this report')
    return low > 0 or not rooms


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
