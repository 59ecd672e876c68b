# SPDX-License-Identifier: Apache-2.0
"""A flamekeep server as a child process, and a small client of its HTTP interface, for the tests of this folder."""
import http.client, json, os, re, select, signal, subprocess, time, urllib.parse

START_SECONDS = 60


class Server:
    """`flamekeep serve` on a free port of 127.0.0.1; `flags` go to its command line."""

    def __init__(self, binary, data, *flags):
        self.binary, self.data, self.flags = binary, data, flags
        self.process = self.port = None

    def start(self):
        """Seconds from exec until /ready says so."""
        began = time.monotonic()
        self.process = subprocess.Popen([self.binary, 'serve', '--data', self.data, '--listen', '127.0.0.1:0',
                                         '--no-self-profile', *self.flags],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.port = self._wait_for_port(began)
        while Client(self.port).get('/ready')[0] != 200:
            if time.monotonic() - began > START_SECONDS:
                raise RuntimeError('the server is not ready')
            time.sleep(0.002)
        return time.monotonic() - began

    def _wait_for_port(self, began):
        said = b''
        fd = self.process.stderr.fileno()
        os.set_blocking(fd, False)
        while time.monotonic() - began < START_SECONDS:
            if not select.select([fd], [], [], 1)[0]:
                continue
            piece = os.read(fd, 65536)
            said += piece
            found = re.search(rb'listens on https?://127\.0\.0\.1:(\d+)', said)
            if found:
                return int(found.group(1))
            if not piece:
                break
        self.process.kill()
        raise RuntimeError('the server does not start: ' + said.decode('utf-8', 'replace')[-500:])

    def said(self):
        """What it wrote to stderr since."""
        try:
            return os.read(self.process.stderr.fileno(), 1 << 20).decode('utf-8', 'replace')
        except BlockingIOError:
            return ''

    def kill(self):
        self._end(signal.SIGKILL)

    def stop(self):
        self._end(signal.SIGTERM)
        if self.process.returncode:
            raise RuntimeError(f'the server ended with {self.process.returncode} on SIGTERM')

    def _end(self, number):
        self.process.send_signal(number)
        self.process.wait(60)
        self.process.stderr.close()


class Client:
    """One connection, kept alive, made again when it broke."""

    def __init__(self, port, timeout=60):
        self.connection = http.client.HTTPConnection('127.0.0.1', port, timeout=timeout)

    def request(self, method, path, query=None, body=None):
        """(status, headers, bytes); OSError or HTTPException when there is no answer."""
        if query:
            path += '?' + urllib.parse.urlencode(query)
        try:
            self.connection.request(method, path, body)
            response = self.connection.getresponse()
            return response.status, response.headers, response.read()
        except Exception:
            self.connection.close()
            raise

    def get(self, path, **query):
        status, headers, body = self.request('GET', path, query)
        kind = headers.get('Content-Type', '')
        return status, json.loads(body) if 'json' in kind else body.decode('utf-8', 'replace')

    def push(self, text, labels, **query):
        """A folded text; (status, headers, decoded answer)."""
        selector = '{' + ','.join(f'{k}="{v}"' for k, v in labels.items()) + '}'
        status, headers, body = self.request('POST', '/api/v1/upload', {'format': 'folded', 'labels': selector, **query}, text)
        return status, headers, json.loads(body) if body else {}

    def pages(self, **query):
        """Every page of the list, from the first on."""
        while True:
            status, page = self.get('/api/v1/profiles', **query)
            if status != 200:
                raise RuntimeError(f'list: {status} {page}')
            yield page
            if not page.get('next_cursor'):
                return
            query['cursor'] = page['next_cursor']

    def entries(self, **query):
        return [e for page in self.pages(limit=1000, **query) for e in page['profiles']]

    def folded(self, entry_id):
        """The exported stacks of one entry: {stack: value}."""
        status, text = self.get('/api/v1/export', id=entry_id, format='folded')
        if status != 200:
            raise RuntimeError(f'export {entry_id}: {status} {text}')
        return dict((line.rsplit(' ', 1)[0], int(line.rsplit(' ', 1)[1])) for line in text.splitlines())


def memory(pid, what):
    """VmHWM (most that was resident) or RssAnon, in MiB."""
    with open(f'/proc/{pid}/status') as f:
        return next(int(line.split()[1]) for line in f if line.startswith(what)) / 1024


def check(binary, data):
    """What `flamekeep check` says of a folder that no server has open: (exit code, text)."""
    p = subprocess.run([binary, 'check', '--data', data], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return p.returncode, p.stdout.decode('utf-8', 'replace')
