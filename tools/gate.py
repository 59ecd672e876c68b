# SPDX-License-Identifier: Apache-2.0
"""What the gates share: which files count, how a violation is printed, allow-lists.

A gate prints nothing but its violations (file:line: what is wrong; what to do) and exits 1 when
there are any.  An allow-list is a file beside the gate: one entry a line, then '#' and the reason;
an entry without a reason, or one that no longer matches anything, is a violation itself."""
import os, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SKIPPED = ('build/', 'node_modules/', 'dist/', '.cache/', '__pycache__/', 'data/')


def files(*suffixes, under=''):
    """Tracked files and new ones that git does not ignore; without git, everything outside of builds."""
    try:
        out = subprocess.run(['git', '-C', ROOT, '-c', 'safe.directory=*', 'ls-files', '-z', '--cached',
                              '--others', '--exclude-standard'], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, check=True).stdout.decode().split('\0')
    except (OSError, subprocess.CalledProcessError):
        out = [os.path.relpath(os.path.join(d, f), ROOT) for d, _, fs in os.walk(ROOT) for f in fs
               if '/.git/' not in d + '/']
    return sorted(f for f in set(out) if f and f.startswith(under)
                  and (not suffixes or f.endswith(suffixes))
                  and not any(s in '/' + f for s in ('/' + s for s in SKIPPED))
                  and os.path.isfile(os.path.join(ROOT, f)))


def text(name):
    with open(os.path.join(ROOT, name), encoding='utf-8', errors='replace') as f:
        return f.read()


class Gate:
    def __init__(self, name):
        self.name, self.count = name, 0

    def fault(self, where, what):
        self.count += 1
        print(f'{where}: {what}')

    def allowed(self, filename):
        """{entry: reason}; the entries' use is reported by used()."""
        path, out = os.path.join(ROOT, 'tools', filename), {}
        if not os.path.exists(path):
            return out
        for n, line in enumerate(open(path), 1):
            entry, _, reason = (p.strip() for p in line.partition('#'))
            if not entry:
                continue
            if not reason:
                self.fault(f'tools/{filename}:{n}', f'"{entry}" has no reason; write one after "#"')
            out[entry] = n
        return out

    def unused(self, filename, allowed, used):
        for entry, n in allowed.items():
            if entry not in used:
                self.fault(f'tools/{filename}:{n}', f'"{entry}" is no longer needed; remove the line')

    def end(self):
        if self.count:
            print(f'{self.name}: {self.count} violation{"s" * (self.count != 1)}')
        sys.exit(1 if self.count else 0)
