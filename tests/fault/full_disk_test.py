#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""A full disk: a server on a small tmpfs is filled until it refuses.

  full_disk_test.py FLAMEKEEP        (as root: it mounts a tmpfs)

What it refuses with is a problem document that names --min-free, with Retry-After; reads go on; it can be killed and
started again while full; when there is room again, writes resume; everything acknowledged is there, once, all the time.
Once by somebody else's file that goes again, once by its own data on a file system that is then enlarged.
"""
import os, random, shutil, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from server import Client, Server, check

MIB = 1 << 20
RANGE = {'from': 'now-2d', 'until': 'now+1d'}
RESUME_SECONDS = 30


class Failed(Exception):
    pass


def need(what, *details):
    def that(ok):
        if not ok:
            raise Failed(' '.join([what, *map(str, details)]))
    return that


def mount(path, size, remount=False):
    options = f'size={size}' + (',remount' if remount else '')
    return subprocess.run(['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', path], stderr=subprocess.PIPE)


class Disk:
    """Server, client and what was acknowledged."""

    def __init__(self, binary, folder):
        # Its own retention would make room; here it must not. Blocks are small, so that seals meet the full disk too.
        self.server = Server(binary, folder + '/data', '--min-free', '4MiB', '--retention-bytes', '1TiB', '--retention-age', '-1s',
                             '--seal-bytes', '2MiB', '--quiet')
        self.acked, self.number, self.rng = {}, 0, random.Random(7)
        self.client = None
        self.start()

    def start(self):
        seconds = self.server.start()
        self.client = Client(self.server.port)
        return seconds

    def push(self):
        """One profile of about 100 KiB; (status, headers, answer)."""
        self.number += 1
        frames = [f'function_{self.rng.getrandbits(40):010x}_{self.rng.getrandbits(40):010x}' for _ in range(2500)]
        text = ''.join(f'main;worker;{frame};read 1\n' for frame in frames) + f'main {self.number}\n'
        status, headers, answer = self.client.push(text, {'service_name': f'full-{self.number % 3}'})
        if status == 201:
            self.acked[answer['profiles'][0]['id']] = len(frames) + self.number
        return status, headers, answer

    def fill(self, most=2000):
        """Pushes until refused; the refusal is looked at."""
        for _ in range(most):
            status, headers, answer = self.push()
            if status != 201:
                break
        need('nothing was refused, pushed', most)(status != 201)
        need('status', status, answer)(status == 503)
        need('content type', headers.get('Content-Type'))('application/problem+json' in headers.get('Content-Type', ''))
        need('Retry-After', headers.get('Retry-After'))(int(headers.get('Retry-After') or 0) > 0)
        need('the reason does not name --min-free:', answer)('--min-free' in str(answer.get('detail', answer)))

    def reads(self):
        """Everything acknowledged is listed once with its total; one is read whole."""
        entries = self.client.entries(**RANGE)
        totals = {e['id']: e['types'][0]['total'] for e in entries}
        need('listed', len(entries), 'of', len(totals), 'ids')(len(totals) == len(entries))
        lost = [i for i, total in self.acked.items() if totals.get(i) != total]
        need(len(lost), 'of', len(self.acked), 'acknowledged profiles are lost or changed')(not lost)
        one = self.rng.choice(sorted(self.acked))
        need('exported total of', one)(sum(self.client.folded(one).values()) == self.acked[one])

    def resumes(self):
        until = time.monotonic() + RESUME_SECONDS
        status = 0
        while status != 201 and time.monotonic() < until:
            status, _, answer = self.push()
            time.sleep(0 if status == 201 else 0.2)
        need('writes do not resume:', status, answer)(status == 201)

    def killed_while_full(self):
        self.server.kill()
        seconds = self.start()
        self.reads()
        self.fill() # a seal that the kill cut short may give a little room back
        return seconds


def somebody_elses_file(disk, folder):
    with open(folder + '/ballast', 'wb') as f:
        for _ in range(40):
            f.write(bytes(MIB))
    disk.fill()
    disk.reads()
    disk.killed_while_full()
    os.unlink(folder + '/ballast')
    disk.resumes()
    disk.reads()


def own_data_then_larger(disk, folder):
    disk.fill()
    disk.reads()
    disk.killed_while_full()
    need('remount')(mount(folder, 160 * MIB, remount=True).returncode == 0)
    disk.resumes()
    for _ in range(30):
        need('a push after the remount')(disk.push()[0] == 201)
    disk.reads()


def main(binary):
    if os.geteuid() != 0:
        print('SKIP: mounting a tmpfs needs root')
        return 77
    folder = tempfile.mkdtemp(prefix='fk-full-')
    mounted = mount(folder, 80 * MIB)
    if mounted.returncode:
        os.rmdir(folder)
        print('SKIP: no tmpfs can be mounted here:', mounted.stderr.decode('utf-8', 'replace').strip())
        return 77
    good, bad, disk = 0, 0, None
    try:
        disk = Disk(binary, folder)
        for case in (somebody_elses_file, own_data_then_larger):
            try:
                case(disk, folder)
                good += 1
            except Failed as e:
                bad += 1
                print(f'FAILED {case.__name__}: {e}')
        disk.server.stop()
        code, text = check(binary, folder + '/data')
        good, bad = good + (code == 0), bad + (code != 0)
        print(f'{len(disk.acked)} profiles acknowledged; check: {text.strip().splitlines()[-1]}')
    finally:
        if disk and disk.server.process.poll() is None:
            disk.server.kill()
        subprocess.run(['umount', folder])
        shutil.rmtree(folder, ignore_errors=True)
    print(f'{good} passed, {bad} failed, 0 skipped')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
