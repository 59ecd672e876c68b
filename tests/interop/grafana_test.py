#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""What Grafana's data source and Profiles Drilldown ask, asked of a server:  grafana_test.py FLAMEKEEP

Real profiles are pushed; each answer is compared with sums that this file makes of them with a decoder of its own. The data
source speaks Connect with protobuf, Drilldown Connect with JSON. Folders: FK_CORPUS, ../shared/corpus, in it pprof/.
"""
import base64, gzip, json, os, struct, sys, tempfile, urllib.parse
from collections import Counter, defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'fault'))
from server import Client, Server

FILES = ('ddnotes__cpu__benchmark.cpu.pb.gz', 'explore__profile-files__go-samples-process_cpu-5m.pb.gz')
T0 = 1767225600000  # 2026-01-01, ms
QUERIER = '/querier.v1.QuerierService/'
WIDE = {'Accept': '*/*; allow-utf8-labelnames=true'}


# ---- protobuf, as little as is needed ----

def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def field(number, value):
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack('<d', value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def read_varint(b, at):
    n = shift = 0
    while True:
        n |= (b[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if b[at - 1] < 128:
            return n, at


def fields(b):
    at, out = 0, defaultdict(list)
    while at < len(b):
        key, at = read_varint(b, at)
        if key & 7 == 0:
            v, at = read_varint(b, at)
        elif key & 7 == 1:
            v, at = struct.unpack_from('<d', b, at)[0], at + 8
        else:
            n, at = read_varint(b, at)
            v, at = b[at:at + n], at + n
        out[key >> 3].append(v)
    return out


def numbers(list_of):
    out = []
    for v in list_of:
        if isinstance(v, int):
            out.append(v)
            continue
        at = 0
        while at < len(v):
            n, at = read_varint(v, at)
            out.append(n)
    return [n - (1 << 64) if n >> 63 else n for n in out]


# ---- the profiles ----

class Pprof:
    """types: [name]; stacks: [(names from the root, [value per type])], inlined calls as frames of their own."""

    def __init__(self, data):
        p = fields(gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data)
        text = [s.decode('utf-8', 'replace') for s in p[6]]
        one = lambda m, n: numbers(m.get(n, [0]))[0]
        function = {one(f, 1): text[one(f, 2)] for f in map(fields, p[5])}
        lines = {one(l, 1): [function[one(fields(x), 1)] for x in l.get(4, [])] for l in map(fields, p[4])}
        self.types = [text[one(fields(t), 1)] for t in p[1]]
        self.units = [text[one(fields(t), 2)] for t in p[1]]
        self.stacks, self.complete = [], all(lines.values())
        for s in map(fields, p[2]):
            names = [n for l in reversed(numbers(s[1])) for n in reversed(lines[l])]
            self.stacks.append((tuple(names), numbers(s[2])))

    def total(self, k):
        return sum(v[k] for _, v in self.stacks)


def tree_of(stacks):
    """path -> [total, self] of (names, value) pairs."""
    tree = defaultdict(lambda: [0, 0])
    for names, value in stacks:
        for depth in range(1, len(names) + 1):
            tree[names[:depth]][0] += value
        tree[names][1] += value
    return tree


def levels_to_tree(names, levels):
    """What Grafana makes of levels: (path, total, self) of each bar; a bar lies within one of the level above."""
    above, out = [], []
    for depth, values in enumerate(levels):
        here, end = [], 0
        for i in range(0, len(values), 4):
            x, total, own, name = values[i:i + 4]
            begin = end + x
            end = begin + total
            inside = [p for p in above if p[0] <= begin and end <= p[1]]
            if depth and len(inside) != 1 and total:
                raise ValueError(f'level {depth}: {names[name]} lies in {len(inside)} bars')
            path = (inside[0][2] if depth and inside else ()) + ((names[name],) if depth else ())
            here.append((begin, end, path))
            out.append((path, total, own))
        above = here
    return out


# ---- checks ----

class Checks:
    passed = failed = 0

    def __call__(self, what, good, *more):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print('FAILED', what, *(str(m)[:300] for m in more))

    def same(self, what, got, want):
        self(what, got == want, 'got', got, 'not', want)


check = Checks()


class Grafana:
    def __init__(self, port):
        self.client = Client(port)

    def raw(self, path, body, kind, headers=()):
        c = self.client.connection
        c.request('POST', path, body, {'Content-Type': kind, 'Connect-Protocol-Version': '1', 'Accept-Encoding': 'gzip',
                                       **dict(headers)})
        r = c.getresponse()
        data = r.read()
        if r.headers.get('Content-Encoding') == 'gzip':
            data = gzip.decompress(data)
        return r.status, r.headers, data

    def proto(self, method, body):
        """Of the data source: fields of the answer."""
        status, headers, data = self.raw(QUERIER + method, body, 'application/proto', WIDE)
        check(f'{method} answers in protobuf', status == 200 and headers['Content-Type'] == 'application/proto', status, data)
        return fields(data) if status == 200 else defaultdict(list)

    def json(self, path, body, status=200):
        """Of Drilldown."""
        got, headers, data = self.raw(path if path[0] == '/' else QUERIER + path, json.dumps(body), 'application/json')
        check(f'{path}: {status} in JSON', got == status and headers['Content-Type'] == 'application/json', got, data)
        return json.loads(data)


def select(type_id, selector, start, end, more=b''):
    return field(1, type_id) + field(2, selector) + field(3, start) + field(4, end) + more


class World:
    """What was pushed: entries of (time ms, labels, pprof, id)."""

    def __init__(self, grafana, corpus):
        self.g, self.entries = grafana, []
        self.files = {}
        for name in FILES:
            with open(os.path.join(corpus, name), 'rb') as f:
                self.files[name] = f.read()
        self.pprof = {name: Pprof(data) for name, data in self.files.items()}

    def push(self):
        for i in range(12):
            name = FILES[i % 3 == 2]
            labels = {'service_name': 'api' if i % 3 == 2 else 'web', 'pod': f'pod-{i % 4}'}
            at = T0 + i * 17000 + 250
            text = '{' + ','.join(f'{k}="{v}"' for k, v in labels.items()) + '}'
            path = '/api/v1/upload?' + urllib.parse.urlencode({'labels': text, 'time': str(at)})
            status, _, body = self.g.client.request('POST', path, None, self.files[name])
            check('upload', status == 201, status, body)
            self.entries.append((at, labels, self.pprof[name], json.loads(body)['profiles'][0]['id']))
        _, body = self.g.client.get('/api/v1/types')
        self.types = {t['type']: t for t in body['types']}
        self.end = T0 + 12 * 17000

    def column(self, p, type_id):
        _, kind, unit = type_id.split(':')[:3]
        return next((k for k, t in enumerate(p.types) if (t, p.units[k]) == (kind, unit)), None)

    def chosen(self, type_id, **labels):
        for at, have, p, ident in self.entries:
            k = self.column(p, type_id)
            if k is not None and all(have[n] == v for n, v in labels.items()):
                yield at, have, p, k, ident


# ---- the data source ----

def health(g):
    check.same('health check of an empty server', dict(g.proto('ProfileTypes', field(1, 1000) + field(2, 4000))), {})
    check.same('no data yet', g.json('GetProfileStats', {}), {})
    check.same('no settings yet', g.json('/settings.v1.SettingsService/Get', {}), {})


def names(g, w):
    got = [fields(t)[1][0].decode() for t in g.proto('ProfileTypes', field(1, T0) + field(2, w.end))[1]]
    check.same('profile types', sorted(got), sorted(w.types))
    type_id = got[0]
    for selector in ('{__profile_type__="%s",service_name="web"}' % type_id, type_id + '{service_name="web"}'):
        values = g.proto('LabelValues', field(1, 'pod') + field(2, selector) + field(3, T0) + field(4, w.end))
        want = sorted({l['pod'] for _, l, _, _, _ in w.chosen(type_id, service_name='web')})
        check.same(f'values of pod in {selector}', [v.decode() for v in values[1]], want)
    labels = [v.decode() for v in g.proto('LabelNames', field(1, '{}') + field(2, T0) + field(3, w.end))[1]]
    check('label names', {'pod', 'service_name', '__profile_type__', '__name__'} <= set(labels), labels)
    old = [fields(t)[1][0].decode() for t in g.proto('ProfileTypes', b'')[1]]
    check.same('a range of zeros has all types', sorted(old), sorted(w.types))


def points_of(series):
    labels = {fields(l)[1][0].decode(): fields(l)[2][0].decode() for l in series.get(1, [])}
    points = [fields(p) for p in series.get(2, [])]
    return labels, {numbers(p[2])[0]: p[1][0] for p in points}, points


def series(g, w, type_id, step_s):
    start, end = T0, w.end
    got = g.proto('SelectSeries', field(1, type_id) + field(2, '{}') + field(3, start) + field(4, end) + field(5, 'pod') +
                  field(6, float(step_s)) + field(10, 2))
    want = defaultdict(Counter)
    for at, labels, p, k, _ in w.chosen(type_id):
        edge = start + -(-(at - start) // (step_s * 1000)) * step_s * 1000  # the first grid point at or behind it
        if edge <= end:
            want[labels['pod']][edge] += p.total(k)
    rows = {r[0]['pod']: r for r in map(points_of, map(fields, got[1]))}
    check.same(f'series of {type_id} at {step_s} s', {pod: dict(r[1]) for pod, r in rows.items()},
               {pod: dict(c) for pod, c in want.items()})
    totals = [sum(r[1].values()) for r in map(points_of, map(fields, got[1]))]
    check('the larger series comes first', totals == sorted(totals, reverse=True), totals)
    open_exemplars(g, w, type_id, [fields(e) for r in rows.values() for p in r[2] for e in p.get(4, [])])


def open_exemplars(g, w, type_id, exemplars):
    """Each id opens the profile whose value it says, in both APIs."""
    check('there are exemplars', exemplars)
    kind = type_id.split(':')[1]
    for e in exemplars[:6]:
        ident, value = e[2][0].decode(), numbers(e[4])[0]
        got = g.proto('SelectMergeStacktraces', select(type_id, '{}', T0, w.end, field(8, ident)))
        check.same(f'exemplar {ident} opened by profile_id_selector', numbers(fields(got[1][0])[3])[0], value)
        _, entry = g.client.get('/api/v1/profiles/' + ident)
        check(f'exemplar {ident} opened by its id', any(t['type'].split(':')[1] == kind and t['total'] == value
                                                       for t in entry['types']), entry.get('types'))


def graph_of(g, w, type_id, selector, more=b''):
    got = fields(g.proto('SelectMergeStacktraces', select(type_id, selector, T0, w.end, more))[1][0])
    bars = levels_to_tree([n.decode('utf-8', 'replace') for n in got[1]], [numbers(fields(l)[1]) for l in got[2]])
    return numbers(got.get(3, [0]))[0], numbers(got.get(4, [0]))[0], bars


def flame_graph(g, w, type_id, service):
    stacks = [(n, v[k]) for _, _, p, k, _ in w.chosen(type_id, service_name=service) for n, v in p.stacks if v[k]]
    want = tree_of(stacks)
    total, max_self, bars = graph_of(g, w, type_id, '{service_name="%s"}' % service, field(5, 1048576))
    check.same('total', total, sum(v for _, v in stacks))
    check.same('every node of the flame graph', {p: [t, s] for p, t, s in bars if p}, dict(want))
    check.same('max self', max_self, max(s for _, s in want.values()))
    for most in (3, 50, 500):
        cut(g, w, type_id, service, most, want)
    site = max((p for p in want if len(p) == 3), key=lambda p: want[p][0])
    below = field(7, b''.join(field(1, field(1, n)) for n in site) + field(3, field(3, '.*')))
    total, _, _ = graph_of(g, w, type_id, '{service_name="%s"}' % service, below)
    check.same(f'weight below {site}', total, want[site][0])


def cut(g, w, type_id, service, most, want):
    total, _, bars = graph_of(g, w, type_id, '{service_name="%s"}' % service, field(5, most))
    weights = sorted((t for t, _ in want.values()), reverse=True)
    least = weights[most - 1] if len(weights) > most else 0
    kept = {p: [t, s] for p, t, s in bars if p and p[-1] != 'other'}
    check.same(f'nodes that {most} keep', kept, {p: v for p, v in want.items() if v[0] >= least and p[-1] != 'other'})
    inside = Counter()
    for p, t, _ in bars:
        if p:
            inside[p[:-1]] += t
    own = dict(want)
    check('widths add up', all(t == inside[p] + (s if p else 0) for p, t, s in bars if not p or p in own and own[p][1] != t),
          most)
    check.same('the whole stays', total, sum(v for p, (v, _) in want.items() if len(p) == 1))


def heatmap(g, w, type_id):
    step = max((w.end - T0) // 64, 1000) / 1000
    got = g.proto('SelectHeatmap', field(1, type_id) + field(2, '{}') + field(3, T0) + field(4, w.end) + field(5, step) +
                  field(7, 1) + field(8, 2))
    slots = [fields(s) for r in got[1] for s in fields(r)[2]]
    counts = [numbers(s[3]) for s in slots]
    want = list(w.chosen(type_id))
    check.same('points of the heatmap', sum(map(sum, counts)), len(want))
    check('twenty buckets', all(len(c) == 20 and len(s[2][0]) == 160 for c, s in zip(counts, slots)))
    check('cells end behind their profiles', {numbers(s[1])[0] for s in slots} ==
          {T0 + -(-(at - T0) // int(step * 1000)) * int(step * 1000) for at, *_ in want})
    open_exemplars(g, w, type_id, [fields(e) for s in slots for e in s.get(4, [])])


# ---- Drilldown ----

def start_page(g, w):
    got = g.json('Series', {'labelNames': ['service_name', '__profile_type__'], 'start': T0, 'end': w.end})
    sets = {tuple(sorted((l['name'], l['value']) for l in s['labels'])) for s in got['labelsSet']}
    want = {(('__profile_type__', t), ('service_name', l['service_name'])) for t in w.types for _, l, _, _, _ in w.chosen(t)}
    check.same('services and their types', sets, want)
    stats = g.json('GetProfileStats', {})
    check.same('profile stats', stats, {'dataIngested': True, 'oldestProfileTime': str(w.entries[0][0]),
                                        'newestProfileTime': str(w.entries[-1][0])})


def exports(g, w, type_id):
    ask = {'profile_typeID': type_id, 'labelSelector': '{service_name="web"}', 'start': str(T0), 'end': w.end}
    want = sum(p.total(k) for _, _, p, k, _ in w.chosen(type_id, service_name='web'))
    got = g.json('SelectMergeProfile', ask)
    check.same('merged pprof in JSON', sum(int(v) for s in got['sample'] for v in s['value']), want)
    body = select(type_id, '{service_name="web"}', T0, w.end)
    status, _, data = g.raw(QUERIER + 'SelectMergeProfile', body, 'application/proto')
    p = Pprof(data)
    check.same('merged pprof as bytes', (status, p.types, p.total(0)), (200, [type_id.split(':')[1]], want))
    tree = g.json('SelectMergeStacktraces', {**ask, 'format': 'PROFILE_FORMAT_TREE', 'maxNodes': 100})['tree']
    check.same('tree bytes', sum_of_tree(base64.b64decode(tree)), want)
    dot = g.json('SelectMergeStacktraces', {**ask, 'format': 'PROFILE_FORMAT_DOT'})['dot']
    check('graph for Graphviz', dot.startswith('digraph '))


def sum_of_tree(b):
    at, left, total = 0, 1, 0
    while left:
        n, at = read_varint(b, at)
        own, at = read_varint(b, at + n)
        children, at = read_varint(b, at)
        left, total = left - 1 + children, total + own
    if at != len(b):
        raise ValueError('bytes behind the tree')
    return total


def render(g, w, type_id):
    query = type_id + '{service_name="web"}'
    status, got = g.client.get('/pyroscope/render', query=query, **{'from': T0, 'until': w.end, 'max-nodes': 100, 'format': 'json'})
    want = sum(p.total(k) for _, _, p, k, _ in w.chosen(type_id, service_name='web'))
    check.same('render', (status, got['flamebearer']['numTicks'], sum(got['timeline']['samples'])), (200, want, want))
    levels_to_tree(got['flamebearer']['names'], got['flamebearer']['levels'])
    status, got = g.client.get('/pyroscope/render-diff', leftQuery=query, leftFrom=T0, leftUntil=w.end, rightQuery=query,
                               rightFrom=T0, rightUntil=T0 + 60000)
    right = sum(p.total(k) for at, _, p, k, _ in w.chosen(type_id, service_name='web') if at <= T0 + 60000)
    check.same('render-diff', (status, got['leftTicks'], got['rightTicks']), (200, want, right))
    side = {'profileTypeID': type_id, 'labelSelector': '{service_name="web"}', 'start': T0}
    diff = g.json('Diff', {'left': {**side, 'end': w.end}, 'right': {**side, 'end': T0 + 60000}})['flamegraph']
    check.same('Diff', (diff['leftTicks'], diff['rightTicks'], diff['total']), (str(want), str(right), str(want + right)))
    status, dot = g.client.get('/pyroscope/render', query=query, **{'from': T0, 'until': w.end, 'format': 'dot'})
    check('render as a graph', status == 200 and dot.startswith('digraph '))


def small_services(g, w):
    got = g.json('/settings.v1.SettingsService/Set', {'setting': {'name': 'collapsed', 'value': 'true', 'modifiedAt': '5'}})
    check.same('a setting', got, {'setting': {'name': 'collapsed', 'value': 'true', 'modifiedAt': '5'}})
    check.same('settings', g.json('/settings.v1.SettingsService/Get', {}), {'settings': [got['setting']]})
    flags = g.json('/capabilities.v1.FeatureFlagsService/GetFeatureFlags', {})['featureFlags']
    check.same('feature flags', [f['name'] for f in flags], sorted(f['name'] for f in flags))
    check.same('version', g.json('/version.v1.Version/Version', {}), {'QuerierAPI': '1'})
    for path, status in (('/vcs.v1.VCSService/GithubApp', 501), ('/settings.v1.RecordingRulesService/ListRecordingRules', 404)):
        check.same(path, g.json(path, {}, status)['code'], 'unimplemented')
    got = g.json('AnalyzeQuery', {'query': '{service_name="web"}', 'start': T0, 'end': w.end})
    check.same('what a query would read', got['queryScopes'][0]['profileCount'],
               str(sum(l['service_name'] == 'web' for _, l, _, _ in w.entries)))


def adhoc(g, w):
    service = '/adhocprofiles.v1.AdHocProfileService/'
    ids = []
    for name, data in w.files.items():
        p = w.pprof[name]
        got = g.json(service + 'Upload', {'name': name, 'profile': base64.b64encode(data).decode(), 'maxNodes': 1000})
        document = json.loads(got['flamebearerProfile'])
        check.same(f'ad hoc {name}', (got['profileTypes'], document['flamebearer']['numTicks']), (p.types, p.total(0)))
        levels_to_tree(document['flamebearer']['names'], document['flamebearer']['levels'])
        last = g.json(service + 'Get', {'id': got['id'], 'profileType': p.types[-1]})
        check.same(f'its last type', json.loads(last['flamebearerProfile'])['flamebearer']['numTicks'], p.total(-1))
        ids.append(got['id'])
    check.same('ad hoc list', {p['id'] for p in g.json(service + 'List', {})['profiles']}, set(ids))
    common = [t for t in w.pprof[FILES[0]].types if t in w.pprof[FILES[1]].types]
    got = g.json(service + 'Diff', {'leftId': ids[0], 'rightId': ids[1]}, 200 if common else 400)
    check.same('ad hoc diff', got.get('profileTypes', []), common)


def main(args):
    corpus = next((p for p in (os.environ.get('FK_CORPUS'), os.path.join(HERE, '../../../shared/corpus'))
                   if p and all(os.path.isfile(os.path.join(p, 'pprof', f)) for f in FILES)), None)
    if not corpus:
        print('SKIP-ALL: no folder of foreign profiles with pprof/' + ' and pprof/'.join(FILES) + ' (FK_CORPUS)')
        return 0
    with tempfile.TemporaryDirectory() as tmp:
        server = Server(args[0], os.path.join(tmp, 'data'))
        server.start()
        g = Grafana(server.port)
        health(g)
        w = World(g, os.path.join(corpus, 'pprof'))
        w.push()
        names(g, w)
        start_page(g, w)
        for type_id in sorted(w.types):
            for step in (15, 60):
                series(g, w, type_id, step)
            heatmap(g, w, type_id)
        cpu = next(t for t in w.types if t.startswith('process_cpu:cpu:') and any(True for _ in w.chosen(t, service_name='web')))
        flame_graph(g, w, cpu, 'web')
        exports(g, w, cpu)
        render(g, w, cpu)
        small_services(g, w)
        adhoc(g, w)
        server.stop()
    print(f'{check.passed} passed, {check.failed} failed')
    return 1 if check.failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
