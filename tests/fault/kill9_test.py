#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""kill -9 of a server under load, again and again: what it acknowledged is there afterwards, once.

  kill9_test.py FLAMEKEEP

Several clients push while the server seals every few hundred kilobytes; it is killed at random moments and started
again, FK_KILLS times (20). After each start everything is listed, each acknowledged id must be there once with its total and
service, no profile twice, and some are exported and compared with what was sent. Half of the restarts take load at
once, before the list is read. In the end `flamekeep check` must find nothing.
"""
import http.client, itertools, os, random, shutil, statistics, sys, tempfile, threading, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from server import Client, Server, check

CLIENTS, RESTART_SECONDS = 4, 1.0
RANGE = {'from': 'now-2d', 'until': 'now+1d'}


class Load:
    """Clients that push until told to stop. Every profile has a total of its own."""

    def __init__(self):
        self.numbers = itertools.count(1000)
        self.sent = {}  # total -> (service, text), before it goes out
        self.acked = {}  # id -> total
        self.refused = []
        self.stopping = threading.Event()
        self.threads = []

    def start(self, port):
        self.stopping.clear()
        self.threads = [threading.Thread(target=self._push, args=(port,)) for _ in range(CLIENTS)]
        for t in self.threads:
            t.start()

    def stop(self):
        self.stopping.set()
        for t in self.threads:
            t.join()

    def _push(self, port):
        client, rng = Client(port, timeout=20), random.Random()
        while not self.stopping.is_set():
            total = next(self.numbers)
            service, text = f'service-{rng.randrange(6)}', stacks(rng, total)
            self.sent[total] = service, text
            try:
                status, _, answer = client.push(text, {'service_name': service, 'pod': f'pod-{rng.randrange(4)}'})
            except (OSError, http.client.HTTPException):
                return  # killed: it may be there or not
            if status != 201:
                self.refused.append((status, answer))
                return
            self.acked[answer['profiles'][0]['id']] = total


def stacks(rng, total):
    """A folded text whose values add up to total."""
    left, lines = total, {}
    for _ in range(rng.randrange(1, 40)):
        value = rng.randrange(1, 30)
        if left <= value:
            break
        stack = ';'.join(f'pkg{rng.randrange(9)}.function_{rng.randrange(300)}' for _ in range(rng.randrange(1, 12)))
        lines[stack] = lines.get(stack, 0) + value
        left -= value
    lines['main'] = lines.get('main', 0) + left
    return ''.join(f'{stack} {value}\n' for stack, value in lines.items())


def parsed(text):
    return dict((line.rsplit(' ', 1)[0], int(line.rsplit(' ', 1)[1])) for line in text.splitlines())


def faults_of(client, load, acked):
    """What is wrong with the list and with a few exports."""
    entries = client.entries(**RANGE)
    by_id = {e['id']: e for e in entries}
    if len(by_id) != len(entries):
        yield f'{len(entries) - len(by_id)} ids are listed twice'
    totals = [e['types'][0]['total'] for e in entries]
    if len(set(totals)) != len(totals):
        yield f'{len(totals) - len(set(totals))} profiles are there twice under different ids'
    lost = [i for i in acked if i not in by_id]
    if lost:
        yield f'{len(lost)} of {len(acked)} acknowledged profiles are lost, {lost[0]} is one'
    for e in entries:
        total = e['types'][0]['total']
        if total not in load.sent or load.sent[total][0] != e['service_name'] or acked.get(e['id'], total) != total:
            yield f"{e['id']} has total {total} and service {e['service_name']}: not as sent"
    for i in random.sample(sorted(acked), min(10, len(acked))):
        if i in by_id and client.folded(i) != parsed(load.sent[acked[i]][1]):
            yield f'{i} is exported otherwise than it was sent'


def main(binary):
    kills = int(os.environ.get('FK_KILLS', 20))
    data = tempfile.mkdtemp(prefix='fk-kill9-')
    server = Server(binary, data, '--seal-bytes', '256KiB', '--seal-age', '2s', '--min-free', '1MiB', '--retention-bytes', '1TiB',
                    '--quiet')
    load, seconds, failed = Load(), [], 0
    try:
        server.start()
        for kill in range(1, kills + 1):
            load.start(server.port)
            time.sleep(random.choice((0.05, 0.3, 0.8, 1.5)) * random.uniform(0.5, 1.5))
            server.kill()
            load.stop()
            acked = dict(load.acked)
            seconds.append(server.start())
            if kill % 2:
                load.start(server.port)
            faults = list(faults_of(Client(server.port), load, acked))
            load.stop()
            failed += bool(faults)
            for fault in faults[:5]:
                print(f'FAILED kill {kill}: {fault}')
        for refusal in load.refused[:3]:
            print('FAILED a push was refused:', *refusal)
        server.stop()
        code, text = check(binary, data)
        if code:
            print(f'FAILED check: {code}\n{text}')
        failed += bool(code) + bool(load.refused)
    finally:
        if server.process.poll() is None:
            server.kill()
        shutil.rmtree(data, ignore_errors=True)
    slow = statistics.median(seconds) >= RESTART_SECONDS
    print(f'{kills} kills, {len(load.acked)} profiles acknowledged of {len(load.sent)} sent; exec to ready: '
          f'median {statistics.median(seconds) * 1000:.0f} ms, most {max(seconds) * 1000:.0f} ms')
    if slow:
        print(f'FAILED restarts take {RESTART_SECONDS} s or more')
    print(f'{kills + 2 - failed - slow} passed, {failed + slow} failed, 0 skipped')
    return 1 if failed or slow else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
