#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""The interface's log-in and choice of tenants, by a browser on servers of our own."""
import os, re, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../fault'))
from server import Client, Server


def token(binary, data, *tenants):
    args = [word for t in tenants for word in ('--tenant', t)]
    return subprocess.run([binary, 'admin', 'token', 'create', '--data', data, '--scope', 'read,push', *args], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().strip()


def push(port, tenant, **fields):
    client = Client(port)
    client.connection.request('POST', f'/api/v1/upload?format=folded&labels=%7Bservice_name%3D%22web-{tenant}%22%7D', 'main;work 7\n',
                              {'X-Scope-OrgID': tenant, **fields})
    answer = client.connection.getresponse()
    if answer.status != 201:
        raise RuntimeError(f'push: {answer.status} {answer.read()}')
    answer.read()


def walk(port, mode, *tokens):
    env = {'FK_CHROMIUM': shutil.which('chromium') or '/usr/bin/chromium', 'FK_SHOTS': tempfile.gettempdir(), **os.environ}
    p = subprocess.run(['node', os.path.join(HERE, 'login.mjs'), f'http://127.0.0.1:{port}', mode, *tokens], stdout=subprocess.PIPE, env=env)
    text = p.stdout.decode()
    print(re.sub(r'(?m)^\d+ passed, \d+ failed\n', '', text), end='')
    found = re.search(r'(?m)^(\d+) passed, (\d+) failed$', text)
    return (int(found[1]), int(found[2])) if found else (0, 1)


def with_tokens(binary, tmp):
    data = os.path.join(tmp, 'tokens')
    os.mkdir(data)
    both, one = token(binary, data, 'alpha', 'beta'), token(binary, data, 'alpha')
    server = Server(binary, data)
    server.start()
    for tenant in 'alpha', 'beta':
        push(server.port, tenant, Authorization='Bearer ' + both)
    result = walk(server.port, 'tokens', both, one)
    server.stop()
    return result


def with_tenants(binary, tmp):
    server = Server(binary, os.path.join(tmp, 'tenants'), '--multitenancy')
    server.start()
    for tenant in 'alpha', 'beta':
        push(server.port, tenant)
    result = walk(server.port, 'tenants')
    server.stop()
    return result


def main():
    if not os.path.exists(os.environ.get('FK_CHROMIUM') or shutil.which('chromium') or '/usr/bin/chromium'):
        print('SKIP: no chromium')
        return 0
    if not os.path.isdir(os.path.join(HERE, '../../ui/node_modules/playwright-core')):
        print('SKIP: no ui/node_modules; npm ci in ui/ makes them')
        return 0
    with tempfile.TemporaryDirectory() as tmp:
        results = [with_tokens(sys.argv[1], tmp), with_tenants(sys.argv[1], tmp)]
    passed, failed = (sum(column) for column in zip(*results))
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
