#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an unmodified client pushed is found again:  kept.py SERVER_URL CLIENT CLIENT_LOG

Asks the server's own API for the entries of service interop.CLIENT (SERVICES: another), their labels, types and functions, and looks for
complaints in the client's log.  Prints one line a check and "N passed, N failed"."""
import ast, json, re, sys, urllib.error, urllib.parse, urllib.request

# Labels on every entry; names whose values checkout and search must be found on entries or samples; types; functions.
BUSY = ({'checkout', 'search'},)
CLIENTS = {
    'go': ({'region', 'hostname', 'version'}, {'handler'},
           ['process_cpu:cpu:', 'memory:alloc_space:', 'memory:inuse_space:', 'goroutine'], BUSY),
    'python': ({'region', 'hostname'}, {'handler'}, ['process_cpu:cpu:'], BUSY),
    'java': ({'region', 'hostname', 'jfr_event', 'otel.scope.name'}, {'handler', 'tier', 'thread', 'state', 'class'},
             ['process_cpu:cpu:', 'memory:alloc_in_new_tlab_bytes:', 'mutex:delay:'], BUSY),
    'java-wall': ({'region', 'hostname', 'jfr_event', 'otel.scope.name'}, {'handler', 'tier', 'thread'}, ['wall:wall:'], BUSY),
    'java-otlp': (set(), set(), ['itimer:itimer:'], BUSY), # async-profiler's own, without the agent's labels
    'node': ({'region', 'hostname'}, {'handler'}, ['wall:wall:', 'memory:inuse_space:'], BUSY),
    'rust': ({'region', 'hostname'}, {'handler'}, ['process_cpu:cpu:'], BUSY),
    'rust-legacy': (set(), {'handler', 'region', 'hostname'}, ['process_cpu:cpu:'], BUSY),
    'curl': ({'region', 'hostname'}, set(), ['process_cpu:', 'wall:', 'memory:alloc_space:'], ()),
}
SERVICES = {'java-otlp': 'unknown_service'}
FEW_SAMPLES = {'rust-legacy'} # its sampler keeps two to twenty samples of ten seconds: what it saw is found, whichever that is
COMPLAINT = re.compile(r'\b(error|panic|fatal|traceback|refused|status(?: code)?[:= ]+[45]\d\d)\b', re.I)


class Server:
    def __init__(self, url, service):
        self.url = url.rstrip('/')
        self.source = {'query': '{service_name="%s"}' % service, 'from': 'now-1h', 'until': 'now+1m'}

    def get(self, path, **more):
        query = urllib.parse.urlencode({**self.source, **more})
        try:
            with urllib.request.urlopen(f'{self.url}{path}?{query}', timeout=60) as r:
                return json.load(r)
        except urllib.error.HTTPError as e:
            sys.exit(f'{path}?{query}: {e.code} {e.read().decode(errors="replace")}')


def checks(server, client, log):
    labels, spread, types, functions = CLIENTS[client]
    entries = server.get('/api/v1/profiles', limit=1000)['profiles']
    yield 'entries are listed', bool(entries), f'{len(entries)}'
    for name in sorted(labels):
        missing = [e['id'] for e in entries if not e['labels'].get(name)]
        yield f'label {name} on every entry', entries and not missing, f'missing on {missing[:3]}'
    for name in sorted(spread):
        values = {v['value'] for v in server.get(f'/api/v1/labels/{name}/values')['values']}
        want = {'checkout', 'search'} if name == 'handler' else values
        few = client in FEW_SAMPLES
        yield f'values of {name}', bool(values) and (bool(want & values) if few else want <= values), f'{sorted(values)[:10]}'
    have = [t['type'] for t in server.get('/api/v1/types')['types']]
    for prefix in types:
        yield f'type {prefix}', any(t.startswith(prefix) for t in have), f'{have}'
    for wanted in functions:
        cpu = next((t for t in have if t.startswith(('process_cpu:cpu:', 'wall:wall:', 'itimer:itimer:'))), None)
        rows = server.get('/api/v1/top', type=cpu, limit=1000)['rows'] if cpu else []
        found = {name for name in wanted if any(name in r['function'] for r in rows)}
        yield f'functions {sorted(wanted)}', bool(found) and (client in FEW_SAMPLES or found == wanted), f'{len(rows)} rows of {cpu}'
    text = open(log, errors='replace').read()
    if client == 'curl': # prints "STATUS case"
        lines = [l for l in text.splitlines() if re.match(r'\d{3} ', l) and not l.startswith('200 ')]
    else:
        lines = [l.strip() for l in text.splitlines() if COMPLAINT.search(l)]
    yield 'no complaint in the client\'s log', not lines, ' | '.join(lines[:3])


def collector_checks(url, log):
    """One service a way of sending; each export is 100 samples with their times, 10 ms each, in two stacks."""
    text = open(log, errors='replace').read()
    told = re.search(r'accepted (\{.*\})', text)
    accepted = {} if not told else {k: v['requests'] for k, v in ast.literal_eval(told.group(1)).items()}
    for way in ('grpc', 'http', 'json', 'zstd'):
        server = Server(url, f'interop.otel-{way}')
        entries = server.get('/api/v1/profiles', limit=1000)['profiles']
        yield f'{way}: an entry an export', entries and len(entries) == accepted.get(way), f'{len(entries)} of {accepted}'
        for entry in entries:
            totals = {t['type']: t['total'] for t in entry['types']}
            want = {'process_cpu:samples:count:cpu:nanoseconds': 100, 'process_cpu:cpu:nanoseconds:cpu:nanoseconds': 10**9}
            yield f'{way}: totals', totals == want, f'{totals}'
            yield f'{way}: times of samples', entry['has_time'], entry['id']
            yield f'{way}: label region', entry['labels'].get('region') == 'eu-north', f"{entry['labels']}"
        rows = {r['function']: r['total'] for r in server.get('/api/v1/top', type='process_cpu:samples:count:cpu:nanoseconds')['rows']}
        n = len(entries)
        want = {'main': 100 * n, 'worker': 100 * n, 'checkout': 60 * n, 'search': 40 * n}
        yield f'{way}: functions', rows == want, f'{rows}'
        values = [v['value'] for v in server.get('/api/v1/labels/thread.name/values')['values']]
        yield f'{way}: attribute of the samples', values == ['worker-0'], f'{values}'


def refused(url):
    """Requests to /ingest that were not taken, of all clients."""
    with urllib.request.urlopen(url + '/metrics') as answer:
        lines = answer.read().decode().splitlines()
    return sum(int(l.rsplit(' ', 1)[1]) for l in lines
               if l.startswith('flamekeep_http_requests_total') and 'route="/ingest"' in l
               and ('status="4xx"' in l or 'status="5xx"' in l)) # 0xx: a client that was stopped in the midst of it


def main(url, client, log):
    good = bad = 0
    # The sampler of the old crate often has nothing in a window, and then it sends nothing.
    if client in FEW_SAMPLES and not Server(url, f'interop.{client}').get('/api/v1/profiles')['profiles'] and not refused(url):
        print('SKIP: the client had no sample in its time and sent nothing')
        return 77
    found = collector_checks(url, log) if client == 'otel' else checks(Server(url, SERVICES.get(client, f'interop.{client}')), client, log)
    for what, ok, detail in found:
        good, bad = good + bool(ok), bad + (not ok)
        if not ok:
            print(f'FAILED: {what}: {detail}')
    print(f'{good} passed, {bad} failed')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
