#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums an llvm-cov report by room and holds it against the marks; of the files that read foreign bytes it also lists the lines
that no test reaches:  coverage_rooms.py REPORT [LCOV]"""
import re, sys

MARKS = {90: 'codec formats elf model block query', 85: 'base os rpc http store ingest symbols match render',
         75: 'agent api scrape cli catalog blob'}
PARSERS = {
    'protobuf wire': r'codec/(pb|varint)', 'JSON': r'codec/json_read', 'compression': r'codec/(zip|stream)', 'packing': r'codec/(pack|bits)',
    'pprof': r'formats/pprof', 'folded': r'formats/folded', 'JFR': r'formats/jfr', 'OTLP': r'formats/otlp',
    'perf script': r'formats/perf', 'other texts': r'formats/(legacy|gperf|goroutines|apple_text|callgrind|trace_tools|pyroscope)',
    'other JSON': r'formats/(json|v8|chrome|speedscope|firefox|flamebearer|stackprof)', 'simpleperf': r'formats/simpleperf',
    'selector': r'match/', 'HTTP/1': r'http/(head|body|conn|req|collect)', 'multipart': r'http/multipart', 'URL': r'http/url',
    'block and pack reader': r'block/(container|reader|record|page|samples|info|row|shape|symbols)|store/pack', 'ELF': r'elf/',
    'messages': r'rpc/',
}


def by_room(path):
    rooms = {}
    for line in open(path):
        cells = line.split()
        # name, regions (3), functions (3), lines, missed lines, share, ...
        m = re.match(r'(?:.*src/)?([a-z]+)/[\w.]+$', cells[0]) if len(cells) > 9 else None
        if m and cells[7].isdigit():
            total, missed = rooms.get(m.group(1), (0, 0))
            rooms[m.group(1)] = total + int(cells[7]), missed + int(cells[8])
    return rooms


def line_counts(path):
    """{file under src/: {line: how often}}"""
    files, name = {}, None
    for line in open(path):
        if line.startswith('SF:'):
            name = line.strip().split('src/', 1)[-1]
        elif line.startswith('DA:'):
            number, count = line[3:].split(',')[:2]
            lines = files.setdefault(name, {})
            lines[int(number)] = max(lines.get(int(number), 0), int(count))
    return files


def ranges(numbers):
    parts = []
    for n in numbers:
        if parts and n == parts[-1][1] + 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return ' '.join(str(a) if a == b else f'{a}-{b}' for a, b in parts)


def parsers(path):
    low, files = 0, line_counts(path)
    for parser, pattern in PARSERS.items():
        mine = {f: lines for f, lines in files.items() if re.match(pattern, f)}
        total = sum(len(lines) for lines in mine.values())
        reached = sum(n > 0 for lines in mine.values() for n in lines.values())
        share = 100 * reached / max(total, 1)
        low += not total or share < 90
        print(f'{parser:22} {share:6.2f} % of {total:5} lines' + ('' if total and share >= 90 else ', under its mark of 90 %'))
        for f, lines in sorted(mine.items()):
            missed = [n for n, count in sorted(lines.items()) if not count]
            if missed:
                print(f'    {f}: {ranges(missed)}')
    return low


def main(report, lcov=None):
    marks, low = {r: mark for mark, names in MARKS.items() for r in names.split()}, 0
    rooms = by_room(report)
    for room, (total, missed) in sorted(rooms.items()):
        share, mark = 100 * (total - missed) / max(total, 1), marks.get(room, 0)
        low += share < mark
        print(f'{room:10} {share:6.2f} % of {total:6} lines' + (f', under its mark of {mark} %' if share < mark else ''))
    if not rooms:
        print('no room in this report')
    if lcov:
        low += parsers(lcov)
    return low > 0 or not rooms


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
