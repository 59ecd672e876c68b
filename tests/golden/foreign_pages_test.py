#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""What a browser may be made to write by a page of somebody else:  foreign_pages_test.py FLAMEKEEP"""
import http.client, os, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../fault'))
from server import Server


def ask(port, method, path, **fields):
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    body = b'main;work 3\n' if method == 'POST' else b''
    for name, value in {'Host': f'127.0.0.1:{port}', 'Content-Length': str(len(body)), **fields}.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    response = connection.getresponse()
    return response.status, response.read().decode()


def main(args):
    bad = passed = 0
    with tempfile.TemporaryDirectory() as tmp:
        server = Server(args[0], os.path.join(tmp, 'data'), '--host', 'profiles.example')
        server.start()
        port, upload, ingest = server.port, '/api/v1/upload', '/ingest?name=a'
        own = f'127.0.0.1:{port}'
        for what, status, method, path, fields in [
                ('a program', 201, 'POST', upload, {}),
                ('our own page', 201, 'POST', upload, {'Origin': f'http://{own}'}),
                ('by the name localhost', 201, 'POST', upload, {'Origin': f'http://localhost:{port}', 'Host': f'localhost:{port}'}),
                ('by a name that was given', 201, 'POST', upload, {'Origin': 'https://profiles.example', 'Host': 'profiles.example'}),
                ('a page of another server', 403, 'POST', upload, {'Origin': 'https://evil.example'}),
                ('a page of another port', 403, 'POST', upload, {'Origin': f'http://127.0.0.1:{port + 1}'}),
                ('a page without a name', 403, 'POST', ingest, {'Origin': 'null'}),
                ('a name that resolves to us', 403, 'POST', upload, {'Origin': 'http://evil.example', 'Host': 'evil.example'}),
                ('a push from another page', 403, 'POST', ingest, {'Origin': 'https://evil.example'}),
                ('reading under a name that resolves to us', 403, 'GET', '/api/v1/services', {'Host': 'evil.example', 'Accept-Language': 'en'}),
                ('a program under a name of its machine', 200, 'GET', '/api/v1/services', {'Host': 'flamekeep'}),
                ('a push under a name of its machine', 200, 'POST', ingest, {'Host': 'flamekeep'}),
                ('reading under a name that was given', 200, 'GET', '/api/v1/services', {'Host': 'profiles.example:80'}),
                ('a probe under any name', 200, 'GET', '/ready', {'Host': 'evil.example'}),
                ('reading is not writing', 200, 'GET', '/api/v1/services', {'Origin': 'https://evil.example'})]:
            got, answer = ask(port, method, path, **fields)
            good = got == status and (status != 403 or 'Origin' in answer or '--host' in answer or 'pages may' in answer)
            passed += good
            if not good:
                bad += 1
                print(f'{what}: {got} instead of {status}: {answer[:200]}')
        server.stop()
    print(f'{passed} passed, {bad} failed')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
