#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
# Quick: {build}/flamekeep
"""The tables of docs/api.md are those of the document that the server publishes:  api_page_test.py FLAMEKEEP [--write]"""
import json, os, sys, tempfile, urllib.request

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')
sys.path.insert(0, os.path.join(ROOT, 'tests/fault'))
from server import Server

PAGE = os.path.join(ROOT, 'docs/api.md')
BEGIN, END = '<!-- begin calls (tests/golden/api_page_test.py) -->\n', '<!-- end calls -->\n'
SOURCE = ['id', 'query', 'from', 'until', 'type', 'focus', 'hide', 'collapse', 'attr.<name>']


def published(binary):
    with tempfile.TemporaryDirectory() as tmp:
        server = Server(binary, os.path.join(tmp, 'data'), '--no-self-profile')
        server.start()
        with urllib.request.urlopen(f'http://127.0.0.1:{server.port}/api/openapi.json') as answer:
            document = json.load(answer)
        server.stop()
    return document


def own(parameters):
    """Without those of a source; (what stands for them, the others)."""
    names = [p['name'] for p in parameters]
    if all('left_' + n in names for n in SOURCE):
        return 'two sources', [p for p in parameters if p['name'].split('_', 1)[-1] not in SOURCE]
    if all(n in names for n in SOURCE):
        return 'a source', [p for p in parameters if p['name'] not in SOURCE]
    return '', parameters


def lines(document):
    yield '| call | scope | what it gives | parameters |'
    yield '|---|---|---|---|'
    known = {}
    for path, methods in document['paths'].items():
        for method, call in methods.items():
            source, left = own(call.get('parameters', []))
            for p in call.get('parameters', []):
                known.setdefault(p['name'], p['description'])
            text = ' '.join(filter(None, [source] + ['`' + p['name'] + '`' for p in left]))
            scope = ' '.join(s for entry in call['security'] for s in entry['token'] or ['any']) or 'none needed'
            yield f"| `{method.upper()} {path}` | {scope} | {call['summary']} | {text} |"
    yield ''
    yield '| parameter of a source | meaning |'
    yield '|---|---|'
    for name in SOURCE:
        yield f'| `{name}` | {known[name].replace("|", chr(92) + "|")} |'
    for path, methods in document['paths'].items():
        for method, call in methods.items():
            left = own(call.get('parameters', []))[1]
            if left:
                yield ''
                yield f'`{method.upper()} {path}`:'
                yield ''
                yield from (f"- `{p['name']}`: {p['description']}" for p in left)


def main(args):
    with open(PAGE) as f:
        page = f.read()
    head, rest = page.split(BEGIN)
    new = head + BEGIN + '\n'.join(lines(published(args[0]))) + '\n' + END + rest.split(END)[1]
    if '--write' in args:
        with open(PAGE, 'w') as f:
            f.write(new)
    elif new != page:
        print('docs/api.md is not what the server publishes; run tests/golden/api_page_test.py FLAMEKEEP --write')
        return 1
    print('1 passed, 0 failed')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
