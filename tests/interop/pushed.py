# SPDX-License-Identifier: Apache-2.0
"""For the tests of this folder: runs one against a real server, pushes files to it, and tells what the server makes of them, also through
`flamekeep top FILE`, which has to say the same."""
import json, os, shutil, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fault'))
from server import Client, Server

# Two ways to spend time and two to spend memory, none of which the compiler may leave out or merge.
BUSY_C = '''
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define KEEP __attribute__((noinline, noclone))
static void *kept[4096];
static volatile double sink;
KEEP void grow_small(int n) { for (int i = 0; i < n; i++) { kept[i] = malloc(512 + i); memset(kept[i], 1, 512); } sink = 1; }
KEEP void grow_large(int n) { for (int i = 0; i < n; i++) { kept[2048 + i] = malloc(65536); memset(kept[2048 + i], 1, 9); } sink = 2; }
KEEP void drop(int n) { for (int i = 0; i < n; i++) { kept[4000] = malloc(3000 + i); memset(kept[4000], 1, 9); free(kept[4000]); } sink = 5; }
KEEP void spin_short(void) { for (int i = 1; i < 20000; i++) sink += 1.0 / i; }
KEEP void spin_long(void) { for (int i = 1; i < 60000; i++) sink += 1.0 / (i * 3.0); }
KEEP void spin(double seconds) {
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    while (clock() < end) { spin_short(); spin_long(); }
    sink = 3;
}
KEEP void both(double seconds) { grow_small(1000); grow_large(300); drop(500); spin(seconds); sink = 4; }
int main(int argc, char **argv) { both(argc > 1 ? atof(argv[1]) : 1.5); return kept[1] == NULL; }
'''


def output(*command, ok=(0,), **more):
    """What it prints, bytes taken as Latin-1; None when it does not work here."""
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, **more)
    return p.stdout.decode('latin-1') if p.returncode in ok else None


def build_busy(folder, *flags):
    """The program above, for profilers that walk frame pointers; None without a compiler or the libraries in `flags`."""
    source, program = os.path.join(folder, 'busy.c'), os.path.join(folder, 'busy')
    with open(source, 'w') as f:
        f.write(BUSY_C)
    command = ['gcc', '-O1', '-g', '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls', '-o', program, source, '-Wl,--no-as-needed']
    return program if output(*command, *flags) is not None else None


class Pushed:
    """A file that the server took. types: {type id: total}, of all profiles of the file."""

    def __init__(self, flamekeep, client, path, query):
        self.flamekeep, self.client, self.path = flamekeep, client, path
        with open(path, 'rb') as f:
            self.status, _, body = client.request('POST', '/api/v1/upload', query, f.read())
        self.receipt = json.loads(body)
        self.profiles = self.receipt.get('profiles', [])
        self.types = {t['type']: t['total'] for p in self.profiles for t in p['types']}
        self.samples = sum(p['types'][0]['samples'] for p in self.profiles)

    def find(self, part):
        """The type id whose type this is: name:TYPE:unit:period type:period unit."""
        return next((t for t in self.types if t.rsplit(':', 4)[1] == part), None)

    def total(self, part):
        return self.types.get(self.find(part))

    def top(self, part):
        """{function: (self, total)} of the first profile with this type."""
        kind = self.find(part)
        id = next(p['id'] for p in self.profiles if any(t['type'] == kind for t in p['types']))
        return {r['function']: (r['self'], r['total']) for r in self.client.get('/api/v1/top', id=id, type=kind, limit=100000)[1]['rows']}

    def top_of_file(self, part):
        """The same by `flamekeep top FILE`."""
        said = output(self.flamekeep, 'top', self.path, '--type', self.find(part), '--limit', '100000', '--json')
        return {r['function'].encode('latin-1').decode(): (r['self'], r['total']) for r in json.loads(said or '{"rows":[]}')['rows']}

    def folded(self, part):
        """{stack, root first: value} of the first profile."""
        status, text = self.client.get('/api/v1/export', id=self.profiles[0]['id'], type=self.find(part), format='folded')
        lines = text.splitlines() if status == 200 else []
        return {stack: int(n) for stack, _, n in (line.rpartition(' ') for line in lines)}


def compare(what, have, want, slack=lambda n: 0):
    """Checks of {name: number} against the tool's, one a name."""
    for name, n in want.items():
        yield f'{what} {name}', abs(have.get(name, 0) - n) <= slack(n), f'{have.get(name)}, not {n}'


def run(argv, needs, checks):
    """main() of a test: checks(push, folder) yields (what, good, detail); push(path, **query) gives a Pushed."""
    missing = [tool for tool in needs if not shutil.which(tool)]
    if missing:
        print(f"SKIP: no {', '.join(missing)} on this machine")
        return 77
    good = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        server = Server(argv[0], os.path.join(folder, 'data'))
        server.start()
        client = Client(server.port)
        try:
            for what, ok, detail in checks(lambda path, **query: Pushed(argv[0], client, path, query), folder):
                good, bad = good + bool(ok), bad + (not ok)
                if not ok:
                    print(f'FAILED: {what}: {str(detail)[:600]}')
        except BaseException:
            server.kill()
            raise
        server.stop()
    if not good and not bad:
        print('SKIP-ALL: nothing of it works here')
        return 77
    print(f'{good} passed, {bad} failed')
    return bad > 0
