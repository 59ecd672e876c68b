#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""Many entries: loads FK_ENTRIES (5,000) of 50 services over HTTP, then reads the list.

  entries_test.py FLAMEKEEP

Measured and printed, not judged: a page of 100 sorted by time and by value, either direction, with several selectors, first and
middle page. Judged: a full walk forward (next_cursor) and backward (prev_cursor) in each order while pushes go on has
each entry that was there before exactly once, none twice, in order. FK_ENTRIES=200000 is the size that figures are given for.
"""
import http.client, json, multiprocessing, os, random, shutil, socket, statistics, sys, tempfile, threading, time, urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from server import Client, Server

SERVICES, LOADERS, REPEATS = 50, 4, 15
BEGIN = int(time.time()) - 86400  # entries lie in one day, a second apart or less
TYPE = 'process_cpu:samples:count::'
SELECTORS = ['', '{service_name="svc-07"}', '{service_name="svc-07",pod="pod-3"}', '{pod=~"pod-[12]"}', '{region!="eu"}',
             '{service_name=~"svc-1.",region="us"}', '{pod="nowhere"}']
ORDERS = ['time', '-time', 'value', '-value']


def request(i, rng):
    """The i-th push as the bytes of one HTTP request. Value and time are by chance, so that no order is that of arrival."""
    labels = f'{{service_name="svc-{i % SERVICES:02d}",pod="pod-{rng.randrange(8)}",region="{rng.choice(("eu", "us", "ap"))}"}}'
    body = ''.join(f'main;f{rng.randrange(40)};g{rng.randrange(90)};h{rng.randrange(400)} {rng.randrange(1, 2000)}\n'
                   for _ in range(8)).encode()
    query = urllib.parse.urlencode({'format': 'folded', 'labels': labels, 'time': f'{BEGIN + rng.random() * 86000:.3f}'})
    return f'POST /api/v1/upload?{query} HTTP/1.1\r\nHost: l\r\nContent-Length: {len(body)}\r\n\r\n'.encode() + body


class Pipe:
    """A connection that carries prepared requests; several are on their way at a time."""

    def __init__(self, port):
        self.socket = socket.create_connection(('127.0.0.1', port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile('rb', 1 << 16)

    def send(self, requests):
        self.socket.sendall(b''.join(requests))
        return [self._answer() for _ in requests]

    def _answer(self):
        status, length = self.file.readline(), 0
        while (line := self.file.readline().strip()):
            if line.lower().startswith(b'content-length:'):
                length = int(line[15:])
        body = self.file.read(length)
        if not status.startswith(b'HTTP/1.1 201'):
            raise RuntimeError(f'{status} {body[:300]}')
        at = body.index(b'"id":"') + 6
        return body[at:at + 36].decode()


def load_part(port, part, count, results):
    ids = []
    try:
        rng, pipe = random.Random(part), Pipe(port)
        for at in range(part, count, LOADERS * 16):
            ids += pipe.send([request(i, rng) for i in range(at, min(count, at + LOADERS * 16), LOADERS)])
        results.put((ids, None))
    except Exception as e:
        results.put((ids, repr(e)))


def load(port, count):
    results = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=load_part, args=(port, part, count, results), daemon=True) for part in range(LOADERS)]
    for w in workers:
        w.start()
    ids = []
    for _ in workers:
        found, error = results.get()
        ids += found
        if error:
            raise RuntimeError('loading: ' + error)
    return ids


class Pushing(threading.Thread):
    """Goes on pushing until stopped."""

    def __init__(self, port):
        super().__init__()
        self.port, self.stopping, self.pushed, self.error = port, threading.Event(), 0, None

    def run(self):
        try:
            pipe, rng = Pipe(self.port), random.Random(99)
            while not self.stopping.is_set():
                self.pushed += len(pipe.send([request(self.pushed + k, rng) for k in range(4)]))
                time.sleep(0.005)
        except (OSError, RuntimeError) as e:
            self.error = e


def query_of(selector, order):
    q = {'from': BEGIN - 10, 'until': BEGIN + 86400, 'sort': order, 'limit': 100}
    if selector:
        q['query'] = selector
    if 'value' in order:
        q['type'] = TYPE
    return q


def page(client, query):
    status, answer = client.get('/api/v1/profiles', **query)
    if status != 200:
        raise RuntimeError(f'list {query}: {status} {answer}')
    return answer


def cpu_ms(pid):
    """Time on a processor that all threads of the process have had."""
    total = 0
    for task in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{task}/schedstat') as f:
            total += int(f.read().split()[0])
    return total / 1e6


def table_row(name, cells):
    print(f'{name:42}' + ''.join(f'{c:9.2f}' for c in cells))


def measure(client, pid):
    """Time of the first and of the eleventh page: until the answer is read here, and of the server's processors."""
    print(f'{"selector":42}' + ''.join(f'{o:>9}{"(11th)":>9}' for o in ORDERS) + '   ms, medians; below CPU ms of the server, means')
    for selector in SELECTORS:
        cells, cpu = [], []
        for order in ORDERS:
            query = query_of(selector, order)
            later = dict(query)
            for _ in range(10):
                cursor = page(client, later).get('next_cursor')
                if not cursor:
                    break
                later['cursor'] = cursor
            for q in (query, later):
                taken, before = [], cpu_ms(pid)
                for _ in range(REPEATS):
                    began = time.perf_counter()
                    page(client, q)
                    taken.append(time.perf_counter() - began)
                cells.append(statistics.median(taken) * 1000)
                cpu.append((cpu_ms(pid) - before) / REPEATS)
        table_row(selector or '(all)', cells)
        table_row('', cpu)


def key_of(entry, order):
    if 'value' in order:
        return next(t['total'] for t in entry['types'] if t['type'] == TYPE)
    return entry['time']


def walk(client, order, link, query):
    """Ids in the order in which the pages, one after the other along `link`, show them; and the last page."""
    ids, keys, last = [], [], None
    while True:
        answer = page(client, query)
        entries = answer['profiles'] if link == 'next_cursor' else answer['profiles'][::-1]
        ids += [e['id'] for e in entries]
        keys += [key_of(e, order) for e in entries]
        if not answer.get(link):
            return ids, keys, last or answer
        last = answer
        query = dict(query, cursor=answer[link])


def in_order(keys, falling):
    return all((a >= b) if falling else (a <= b) for a, b in zip(keys, keys[1:]))


def walk_both_ways(client, order, known):
    """Faults of a walk to the end and back."""
    query = dict(query_of('', order), limit=997)
    began = time.perf_counter()
    ids, keys, last = walk(client, order, 'next_cursor', query)
    there = time.perf_counter() - began
    end = page(client, dict(query, cursor=last['next_cursor'])) if last.get('next_cursor') else last
    back, back_keys = [e['id'] for e in end['profiles']][::-1], [key_of(e, order) for e in end['profiles']][::-1]
    if end.get('prev_cursor'):
        more, more_keys, _ = walk(client, order, 'prev_cursor', dict(query, cursor=end['prev_cursor']))
        back, back_keys = back + more, back_keys + more_keys
    for name, found, found_keys, falling in (('forward', ids, keys, order[0] == '-'), ('backward', back, back_keys, order[0] != '-')):
        if len(set(found)) != len(found):
            yield f'{order} {name}: {len(found) - len(set(found))} entries twice'
        missing = known - set(found)
        if missing:
            yield f'{order} {name}: {len(missing)} of {len(known)} entries are missing'
        if not in_order(found_keys, falling):
            yield f'{order} {name}: not in order'
    print(f'walk {order}: {len(ids)} entries forward in {there:.2f} s, {len(back)} backward')


def main(binary):
    count = int(os.environ.get('FK_ENTRIES', 5000))
    data = tempfile.mkdtemp(prefix='fk-entries-')
    server = Server(binary, data, '--retention-bytes', '1TiB', '--retention-age', '-1s', '--min-free', '1MiB', '--quiet', '--seal-bytes',
                    os.environ.get('FK_SEAL_BYTES', '64MiB'))
    failed = 0
    try:
        server.start()
        began = time.monotonic()
        known = load(server.port, count)
        seconds = time.monotonic() - began
        print(f'{count} entries loaded in {seconds:.1f} s ({count / seconds:.0f} a second) by {LOADERS} connections')
        client = Client(server.port)
        _, status = client.get('/api/v1/status')
        print('status:', json.dumps(status)[:600])
        measure(client, server.process.pid)
        pushing = Pushing(server.port)
        pushing.start()
        faults = [f for order in ORDERS for f in walk_both_ways(client, order, set(known))]
        pushing.stopping.set()
        pushing.join()
        if pushing.error or not pushing.pushed:
            faults.append(f'pushes did not go on: {pushing.error}')
        print(f'{pushing.pushed} more were pushed meanwhile')
        for fault in faults:
            print('FAILED', fault)
        failed = len(faults)
        server.stop()
    except (OSError, RuntimeError, http.client.HTTPException) as e:
        code = server.process.poll()
        print(f'FAILED {e}; the server ' + ('runs' if code is None else f'ended with {code}'))
        failed += 1
    finally:
        if server.process.poll() is None:
            server.kill()
        shutil.rmtree(data, ignore_errors=True)
    print(f'{max(0, 2 * len(ORDERS) - failed)} passed, {failed} failed, 0 skipped')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
