#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""Clients that send again store once:  resend_test.py FLAMEKEEP [SECONDS]

Between client and server stands a proxy that for a while answers 503, then lets two pushes through and loses their answers, then
behaves. The Java agent (FK_INTEROP, ../shared/interop/java) pushes through it for SECONDS (60); recorded pushes of Alloy
(FK_CORPUS, ../shared/corpus/captured) go through it with Alloy's own rule of what is sent again. Every upload must be stored,
each once; what is wrong with an upload must be said so that it is not sent again."""
import hashlib, http.client, http.server, json, os, re, shutil, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'fault'))
from server import Client, Server

# Alloy's pyroscope.write: statuses and Connect codes after which it sends again, at most ten times.
RETRIED_STATUS = {408, 429} | set(range(500, 600))
RETRIED_CODES = {'deadline_exceeded', 'unknown', 'internal', 'unavailable', 'data_loss', 'aborted', 'resource_exhausted'}


class Proxy(http.server.ThreadingHTTPServer):
    """`refusals`: seconds or number of 503s at first; `losses`: answers lost afterwards, each of another upload."""
    daemon_threads = True

    def __init__(self, port, seconds=0, refusals=0, losses=2):
        super().__init__(('127.0.0.1', 0), Handler)
        self.port, self.seconds, self.refusals, self.losses = port, seconds, refusals, losses
        self.first = None
        self.lock = threading.Lock()
        self.refused = 0
        self.seen = {}      # fingerprint of an upload: how often it was sent
        self.stored = {}    # fingerprint: ids that the server says it stored
        self.lost = set()
        self.statuses = []  # of the answers that the server gave
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def refuses(self):
        with self.lock:
            now = time.monotonic()
            self.first = self.first or now
            if now - self.first < self.seconds or self.refused < self.refusals:
                self.refused += 1
                return True
            return False

    def loses(self, key):
        with self.lock:
            if len(self.lost) >= self.losses or key in self.lost:
                return False
            self.lost.add(key)
            return True

    def note(self, key, receipt, status):
        with self.lock:
            self.statuses.append(status)
            if receipt is not None:
                self.stored.setdefault(key, set()).update(receipt)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *args):
        pass

    def body(self):
        if self.headers.get('Transfer-Encoding', '').lower() != 'chunked':
            return self.rfile.read(int(self.headers.get('Content-Length', 0)))
        whole = b''
        while True:
            size = int(self.rfile.readline().split(b';')[0], 16)
            whole += self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                return whole

    def do_POST(self):
        body = self.body()
        kind = self.headers.get('Content-Type', '')
        boundary = re.search('boundary="?([^";]+)', kind)
        plain = body.replace(boundary[1].encode(), b'') if boundary else body
        key = hashlib.sha256(self.path.encode() + plain).hexdigest()
        with self.server.lock:
            self.server.seen[key] = self.server.seen.get(key, 0) + 1
        if self.server.refuses():
            self.answer(503, {'Retry-After': '1', 'Content-Type': 'application/json'}, b'{"code":"unavailable","message":"later"}')
            return
        status, headers, answer = self.forward(body)
        self.server.note(key, ids_of(headers, answer) if status < 300 else None, status)
        if status < 300 and self.server.loses(key):
            self.close_connection = True
            self.connection.close()
            return
        self.answer(status, {k: v for k, v in headers.items() if k.lower() in ('content-type', 'retry-after')}, answer)

    def forward(self, body):
        c = http.client.HTTPConnection('127.0.0.1', self.server.port, timeout=60)
        try:
            drop = ('host', 'connection', 'transfer-encoding', 'content-length', 'accept-encoding')
            c.request('POST', self.path, body, {k: v for k, v in self.headers.items() if k.lower() not in drop})
            r = c.getresponse()
            return r.status, r.headers, r.read()
        finally:
            c.close()

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def ids_of(headers, answer):
    """The ids of a receipt: the body of /ingest, a field of Push and OTLP."""
    if headers.get('flamekeep-receipt'):
        return json.loads(headers['flamekeep-receipt'])['ids']
    return [p['id'] for p in json.loads(answer)['profiles']] if answer.startswith(b'{"') and b'"profiles"' in answer else []


def run_java(server, seconds):
    """(proxy, why it could not run)"""
    folder = os.path.join(os.environ.get('FK_INTEROP', os.path.join(HERE, '../../../shared/interop')), 'java')
    if not os.path.isfile(os.path.join(folder, 'run.sh')):
        return None, f'no {folder}/run.sh'
    if not (shutil.which('javac') and shutil.which('mvn')):
        return None, 'no JDK or Maven'
    proxy = Proxy(server.port, seconds=20)
    p = subprocess.run([os.path.join(folder, 'run.sh'), f'http://127.0.0.1:{proxy.server_port}', str(seconds)],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
    if not proxy.seen:
        return None, 'the agent pushed nothing: ' + p.stdout.decode('utf-8', 'replace')[-300:]
    return proxy, None


def java(server, seconds):
    proxy, why = run_java(server, seconds)
    if why:
        print('SKIP: the Java agent: ' + why)
        return
    entries = Client(server.port).entries(query='{service_name="interop.java"}')
    stored = set().union(*proxy.stored.values()) if proxy.stored else set()
    again = [n for n in proxy.seen.values() if n > 1]
    print(f'Java agent: {len(proxy.seen)} uploads sent {sum(proxy.seen.values())} times, {proxy.refused} refused, '
          f'{len(proxy.lost)} answers lost, {len(entries)} entries')
    yield 'Java: some were refused', proxy.refused > 0, proxy.refused
    yield 'Java: answers were lost', len(proxy.lost) == 2, proxy.lost
    yield 'Java: it sends again', len(again) >= 2, proxy.seen
    yield 'Java: what was lost was sent again', all(proxy.seen[k] > 1 for k in proxy.lost), proxy.seen
    # The last ones may come when the program ends: those were refused or never sent, and are not counted as stored.
    yield 'Java: entries are what the receipts say', {e['id'] for e in entries} == stored, (len(entries), len(stored))
    once = {(json.dumps(e['labels'], sort_keys=True), e['time'], e['duration_ns'], json.dumps(e['types'])) for e in entries}
    yield 'Java: each once', len(once) == len(entries), (len(once), len(entries))


def alloy_push(port, headers, target, body, attempts=10):
    """Alloy's rule, its pauses shortened. Statuses of the attempts."""
    said = []
    for _ in range(attempts):
        c = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
        try:
            c.request('POST', target, body, headers)
            r = c.getresponse()
            text = r.read()
            said.append(r.status)
            code = json.loads(text).get('code') if r.status >= 400 and text.startswith(b'{') else None
            if r.status < 300 or (r.status not in RETRIED_STATUS and code not in RETRIED_CODES):
                return said
        except (OSError, http.client.HTTPException):
            said.append(0)
        finally:
            c.close()
        time.sleep(0.02)
    return said


def alloy(server):
    root = os.environ.get('FK_CORPUS', os.path.join(HERE, '../../../shared/corpus'))
    found = [os.path.join(root, 'captured', d) for d in sorted(os.listdir(os.path.join(root, 'captured')))
             if d.startswith('alloy')] if os.path.isdir(os.path.join(root, 'captured')) else []
    if not found:
        print('SKIP: Alloy: no recorded pushes')
        return
    proxy, sent = Proxy(server.port, refusals=5, losses=3), []
    for path in sorted(f for f in os.listdir(found[0]) if re.fullmatch(r'\d+\.body', f)):
        with open(os.path.join(found[0], path.replace('.body', '.json'))) as f:
            asked = json.load(f)
        with open(os.path.join(found[0], path), 'rb') as f:
            body = f.read()
        headers = {k: v for k, v in asked['headers'] if k.lower() not in ('host', 'content-length')}
        sent.append(alloy_push(proxy.server_port, headers, asked['target'], body))
    entries = Client(server.port).entries(query='{service_name="interop-scraped"}')
    stored = set().union(*proxy.stored.values())
    print(f'Alloy: {len(sent)} pushes sent {sum(map(len, sent))} times, {proxy.refused} refused, {len(proxy.lost)} answers lost, '
          f'{len(entries)} entries')
    yield 'Alloy: all arrive', all(s[-1] == 200 for s in sent), sent
    yield 'Alloy: refused and lost ones were sent again', sum(map(len, sent)) == len(sent) + 8, sent
    yield 'Alloy: each once', len(entries) == len(sent) == len(stored), (len(entries), len(sent), len(stored))
    headers['Content-Type'] = 'application/proto'
    for what, bad in (('no protobuf', b'\xff\xff\xff'), ('no profile', b'\n\x08\x12\x06\n\x04nope'), ('nothing', b'')):
        said = alloy_push(server.port, headers, '/push.v1.PusherService/Push', bad)
        yield f'Alloy: {what} is refused once', said == [400], said


def main(args):
    good = bad = 0
    with tempfile.TemporaryDirectory() as tmp:
        server = Server(args[0], os.path.join(tmp, 'data'), '--listen-otlp', 'none')
        server.start()
        for checks in (alloy(server), java(server, int(args[1]) if len(args) > 1 else 60)):
            for what, ok, detail in checks:
                good, bad = good + bool(ok), bad + (not ok)
                if not ok:
                    print(f'FAILED: {what}: {detail}')
        server.stop()
    print(f'{good} passed, {bad} failed')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
