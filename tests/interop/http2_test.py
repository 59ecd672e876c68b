#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""Other people's HTTP/2 clients: curl, nghttp, h2load, python3-h2, h2spec:  http2_test.py FLAMEKEEP

Packages: curl nghttp2-client python3-h2; h2spec where it is (FK_H2SPEC or the path). What is missing is skipped by name."""
import json, os, re, shutil, socket, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../fault'))
from server import Client, Server, memory


def run(*words, **more):
    p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, **more)
    return p.returncode, p.stdout


def missing(tool, package):
    if shutil.which(tool):
        return False
    print(f'SKIP: no {tool} on this machine (apt-get install {package})')
    return True


def stored(client, name):
    status, page = client.get('/api/v1/profiles', query=f'{{service_name="{name}"}}', limit=1000)
    return len(page['profiles']) if status == 200 else -1


def curl(url, folder, client):
    if missing('curl', 'curl'):
        return # one request a connection: curl 7.88 of Debian 12 cannot use one again (curl/curl#10643)
    big = os.path.join(folder, 'big.folded')
    with open(big, 'w') as f:
        f.writelines(f'main;function_{i};leaf_{i % 100} {i + 1}\n' for i in range(200000))
    code, text = run('curl', '-sS', '--http2-prior-knowledge', '-w', '\n%{http_version} %{http_code}', f'{url}/ready')
    yield 'curl: GET', text == 'ready\n\n2 200', text
    code, text = run('curl', '-sS', '--http2-prior-knowledge', '-o', '/dev/null', '-w', '%{http_version} %{http_code}', '--data-binary', f'@{big}',
                     f'{url}/ingest?name=h2.curl&format=folded')
    yield 'curl: 7 MB', text == '2 200' and stored(client, 'h2.curl') == 1, text
    code, text = run('curl', '-sS', '--http2-prior-knowledge', '-I', '-w', '%{http_code}', f'{url}/nothing')
    yield 'curl: HEAD, 404', text.endswith('404'), text
    code, text = run('curl', '-sS', '--http2', '-o', '/dev/null', '-w', '%{http_version} %{http_code}', f'{url}/ready')
    yield 'curl: an offer to upgrade stays HTTP/1.1', text == '1.1 200', text


def nghttp(url, folder, client):
    if missing('nghttp', 'nghttp2-client'):
        return
    small = os.path.join(folder, 'small.folded')
    with open(small, 'w') as f:
        f.write('main;f 7\n')
    code, text = run('nghttp', '-nv', '-m', '80', f'{url}/ready')
    yield 'nghttp: 80 at once', code == 0 and text.count(':status: 200') == 80, text[-500:]
    code, text = run('nghttp', '-nv', '-w', '1', '-W', '1', f'{url}/metrics')
    yield 'nghttp: a window of one byte', ':status: 200' in text and 'END_STREAM' in text, text[-500:]
    code, text = run('nghttp', '-nv', '-d', small, '--trailer', 'x-t: y', f'{url}/ingest?name=h2.nghttp&format=folded')
    yield 'nghttp: upload with a trailer', ':status: 200' in text and stored(client, 'h2.nghttp') == 1, text[-500:]
    code, text = run('nghttp', '-nv', '--expect-continue', '-d', small, f'{url}/ingest?name=h2.nghttp&format=folded')
    yield 'nghttp: Expect', ':status: 100' in text and ':status: 200' in text, text[-500:]
    code, text = run('nghttp', '-nv', '-b', '200', '--no-dep', f'{url}/ready')
    yield 'nghttp: padding', ':status: 200' in text, text[-500:]


def h2load(url, folder, client):
    if missing('h2load', 'nghttp2-client'):
        return
    push = os.path.join(folder, 'push.folded')
    with open(push, 'w') as f:
        f.writelines(f'main;f{i} {i + 1}\n' for i in range(50))
    for name, words in (('10 x 50', ('-n', '50000', '-c', '10', '-m', '50')), ('200 x 5', ('-n', '20000', '-c', '200', '-m', '5')),
                        ('HTTP/1.1', ('-n', '20000', '-c', '20', '--h1')), ('pushes', ('-n', '500', '-c', '4', '-m', '20', '-d', push))):
        path = '/ingest?name=h2.load&format=folded' if name == 'pushes' else '/ready'
        code, text = run('h2load', *words, url + path)
        want = f'{words[1]} succeeded, 0 failed, 0 errored, 0 timeout'
        rate = re.search(r'finished in .*?, ([0-9.]+) req/s', text)
        print(f'h2load {name}: {rate.group(1) if rate else "?"} requests a second')
        yield f'h2load: {name}', want in text and f'{words[1]} 2xx' in text, text[-500:]
    yield 'h2load: each push is stored', stored(client, 'h2.load') == 500, stored(client, 'h2.load')


class Python:
    """A client on top of python3-h2: another implementation than the server's."""

    def __init__(self, port):
        import h2.config, h2.connection, h2.events
        self.events = h2.events
        self.socket = socket.create_connection(('127.0.0.1', port), timeout=60)
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding='utf-8'))
        self.h2.initiate_connection()
        self.status, self.body, self.fields, self.over, self.reset = {}, {}, {}, set(), {}
        self.flush()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def ask(self, method, path, end=True, **more):
        stream = self.h2.get_next_available_stream_id()
        fields = [(':method', method), (':path', path), (':scheme', 'http'), (':authority', 'localhost'), *more.items()]
        self.h2.send_headers(stream, fields, end_stream=end)
        self.flush()
        return stream

    def pump(self):
        for e in self.h2.receive_data(self.socket.recv(65536)):
            if isinstance(e, self.events.ResponseReceived):
                self.fields[e.stream_id] = dict(e.headers)
                self.status[e.stream_id] = int(self.fields[e.stream_id][':status'])
            elif isinstance(e, self.events.DataReceived):
                self.body[e.stream_id] = self.body.get(e.stream_id, b'') + e.data
                self.h2.acknowledge_received_data(e.flow_controlled_length, e.stream_id)
            elif isinstance(e, self.events.TrailersReceived):
                self.fields[e.stream_id] = dict(e.headers)
            elif isinstance(e, (self.events.StreamEnded, self.events.StreamReset)):
                self.over.add(e.stream_id)
        self.flush()

    def wait(self, *streams):
        while not set(streams) <= self.over:
            self.pump()
        return [self.status.get(s) for s in streams]

    def send(self, stream, data):
        """All of it, as the windows allow."""
        while data:
            n = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size, len(data))
            if n == 0:
                self.pump()
                continue
            self.h2.send_data(stream, data[:n], end_stream=n == len(data))
            self.flush()
            data = data[n:]


def python(port, client):
    sys.path.append('/usr/lib/python3/dist-packages') # another Python than the distribution's may run this
    try:
        import h2.connection
    except ImportError:
        print('SKIP: no h2 of Python on this machine (apt-get install python3-h2)')
        return
    p = Python(port)
    yield 'h2: GET', p.wait(p.ask('GET', '/ready')) == [200], p.status
    many = [p.ask('GET', '/ready' if i % 2 else '/metrics') for i in range(90)]
    yield 'h2: 90 at once', p.wait(*many) == [200] * 90, p.status
    data = b''.join(b'main;f%d 1\n' % i for i in range(300000)) # beyond both windows
    s = p.ask('POST', '/ingest?name=h2.python&format=folded', end=False)
    p.send(s, data)
    yield 'h2: 4 MB in windows', p.wait(s) == [200] and stored(client, 'h2.python') == 1, p.status.get(s)
    for end in (True, False):
        s = p.ask('POST', '/grpc.health.v1.Health/Watch', end=False, **{'content-type': 'application/grpc', 'te': 'trailers', 'grpc-timeout': '30m'})
        p.h2.send_data(s, bytes(5), end_stream=end)
        p.flush()
        p.wait(s)
        yield f'h2: a watch is told of its deadline ({"" if end else "not "}all was asked)', p.fields.get(s, {}).get('grpc-status') == '4', p.fields.get(s)
    s = p.ask('POST', '/ingest?name=h2.python&format=folded', end=False)
    p.h2.send_data(s, b'main;f')
    p.h2.reset_stream(s)
    p.flush()
    yield 'h2: a stream that was reset leaves the others alone', p.wait(p.ask('GET', '/ready')) == [200], p.status
    yield 'h2: and is not stored', stored(client, 'h2.python') == 1, ''


def unread(server):
    """Streams that are asked much and whose answers are not read: short answers take little memory while they wait."""
    try:
        import h2.settings
    except ImportError:
        return # said above
    p = Python(server.port)
    p.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 0})
    p.flush()
    before = memory(server.process.pid, 'RssAnon')
    question = bytes([0, 0, 0, 0, 3, 0x22, 1, 0x78]) # file_containing_symbol "x": there is none, which the answer says
    streams = [p.ask('POST', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', end=False,
                     **{'content-type': 'application/grpc', 'te': 'trailers'}) for _ in range(8)]
    for s in streams:
        p.send(s, question * 8000)
    p.wait(p.ask('HEAD', '/ready')) # all of them have been looked at
    grown = memory(server.process.pid, 'RssAnon') - before
    print(f'h2: {len(streams)} streams of 8,000 unread answers: {grown:.1f} MiB')
    yield 'h2: unread answers', grown < 4 * len(streams), grown


# Path that takes bodies, and waits for their end. A wrong preface is answered as the HTTP/1.1 that it might have been, and closed.
H2SPEC_PATH, H2SPEC_OTHERWISE = '/querier.v1.QuerierService/ProfileTypes', {'Sends invalid connection preface'}


def h2spec(port):
    tool = os.environ.get('FK_H2SPEC') or shutil.which('h2spec')
    if not tool:
        print('SKIP: no h2spec on this machine (set FK_H2SPEC); tests/unit/http_h2_abuse_test.c has its kind of cases')
        return
    code, text = run(tool, 'generic', 'http2', 'hpack', '-h', '127.0.0.1', '-p', str(port), '-P', H2SPEC_PATH, '-o', '5')
    counts = re.search(r'(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed', text)
    print(f'h2spec: {counts.group(0) if counts else text[-300:]}')
    failed = set(re.findall(r'× \d+: (.*)', text[text.find('Failures:'):])) if counts else {text[-300:]}
    yield 'h2spec', not failed - H2SPEC_OTHERWISE, failed


def main(flamekeep):
    results = []
    with tempfile.TemporaryDirectory() as folder:
        server = Server(flamekeep, os.path.join(folder, 'data'), '--listen-otlp', 'none')
        server.start()
        url, client = f'http://127.0.0.1:{server.port}', Client(server.port)
        try:
            for part in (curl(url, folder, client), nghttp(url, folder, client), h2load(url, folder, client), python(server.port, client),
                         unread(server), h2spec(server.port)):
                results += part
            results.append(('the server is there', Client(server.port).get('/ready')[0] == 200, ''))
        except BaseException:
            server.kill()
            raise
        server.stop()
    for what, ok, detail in results:
        if not ok:
            print(f'FAILED: {what}: {detail}')
    bad = sum(not ok for _, ok, _ in results)
    print(f'{len(results) - bad} passed, {bad} failed')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
