#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
# Quick: {build}/flamekeep
"""Tokens on a running server, made and revoked by the command line beside it, used by curl and by our own commands."""
import json, os, shutil, subprocess, sys, tempfile, time

from server import Client, Server

NOTICED_SECONDS = 30  # it is about one; the machine may be busy


class Test:
    def __init__(self, binary, tmp):
        self.binary, self.data, self.failed, self.passed = binary, os.path.join(tmp, 'data'), 0, 0
        self.server = Server(binary, self.data)

    def check(self, what, good, detail=''):
        self.passed += bool(good)
        self.failed += not good
        print(('ok    ' if good else 'FAIL  ') + what + ('' if good else f': {detail}'))

    def command(self, *args, env=None):
        p = subprocess.run([self.binary, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(env or {})})
        return p.returncode, p.stdout.decode(), p.stderr.decode()

    def token(self, *args):
        code, out, err = self.command('admin', 'token', 'create', '--data', self.data, *args)
        if code:
            raise RuntimeError(err)
        return out.strip(), err

    def url(self, path):
        return f'http://127.0.0.1:{self.server.port}{path}'

    def curl(self, path, *args):
        """The status; fails loudly when curl cannot ask at all."""
        p = subprocess.run(['curl', '-sS', '-g', '-o', '/dev/null', '-w', '%{http_code}', *args, self.url(path)], stdout=subprocess.PIPE)
        if p.returncode:
            raise RuntimeError(f'curl ended with {p.returncode}')
        return int(p.stdout)

    def becomes(self, status, path, *args):
        end = time.monotonic() + NOTICED_SECONDS
        while (got := self.curl(path, *args)) != status and time.monotonic() < end:
            time.sleep(0.1)
        return got == status

    def run(self):
        services, ingest = '/api/v1/services', '/ingest?name=web&from=1700000000&until=1700000010'
        self.server.start()
        self.check('an open server answers, whatever is sent along', self.curl(services, '-u', 'user:password') == 200)
        push, said = self.token('--scope', 'push', '--name', 'agents')
        self.check('the first token is announced as that', 'first token' in said, said)
        read, said = self.token('--scope', 'read', '--expires', '90d')
        self.check('the second is not', 'first token' not in said, said)
        self.check('the running server asks for tokens', self.becomes(401, services))
        self.check('health is open', self.curl('/ready') == 200 and self.curl('/healthz') == 200)
        self.check('pushed with Basic', self.becomes(200, ingest, '-u', 'agent:' + push, '--data-binary', 'main;a 7'))
        self.check('pushed with Bearer', self.curl(ingest, '-H', 'Authorization: Bearer ' + push, '--data-binary', 'main;b 7') == 200)
        self.check('a push token does not read', self.curl(services, '-u', ':' + push) == 403)
        self.check('a read token reads', self.becomes(200, services, '-u', ':' + read))
        self.check('a read token does not push', self.curl(ingest, '-u', ':' + read, '--data-binary', 'main;c 7') == 403)
        self.check('a wrong one is refused', self.curl(services, '-u', ':' + read[:-1] + ('1' if read[-1] == '0' else '0')) == 401)
        self.commands(read)
        self.refused_early(read)
        self.revoke(push, read, services, ingest)
        self.server.stop()
        self.restart(services)

    def commands(self, read):
        code, out, err = self.command('ls', '--server', self.url(''), '--json', env={'FLAMEKEEP_TOKEN': read})
        entries = json.loads(out)['profiles'] if code == 0 else err
        self.check('the command line shows its token', code == 0 and len(entries) == 2, entries)
        code, out, err = self.command('ls', '--server', self.url(''), env={'FLAMEKEEP_TOKEN': ''})
        self.check('and is told when it has none', code == 1 and 'asks for a token' in err, (code, err))

    def refused_early(self, read):
        """The refusal comes although the body never does."""
        p = subprocess.run(['bash', '-c', 'exec 3<>/dev/tcp/127.0.0.1/$0; printf "$1" >&3; timeout 20 head -n 1 <&3', str(self.server.port),
                            f'POST /ingest?name=x HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 60000000\\r\\nAuthorization: Bearer {read}\\r\\n\\r\\n'],
                           stdout=subprocess.PIPE)
        self.check('a push is refused before its body is read', p.stdout.startswith(b'HTTP/1.1 403'), p.stdout)

    def revoke(self, push, read, services, ingest):
        listed = json.loads(self.command('admin', 'token', 'list', '--data', self.data, '--json')[1])['tokens']
        self.check('the list shows no secrets', len(listed) == 2 and push not in json.dumps(listed) and all('token' not in t for t in listed), listed)
        self.check('nor does the folder keep them', push.split('_')[2].encode() not in open(os.path.join(self.data, 'state.db'), 'rb').read())
        self.check('an unknown one cannot be revoked', self.command('admin', 'token', 'revoke', 'nothing', '--data', self.data)[0] == 3)
        for token in listed:
            code, _, err = self.command('admin', 'token', 'revoke', token['id'], '--data', self.data)
            self.check('revoked', code == 0, err)
        self.check('a revoked one pushes no more', self.becomes(401, ingest, '-u', ':' + push, '--data-binary', 'main;a 7'))
        self.check('nor does the other read', self.becomes(401, services, '-u', ':' + read))
        self.check('without good tokens the server stays closed', self.curl(services) == 401)

    def restart(self, services):
        self.server.start()
        self.check('also after a restart', self.curl(services) == 401)
        self.server.stop()
        self.server.flags = ('--auth', 'none')
        self.server.start()
        self.check('--auth none opens it', self.curl(services) == 200)
        status, list_ = Client(self.server.port).get('/api/v1/profiles')
        self.check('what was pushed is there, once', status == 200 and len(list_['profiles']) == 2, list_)
        self.server.stop()


def main():
    if not shutil.which('curl'):
        print('SKIP: curl is not installed')
        return 0
    with tempfile.TemporaryDirectory() as tmp:
        test = Test(sys.argv[1], tmp)
        try:
            test.run()
        finally:
            if test.server.process and test.server.process.poll() is None:
                test.server.kill()
    print(f'{test.passed} passed, {test.failed} failed')
    return 1 if test.failed else 0


if __name__ == '__main__':
    sys.exit(main())
