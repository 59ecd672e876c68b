#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: tools
# Quick: tools
"""Each gate finds what it is there for, and is quiet on a tree without faults:  gates_test.py TOOLS

A small tree is made in a temporary folder, with the gates of TOOLS copied into it; then one fault after the other."""
import glob, os, shutil, subprocess, sys, tempfile

SPDX = '// SPDX-License-Identifier: Apache-2.0\n'
GOOD = {
    'cmake/rooms.cmake': '# SPDX-License-Identifier: Apache-2.0\nfk_room(base)\nfk_room(os USES base)\nfk_room(model USES base)\n'
                         'fk_room(store USES base os model)\n',
    'src/base/base.h': SPDX + '#include <stdint.h>\n',
    'src/os/os.h': SPDX + '#include "base/base.h"\n',
    'src/os/file.c': SPDX + '#include "os/os.h"\n#include <unistd.h>\n',
    'src/model/model.h': SPDX + '#include "base/base.h"\n',
    'src/model/inner_int.h': SPDX,
    'src/store/store.h': SPDX + '#include "model/model.h"\n',
    'src/store/store.c': SPDX + '#include "store/store.h"\n\nint fk_store_x(int a);\nint fk_store_x(int a)\n{\n    return a;\n}\n',
}


def store(code, includes=''):
    return {'src/store/bad.c': SPDX + '#include "store/store.h"\n' + includes + code}


def function(lines=3, parameters=1, branches=0):
    arguments = ', '.join(f'int a{i}' for i in range(parameters))
    body = '    if (a0)\n        a0++;\n' * branches + '    a0++;\n' * max(0, lines - 3 - 2 * branches)
    return f'int fk_bad({arguments});\nint fk_bad({arguments})\n{{\n{body}}}\n'


# (gate, what is changed, what it must say)
FAULTS = [
    ('check_rooms', {'src/model/bad.c': SPDX + '#include "store/store.h"\n'}, 'src/model/bad.c:2: model may not use store'),
    ('check_rooms', store('', '#include "model/inner_int.h"\n'), 'private to model'),
    ('check_rooms', store('', '#include <sys/socket.h>\n'), 'src/store/bad.c:3: <sys/socket.h> belongs to os'),
    ('check_rooms', {'src/store/second.h': SPDX}, 'a second public header of store'),
    ('check_rooms', {'src/attic/a.c': SPDX}, 'is no room'),
    ('check_rooms', {'cmake/rooms.cmake': GOOD['cmake/rooms.cmake'].replace('base)\nfk_room(store', 'base store)\nfk_room(store')},
     'stands on no lower floor'),
    ('check_rooms', {'tools/check_rooms.allow': 'src/store/store.c <poll.h>  # once needed\n'}, 'no longer needed'),
    ('check_rooms', {'tools/check_rooms.allow': 'src/store/store.c <poll.h>\n'}, 'has no reason'),
    ('check_size', store(function(lines=101)), 'fk_bad has 101 lines'),
    ('check_size', store(function(parameters=8)), 'fk_bad has 8 parameters'),
    ('check_size', store(function(lines=61)), 'more than 60 lines'),
    ('check_size', store('\n' * 800), 'the file has'),
    ('check_spdx', {'src/store/bad.c': '#include "store/store.h"\n'}, 'src/store/bad.c:1: no licence line'),
    ('check_spdx', {'x.py': '#!/usr/bin/env python3\nprint(1)\n'}, 'x.py:2: no licence line'),
    ('check_words', store('char *f(char *a, char *b) { return strcpy(a, b); }\n'), 'src/store/bad.c:3: "strcpy()" is banned'),
    ('check_words', store('void *f(void) { return malloc(1); }\n'), '"malloc()" is banned'),
    ('check_words', store('// as in /' + 'work/somewhere/x\n'), 'a path of one machine'),
    ('check_words', {'x.md': 'https://registry.' + 'npmjs.org/preact\n'}, 'the address of a package mirror'),
    ('check_headers', {'src/store/store.h': SPDX + 'uint77_t fk_x(void);\n'}, 'src/store/store.h:1: does not compile alone'),
    ('check_docs', {'x.md': '[a](nowhere.md)\n'}, 'x.md:1: "nowhere.md" is not there'),
]
if shutil.which('pmccabe'):
    FAULTS.append(('check_size', store(function(lines=60, branches=26)), 'branches too much'))
FORMAT = ('check_format', store('int  fk_x( int a ) ;\n'), 'src/store/bad.c:3: not as .clang-format')


def run(tools, gate, changes):
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(os.path.join(root, 'tools'))
        for f in [gate, 'gate.py']:
            shutil.copy(os.path.join(tools, f), os.path.join(root, 'tools'))
        shutil.copy(os.path.join(tools, '../.clang-format'), root)
        for name, content in {**GOOD, **changes}.items():
            os.makedirs(os.path.dirname(os.path.join(root, name)) or root, exist_ok=True)
            with open(os.path.join(root, name), 'w') as f:
                f.write(content)
        p = subprocess.run([os.path.join(root, 'tools', gate)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return p.returncode, p.stdout.decode()


def main(tools):
    good, bad, cases = 0, 0, list(FAULTS)
    if run(tools, 'check_format', {})[0] == 77:
        print('SKIP: check_format needs clang-format 14')
    else:
        cases.append(FORMAT)
    for gate in sorted({c[0] for c in cases}):
        code, out = run(tools, gate, {})
        good, bad = good + (code == 0), bad + (code != 0)
        if code:
            print(f'FAILED: {gate} complains about a tree without faults: {out}')
    for gate, changes, want in cases:
        code, out = run(tools, gate, changes)
        ok = code == 1 and want in out
        good, bad = good + ok, bad + (not ok)
        if not ok:
            print(f'FAILED: {gate} should say "{want}", said ({code}): {out}')
    left = {os.path.basename(g) for g in glob.glob(os.path.join(tools, 'check_*')) if os.access(g, os.X_OK)} - {c[0] for c in cases}
    for gate in sorted(left - ({'check_format'} if FORMAT not in cases else set())):
        bad += 1
        print(f'FAILED: {gate} has no fault here that it must find')
    print(f'{good} passed, {bad} failed')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
