#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""TLS of the server as other programs see it (openssl s_client, Python's ssl, curl):  tls_test.py FLAMEKEEP

Versions and protocols that are agreed on, those that are refused, client certificates, a certificate that changes under open connections
(SIGHUP), one that cannot be read, clients that do not speak TLS, wrong flags."""
import os, re, shutil, signal, socket, ssl, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from server import Server

GET = b'GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'


class TlsServer(Server):
    """Ready when it answers under TLS; with `plain` a second address without."""

    def start(self):
        began = time.monotonic()
        command = [self.binary, 'serve', '--data', self.data, '--listen', '127.0.0.1:0', '--listen-otlp', 'none', '--no-self-profile', *self.flags]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.port = self._wait_for_port(began)

    def wait_for(self, text):
        said, end = '', time.monotonic() + 20
        while text not in said and time.monotonic() < end:
            said += self.said()
            time.sleep(0.01)
        return text in said


def openssl(*words, text=b'', conf=True):
    """Exit code and all it says. Without its configuration it offers what is old as well."""
    env = dict(os.environ, OPENSSL_CONF='/dev/null')
    p = subprocess.run(['openssl', *words], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, timeout=60)
    return p.returncode, p.stdout.decode('utf-8', 'replace')


def make_cert(folder, name, by=None, days='2'):
    cert, key = os.path.join(folder, name + '.pem'), os.path.join(folder, name + '.key')
    new = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', cert, '-subj', f'/CN={name}',
           '-addext', 'subjectAltName=DNS:localhost', '-days', days]
    if by:
        request = os.path.join(folder, name + '.csr')
        subprocess.run(['openssl', 'req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', request, '-subj',
                        f'/CN={name}'], check=True, capture_output=True)
        new = ['x509', '-req', '-in', request, '-CA', by[0], '-CAkey', by[1], '-CAcreateserial', '-out', cert, '-days', days]
    subprocess.run(['openssl', *new], check=True, capture_output=True)
    return cert, key


def client(server, *words, text=GET):
    return openssl('s_client', '-connect', f'127.0.0.1:{server.port}', '-ign_eof', *words, text=text)[1]


def context(ca, alpn=(), cert=None):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.load_verify_locations(ca)
    c.set_alpn_protocols(list(alpn))
    if cert:
        c.load_cert_chain(*cert)
    return c


def connect(server, ctx):
    s = ctx.wrap_socket(socket.create_connection(('127.0.0.1', server.port), timeout=20))
    return s


def ask(s):
    s.sendall(b'GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n')
    got = b''
    while b'ready\n' not in got:
        piece = s.recv(65536)
        if not piece:
            break
        got += piece
    return b' 200 ' in got


def versions(server):
    old = ('-cipher', 'ALL:@SECLEVEL=0')
    for name, words, want in (('TLS 1.0', ('-tls1', *old), None), ('TLS 1.1', ('-tls1_1', *old), None), ('TLS 1.2', ('-tls1_2',), 'TLSv1.2'),
                              ('TLS 1.3', ('-tls1_3',), 'TLSv1.3'), ('CBC ciphers', ('-tls1_2', '-cipher', 'ECDHE+AES:!AESGCM:!AESCCM'), None)):
        text = client(server, *words)
        yield name, ('HTTP/1.1 200' in text) == bool(want) and (not want or f'New, {want}' in text), text[-300:]
        yield f'{name}: no compression', 'Compression: zlib' not in text, text
    for offered, want in (('h2', 'h2'), ('http/1.1', 'http/1.1'), ('http/1.1,h2', 'h2')):
        text = client(server, '-alpn', offered, text=b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]) + b'\0\0\x08\7' + bytes(13)
                      if want == 'h2' else GET)
        yield f'ALPN {offered}', f'ALPN protocol: {want}\n' in text, text[-300:]
    text = client(server, '-alpn', 'abc')
    yield 'ALPN abc', 'HTTP/1.1' not in text and 'alert' in text, text[-300:]
    p = subprocess.run(['openssl', 's_client', '-connect', f'127.0.0.1:{server.port}', '-tls1_2', '-legacy_renegotiation'], input=b'R\n',
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    yield 'renegotiation is refused', b'RENEGOTIATING' in p.stdout and b'no renegotiation' in p.stdout, p.stdout[-300:]


def clear(server):
    for text in (GET, b'DELETE / HTTP/1.1\r\nHost: x\r\n\r\n', b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'):
        s, got = socket.create_connection(('127.0.0.1', server.port), timeout=20), b''
        s.sendall(text)
        while piece := s.recv(65536):
            got += piece
        yield f'clear {text[:6]}', got.startswith(b'HTTP/1.1 400 ') and b'https://' in got, got


def command_line(flamekeep, server, ca):
    def ls(scheme, *flags):
        p = subprocess.run([flamekeep, 'ls', '--server', f'{scheme}://localhost:{server.port}', *flags], capture_output=True, text=True, timeout=60)
        return p.returncode, p.stderr
    yield 'the command line with --ca', ls('https', '--ca', ca)[0] in (0, 3), ls('https', '--ca', ca)
    for name, (code, text), words in (('without --ca', ls('https'), '--ca'), ('by http', ls('http'), 'https://')):
        yield f'the command line {name} is told what to do', code != 0 and words in text, (code, text)


def reload(server, folder, files):
    second = make_cert(folder, 'second')
    first_ca = os.path.join(folder, 'first_ca.pem')
    shutil.copy(files[0], first_ca)
    old = connect(server, context(first_ca))
    yield 'the first certificate', ask(old), ''
    with open(files[0], 'w') as f:
        f.write('broken')
    server.process.send_signal(signal.SIGHUP)
    yield 'the log tells of a broken file', server.wait_for(files[0]), ''
    yield 'the first one stays', ask(connect(server, context(first_ca))) and ask(old), ''
    for new, to in zip(second, files):
        shutil.copy(new, to)
    server.process.send_signal(signal.SIGHUP)
    yield 'the log tells of a new one', server.wait_for('new connections get'), ''
    yield 'a new connection gets it', ask(connect(server, context(second[0]))), ''
    yield 'the open one goes on', ask(old), ''
    try:
        connect(server, context(first_ca))
        yield 'the first one is gone', False, ''
    except ssl.SSLError:
        yield 'the first one is gone', True, ''


def both_versions(server, ca):
    if not shutil.which('curl'):
        print('SKIP: no curl on this machine')
        return
    url = f'https://localhost:{server.port}/ready'
    for flag, want in (('--http1.1', '1.1'), ('--http2', '2'), ('--http2-prior-knowledge', '2')):
        p = subprocess.run(['curl', '-sS', flag, '-k', '-w', '%{http_version} %{http_code}', '-o', '/dev/null', url], capture_output=True, text=True)
        yield f'curl {flag}', p.stdout == f'{want} 200', p.stdout + p.stderr


def client_certificates(server, folder, ca, authority):
    mine, other = make_cert(folder, 'mine', authority), make_cert(folder, 'other')
    for version in ('-tls1_2', '-tls1_3'):
        for name, words, ok in (('its own', ('-cert', mine[0], '-key', mine[1]), True), ('none', (), False),
                                ('a stranger\'s', ('-cert', other[0], '-key', other[1]), False)):
            text = client(server, version, *words)
            yield f'{version} with a client certificate: {name}', ('HTTP/1.1 200' in text) == ok, text[-300:]


def wrong_flags(flamekeep, folder, files):
    def start(*flags):
        p = subprocess.run([flamekeep, 'serve', '--data', os.path.join(folder, 'none'), '--listen', '127.0.0.1:0', '--listen-otlp', 'none',
                            '--no-self-profile', *flags], capture_output=True, text=True, timeout=60)
        return p.returncode, p.stderr
    for flags, words in ((('--tls-key', files[1]), '--tls-cert'), (('--tls-client-ca', files[0]), '--tls-cert'),
                         (('--tls-cert', '/nonexistent.pem'), '/nonexistent.pem'), (('--tls-cert', files[0]), '--tls-key'),
                         (('--tls-cert', files[0], '--tls-key', files[0]), '--tls-key'),
                         (('--tls-cert', files[0], '--tls-key', files[1], '--tls-client-ca', files[1]), '--tls-client-ca')):
        code, text = start(*flags)
        yield f'{" ".join(f for f in flags if f.startswith("--"))} is refused', code != 0 and words in text, (code, text)


def main(flamekeep):
    if not shutil.which('openssl'):
        print('SKIP-ALL: no openssl on this machine')
        return 0
    results = []
    with tempfile.TemporaryDirectory() as folder:
        authority = make_cert(folder, 'authority')
        files = make_cert(folder, 'first')
        results += wrong_flags(flamekeep, folder, files)
        server = TlsServer(flamekeep, os.path.join(folder, 'data'), '--tls-cert', files[0], '--tls-key', files[1])
        server.start()
        try:
            for part in (versions(server), clear(server), both_versions(server, files[0]), command_line(flamekeep, server, files[0]), reload(server, folder, files)):
                results += part
        finally:
            server.stop()
        server.flags = ('--tls-cert', files[0], '--tls-key', files[1], '--tls-client-ca', authority[0])
        server.start()
        try:
            results += client_certificates(server, folder, files[0], authority)
        finally:
            server.stop()
    for what, ok, detail in results:
        if not ok:
            print(f'FAILED: {what}: {detail}')
    bad = sum(not ok for _, ok, _ in results)
    print(f'{len(results) - bad} passed, {bad} failed')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
