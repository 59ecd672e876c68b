#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: src/api proto
# Quick: src/api proto
"""The message tables of the RPCs are those of the .proto files:  rpc_tables_test.py SRC_API PROTO

Each table row is held against the field of its number: name, JSON name, kind, repeated, names of an enum's values. Fields that a
table leaves out are listed here with the reason.
"""
import glob, os, re, sys

LEFT_OUT = {
    ('RawProfileSeries', 'annotations'): 'taken and not kept',
    ('StackTraceSelector', 'frame_filter'): 'changes what is shown, not which samples count',
    ('SelectMergeStacktracesResponse', 'async'): 'queries are answered at once',
    ('Point', 'annotations'): 'nothing is throttled, so there is nothing to say',
    ('HttpBody', 'extensions'): 'none',
}
EXTRA = {('Line', 'column'), ('Profile', 'doc_url')}  # of google/pprof's own file, newer than the copy
SCALARS = {'string': 'STR', 'bytes': 'BYTES', 'int64': 'I64', 'uint64': 'U64', 'int32': 'I32', 'uint32': 'I32',
           'double': 'F64', 'bool': 'BOOL'}


def camel(name):
    return re.sub(r'_(.?)', lambda m: m.group(1).upper(), name)


def protos(folder):
    """[(message, {number: (name, type, repeated)})], {enum: [value names]}"""
    messages, enums = [], {}
    for path in glob.glob(os.path.join(folder, '**/*.proto'), recursive=True):
        with open(path) as f:
            text = re.sub(r'//[^\n]*|/\*.*?\*/', '', f.read(), flags=re.S)
        stack = []
        for m in re.finditer(r'\b(message|enum|service|oneof|rpc)\s+(\w+)[^{;]*\{|(\})|([^{};]+);|\{', text):
            if m.group(1):
                stack.append((m.group(1), m.group(2), {}))
                if m.group(1) == 'message':
                    messages.append((m.group(2), stack[-1][2]))
                elif m.group(1) == 'enum':
                    enums[m.group(2)] = stack[-1][2]
            elif m.group(3):
                if stack:
                    stack.pop()
            elif not m.group(4):
                stack.append(('', '', {}))
            elif stack and stack[-1][0] in ('message', 'oneof'):
                f = re.match(r'\s*(repeated\s+|optional\s+)?([\w.]+|map<[^>]*>)\s+(\w+)\s*=\s*(\d+)', m.group(4))
                owner = next((s for s in reversed(stack) if s[0] == 'message'), None)
                if f and owner:
                    owner[2][int(f.group(4))] = (f.group(3), f.group(2), (f.group(1) or '').strip() == 'repeated')
            elif stack and stack[-1][0] == 'enum':
                f = re.match(r'\s*(\w+)\s*=\s*(\d+)', m.group(4))
                if f:
                    stack[-1][2][int(f.group(2))] = f.group(1)
    return messages, enums


ROW = re.compile(r'\b(FMR|FMO|FM|FR|FE|F)\(\s*struct \w+,\s*[\w.]+,\s*(\d+),\s*&?(\w+),\s*"(\w+)",\s*"(\w+)"\s*\)')


def tables(folder):
    """(message, {number: (macro, kind or type, name, json)}), and the words of enums by the C name"""
    words, found = {}, []
    for path in sorted(glob.glob(os.path.join(folder, 'rpc_types_*.c'))):
        with open(path) as f:
            text = f.read()
        for m in re.finditer(r'const char \*const (\w+)\[\] = \{(.*?)\};', text, re.S):
            words[m.group(1)] = re.findall(r'"(\w+)"', m.group(2))
        rows = {m.group(1): {int(r[1]): (r[0], r[2], r[3], r[4]) for r in ROW.findall(m.group(2))}
                for m in re.finditer(r'struct fk_field (\w+)\[\] = \{(.*?)\};', text, re.S)}
        found += [(m.group(1), rows[m.group(2)])
                  for m in re.finditer(r'TYPE\(\w+,\s*"(\w+)",\s*struct \w+,\s*(\w+)\)', text)]
    return found, words


def differences(message, rows, fields, enums, words):
    for number, (macro, kind, name, json) in rows.items():
        if number not in fields:
            if (message, name) not in EXTRA:
                yield f'field {number} {name} is not there'
            continue
        want, type_name, repeated = fields[number]
        short = type_name.split('.')[-1]
        if name != want or json != camel(want):
            yield f'field {number} is {want} ({camel(want)}), not {name} ({json})'
        if repeated != (macro in ('FR', 'FMR')):
            yield f'{name}: repeated or not'
        if type_name in SCALARS:
            if macro not in ('F', 'FR') or kind != 'FK_FIELD_' + SCALARS[type_name]:
                yield f'{name} is {type_name}, not {kind}'
        elif short == 'Timestamp':
            if kind != 'FK_FIELD_TIME':
                yield f'{name} is a time'
        elif short in enums:
            if macro != 'FE' or words[kind] != [enums[short][k] for k in sorted(enums[short])]:
                yield f'{name}: values of {short}'
        elif macro not in ('FM', 'FMR', 'FMO'):
            yield f'{name} is the message {type_name}'
    for number, (name, _, _) in fields.items():
        if number not in rows and (message, name) not in LEFT_OUT:
            yield f'field {number} {name} is left out'


def main(args):
    found, words = tables(args[0])
    messages, enums = protos(args[1])
    failed = 0
    for message, rows in found:
        tries = [list(differences(message, rows, fields, enums, words)) for name, fields in messages if name == message]
        best = min(tries, key=len, default=['there is no such message'])
        for text in best:
            print(f'FAILED {message}: {text}')
        failed += bool(best)
    if len(found) < 50:
        print('FAILED: only', len(found), 'tables found')
        failed += 1
    print(f'{len(found) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
