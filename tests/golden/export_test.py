#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
# Quick: {build}/flamekeep --quick
"""Exported files are opened by independent readers, which must find the totals and names of flamekeep's own table.

  export_test.py FLAMEKEEP [--quick] [-k TEXT]

Readers: Python's XML, HTML, zip and JSON, Chromium for pages and pictures, Graphviz, Go's pprof and compiler, an OTLP decoder
beside the folder of foreign profiles, speedscope's released page, Firefox's profiler-cli. Profiles: one made here, whose names are
hostile, and some of the folder of foreign profiles. A reader that is not there is skipped by name.
--quick: without browser, Go's compiler, and what npm brings.
"""
import base64, csv, gzip, hashlib, html.parser, io, json, os, re, shutil, subprocess, sys, tempfile, zipfile
import xml.etree.ElementTree as ET
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from corpus_test import HERE, find_corpus

READERS = os.path.join(HERE, 'readers')
BIDI = re.compile('[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]')
UNFIT = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029\ufdd0-\ufdef\ufffe\uffff]')
HOSTILE = ['</script><script>alert(1)</script>', '<!--<script>', '<img src=x onerror=alert(1)>', ']]></title><svg onload=alert(1)>',
           'a"b\'c`d', '\\" ]; evil [label="x\\', 'tab\tnew\nline\rreturn', 'nul\0inside', 'bell\a \x1b[31m \x7f \x9b',
           'bidi\u202eevil\u202c \u2066iso\u2069 \u200f', 'line\u2028para\u2029', b'bad\xff\xfe utf8 \xc0\xaf \xed\xa0\x80 cut\xe2\x82', '&amp; &#60; &lt;',
           "=cmd|' /C calc'!A0", 'semi;colon 12', '%s%n {0} ${x} \\N \\G', '__proto__', 'constructor', 'caf\u00e9 \U0001f525']


def visible(name):
    """As pictures show it."""
    return UNFIT.sub('\ufffd', BIDI.sub(lambda m: f'[U+{ord(m[0]):04X}]', name))


# ---- the hostile profile: a pprof by hand ----

def varint(v):
    out = b''
    while v > 127:
        out, v = out + bytes([v & 127 | 128]), v >> 7
    return out + bytes([v])


def number(field, v):
    return varint(field << 3) + varint(v)


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def hostile_pprof():
    """Function i is called by function i - 1 and weighs i + 1; each has a thread and a time of its own."""
    names = [n if isinstance(n, bytes) else n.encode() for n in HOSTILE]
    strings = [b'', b'samples', b'count', b'cpu', b'nanoseconds', b'thread', b'end_timestamp_ns'] + names
    out = block(1, number(1, 1) + number(2, 2)) + block(1, number(1, 3) + number(2, 4))
    for i in range(len(names)):
        stack = varint(i + 1) + (varint(i) if i else b'')
        labels = block(3, number(1, 5) + number(2, 7 + i)) + block(3, number(1, 6) + number(3, 1700000000000000000 + i * 1000) + number(4, 4))
        out += block(2, block(1, stack) + block(2, varint(i + 1) + varint((i + 1) * 10000000)) + labels)
    for i in range(len(names)):
        out += block(4, number(1, i + 1) + block(4, number(1, i + 1) + number(2, 10 * i + 12)))
        out += block(5, number(1, i + 1) + number(2, 7 + i) + number(4, 7 + i) + number(5, 10 * i + 5))
    out += b''.join(block(6, s) for s in strings)
    return out + number(9, 1700000000000000000) + number(10, 1000000000) + block(11, number(1, 3) + number(2, 4)) + number(12, 10000000)


# ---- flamekeep ----

class Case:
    """A stored profile and one of its types."""

    def __init__(self, run, folder, name, path, pick=0):
        self.binary, self.data, self.name, self.path = run, os.path.join(folder, name), name, path
        self.call('push', '--labels', '{service_name="shop"}', path)
        entries = json.loads(self.call('ls', '--all', '--json'))['profiles']
        self.entry = next((e for e in entries if e['has_time']), entries[0])
        self.id = self.entry['id']
        self.type = self.entry['types'][min(pick, len(self.entry['types']) - 1)]
        top = json.loads(self.call('top', self.id, '--json', '--limit', '0', '--type', self.type['type']).decode('utf-8', 'replace'))
        self.rows = top['rows']
        self.total = top['total']
        self.self = {r['function']: r['self'] for r in self.rows if r['self']}
        self.sums = {r['function']: r['total'] for r in self.rows}

    def call(self, command, *args):
        p = subprocess.run([self.binary, command, '--data', self.data, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if p.returncode:
            raise RuntimeError(f'{self.name}: {command} {args}: {p.stderr.decode("utf-8", "replace")[:300]}')
        return p.stdout

    def export(self, form, *more, whole=False):
        out = os.path.join(self.data, 'out.' + form.replace('top.', ''))
        self.call('export', self.id, '--format', form, '--output', out, *([] if whole else ['--type', self.type['type']]), *more)
        return out


def read(path, mode='rb'):
    with open(path, mode) as f:
        return f.read()


def differs(what, got, want):
    """A line for each name whose value is another one."""
    for name in sorted(set(got) | set(want), key=repr):
        if got.get(name, 0) != want.get(name, 0):
            yield f'{what}: {name!r}: {got.get(name)} is not {want.get(name)}'


# ---- readers ----

def check_json_tables(case):
    top = json.loads(read(case.export('top.json')).decode('utf-8'))
    yield from differs('top.json', {r['function']: r['self'] for r in top['rows'] if r['self']}, case.self)
    rows = list(csv.DictReader(io.StringIO(read(case.export('top.csv')).decode('utf-8', 'replace'), newline='')))
    if sum(int(r['self']) for r in rows) != sum(case.self.values()) or len(rows) != len(case.rows):
        yield f'top.csv: {len(rows)} rows'
    if any(r['function'][:1] in '=+-@' for r in rows if r['function']):
        yield 'top.csv: a cell is a formula'


def speedscope_names(document):
    found = Counter()
    frames = [f['name'] for f in document['shared']['frames']]
    for p in document['profiles']:
        assert p['type'] == 'sampled' and len(p['samples']) == len(p['weights'])
        assert p['endValue'] - p['startValue'] == sum(p['weights'])
        for stack, weight in zip(p['samples'], p['weights']):
            if stack:
                found[frames[stack[-1]]] += weight
    return {k: v for k, v in found.items() if v}


def check_speedscope(case):
    document = json.loads(read(case.export('speedscope')).decode('utf-8'))
    yield from differs('speedscope', speedscope_names(document), case.self)
    if case.entry['has_time'] and case.name == 'hostile' and len(document['profiles']) != len(HOSTILE):
        yield f"speedscope: {len(document['profiles'])} threads"


def firefox_names(document):
    found = Counter()
    shared = document['shared']
    frame, func, name = shared['stackTable']['frame'], shared['frameTable']['func'], shared['funcTable']['name']
    for t in document['threads']:
        s = t['samples']
        assert s['length'] == len(s['stack']) == len(s['time']) == len(s['weight']) and s['time'] == sorted(s['time'])
        scale = 1000000 if s['weightType'] == 'tracing-ms' else 1
        for stack, weight in zip(s['stack'], s['weight']):
            if stack is not None:
                found[shared['stringArray'][name[func[frame[stack]]]]] += round(weight * scale)
    return {k: v for k, v in found.items() if v}


def check_firefox(case):
    document = json.loads(read(case.export('firefox')).decode('utf-8'))
    for table in document['shared'].values():
        if isinstance(table, dict) and any(len(c) != table['length'] for c in table.values() if isinstance(c, list)):
            yield 'firefox: columns of a table differ in length'
    yield from differs('firefox', firefox_names(document), case.self)


def check_svg(case):
    root = ET.fromstring(read(case.export('svg', '--max-nodes', '0')))
    ns = '{http://www.w3.org/2000/svg}'
    boxes = []
    for g in root.iter(ns + 'g'):
        rect = g.find(ns + 'rect')
        boxes.append((float(rect.get('y')), float(rect.get('x')), float(rect.get('width')), g.find(ns + 'title').text))
    if {e.tag for e in root.iter()} - {ns + t for t in ('svg', 'title', 'g', 'rect', 'text')}:
        yield f'svg: elements {sorted({e.tag for e in root.iter()})}'
    boxes.sort()
    whole = boxes[0][2] if boxes else 1
    shown = {visible(r['function']): r for r in case.rows}
    width, open_at = Counter(), {}
    for y, x, w, title in boxes[1:]:
        name = title[:title.rindex(' (')] if ' (' in title else title
        if name not in shown:
            yield f'svg: {title!r} is in no table'
            continue
        above, up = [], y - 17
        path = open_at.setdefault(y, [])
        parent = next((p for p in open_at.get(up, []) if p[0] - 0.02 <= x and x + w <= p[1] + 0.02), None)
        seen = parent[2] if parent else frozenset()
        if name not in seen:
            width[name] += w
        path.append((x, x + w, seen | {name}))
    for name, row in shown.items():
        share = row['total'] / case.total if case.total else 0
        if share > 0.01 and abs(width[name] / whole - share) > 0.005 + 0.0001 * len(boxes) ** 0.5:
            yield f'svg: {name!r} is {width[name] / whole:.4f} wide, not {share:.4f}'


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.texts, self.tags, self.links, self.policy, self.inside = {}, Counter(), [], '', None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags[tag] += 1
        self.links += [v for k, v in attrs.items() if k in ('src', 'href', 'action', 'data', 'poster') or k.startswith('on')]
        if attrs.get('http-equiv') == 'Content-Security-Policy':
            self.policy = attrs['content']
        self.inside = attrs.get('id') if attrs.get('type') == 'application/json' else tag
        self.texts.setdefault(self.inside, '')

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.texts[self.inside] += data


def check_html(case):
    page = Page()
    source = read(case.export('html', '--max-nodes', '0')).decode('utf-8')
    page.feed(source)
    page.close()
    if page.links or page.tags['script'] != 2 or page.tags['img'] or page.tags['svg']:
        yield f'html: links {page.links}, tags {dict(page.tags)}'
    for kind in ('script', 'style'):
        sha = base64.b64encode(hashlib.sha256(page.texts[kind].encode()).digest()).decode()
        if f"{kind}-src 'sha256-{sha}'" not in page.policy:
            yield f'html: the policy does not name the {kind}'
    if "default-src 'none'" not in page.policy:
        yield 'html: requests are not forbidden'
    if re.search(r'https?:|innerHTML|outerHTML|insertAdjacent|document\.write|eval\(', page.texts['script']):
        yield 'html: the script can do more than it should'
    data = json.loads(page.texts['data'])
    found = Counter()
    for name, own in zip(data['nodes']['name'], data['nodes']['self']):
        found[data['names'][name]] += own
    found.pop('total', None)
    yield from differs('html', {k: v for k, v in found.items() if v}, case.self)
    if data['total'] != case.total:
        yield f"html: total {data['total']}"


def check_dot(case):
    out = case.export('dot', '--max-nodes', '0')
    p = subprocess.run(['dot', '-Tdot_json', out], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode or p.stderr:
        yield f'dot: {p.stderr.decode("utf-8", "replace")[:300]}'
        return
    graph = json.loads(p.stdout.decode('utf-8'))
    names = Counter()
    for node in graph.get('objects', []):
        first = node['label'].split('\\nself ')[0]
        names[first.replace('\\"', '"').replace('\\\\', '\\').replace('&amp;', '&')] += 1
    yield from differs('dot', names, Counter(visible(n) for n in case.sums))
    small = subprocess.run(['dot', '-Tsvg', case.export('dot', '--max-nodes', '10')], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if small.returncode or len(list(ET.fromstring(small.stdout).iter('{http://www.w3.org/2000/svg}ellipse'))):
        yield 'dot: no picture of ten functions'


def check_otlp(case, tools):
    p = subprocess.run([sys.executable, os.path.join(tools, 'otlp_oracle.py'), '-o', case.data, case.export('otlp', whole=True)],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    made = [f for f in os.listdir(case.data) if f.startswith('out.otlp') and f != 'out.otlp']
    if p.returncode or not made:
        yield f'otlp: {(p.stderr + p.stdout).decode("utf-8", "replace")[-300:]}'
        return
    found = json.loads(read(os.path.join(case.data, made[0])).decode('utf-8', 'replace'))
    said = json.dumps(found)
    totals = [t['total'] for t in case.entry['types']]
    if not any(re.search(rf'\b{t}\b', said) for t in totals if t):
        yield f'otlp: none of the totals {totals} is found'


def go_top(path, index):
    p = subprocess.run(['go', 'tool', 'pprof', '-raw', path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise RuntimeError(p.stderr.decode('utf-8', 'replace')[:300])
    total = 0
    for line in p.stdout.decode('utf-8', 'replace').split('\nLocations\n')[0].splitlines():
        m = re.match(r'^\s+(-?\d+(?:\s+-?\d+)*): ', line)
        total += int(m[1].split()[index]) if m else 0
    return total


def check_pprof(case):
    total = go_top(case.export('pprof'), 0)
    if total != case.total:
        yield f'pprof: Go finds {total}, not {case.total}'


def check_zip(case):
    for form in ('pprof', 'speedscope', 'svg'):
        args = [] if form != 'svg' else ['--type', case.type['type']]
        out = os.path.join(case.data, 'out.zip')
        case.call('export', '--query', '{}', '--each', '--format', form, '--output', out, *args)
        with zipfile.ZipFile(out) as z:
            bad, names = z.testzip(), z.namelist()
            want = [e for e in json.loads(case.call('ls', '--all', '--json', *args))['profiles']]
            if bad or len(names) != len(want) or any('/' in n or n.startswith('.') for n in names):
                yield f'zip of {form}: {bad} {names}'
            if form == 'svg':
                ET.fromstring(z.read(names[0]))
            elif form == 'speedscope':
                json.loads(z.read(names[0]))
            elif z.read(names[0])[:2] != b'\x1f\x8b':
                yield 'zip of pprof: no gzip in it'


# ---- browser ----

def check_browser(cases, page):
    jobs, owners = [], []
    for case in cases:
        best = case.rows[0]['function']
        for job in ([{'kind': 'html', 'file': case.export('html'), 'find': visible(best)}, {'kind': 'svg', 'file': case.export('svg')}] +
                    ([{'kind': 'speedscope', 'file': case.export('speedscope'), 'page': page}] if page else [])):
            copy = os.path.join(case.data, 'page.' + {'html': 'html', 'svg': 'svg'}.get(job['kind'], 'speedscope.json'))
            shutil.copy(job['file'], copy)
            jobs.append({**job, 'file': copy})
            owners.append((case, visible(best)))
    path = os.path.join(cases[0].data, 'jobs.json')
    with open(path, 'w') as f:
        json.dump(jobs, f)
    p = subprocess.run(['node', os.path.join(READERS, 'open.mjs'), path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       env={**os.environ, 'FK_CHROMIUM': os.environ.get('FK_CHROMIUM', '/usr/bin/chromium')})
    lines = p.stdout.decode().splitlines()
    if len(lines) != len(jobs):
        yield cases[0].name, f'browser: {p.stderr.decode("utf-8", "replace")[:500]}'
        return
    for (case, best), job, line in zip(owners, jobs, lines):
        for fault in judge(case, best, job, json.loads(line)):
            yield case.name, f"{job['kind']} in Chromium: {fault}"


def judge(case, best, job, got):
    if got.get('failed') or (got['complaints'] and job['kind'] != 'speedscope'):
        yield got.get('failed') or got['complaints']
        return
    if job['kind'] == 'html':
        if len(got['requests']) != 1:
            yield f"requests {got['requests']}"
        if not got['title'].startswith('shop ') or got['heading'] != got['title'] or not got['whole'].startswith('total, total '):
            yield f"{got['title']!r} {got['whole']!r}"
        if not got['found'].startswith('found: ') or not any(label.startswith(best) for label in got['hits']):
            yield f"search for {best!r}: {got['found']!r} {got['hits'][:2]}"
        if not 0 < got['narrow'] <= got['frames'] or got['back'] != got['frames'] or not got['tip'].strip():
            yield f"zoom: {got['narrow']} of {got['frames']}, then {got['back']}"
        known = {visible(n) for n in case.sums} | {'total'}
        names = {label.split(', total ')[0] for label in got['labels']}
        if names - known:
            yield f'names {sorted(names - known)[:3]}'
    elif job['kind'] == 'svg':
        if got['root'] != 'svg' or got['errors'] or got['scripts'] or got['frames'] < 2 or len(got['requests']) != 1:
            yield got
    elif 'shop' not in got['title'] or case.type['type'].split(':')[-4] not in got['text'] or 'Symbol Name' not in got['table']:
        yield {k: str(got[k])[:200] for k in ('title', 'text', 'complaints')}
    elif case.name == 'go' and best.split('.')[-1] not in got['table'].split('Symbol Name')[1][:300]:
        yield f"the first symbol is not {best}: {got['table'][:300]}"


# ---- what npm brings ----

def npm_readers(build):
    """node_modules with the pinned readers, or why there is none."""
    if not shutil.which('npm') or not shutil.which('node'):
        return None, 'no npm'
    folder = os.path.join(build, 'readers')
    os.makedirs(folder, exist_ok=True)
    shutil.copy(os.path.join(READERS, 'package.json'), folder)
    p = subprocess.run(['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-progress'], cwd=folder,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return (os.path.join(folder, 'node_modules'), '') if p.returncode == 0 else (None, 'npm brings no readers: ' + p.stderr.decode()[-200:].strip())


def check_profiler_cli(case, modules):
    tool = ['node', os.path.join(modules, '@firefox-devtools/profiler-cli/dist/profiler-cli.js')]
    out = case.export('firefox')
    copy = os.path.join(case.data, 'page.firefox.json')
    shutil.copy(out, copy)
    env = {**os.environ, 'HOME': case.data}
    p = subprocess.run([*tool, 'load', copy], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env)
    if p.returncode:
        yield f'profiler-cli: {p.stdout.decode("utf-8", "replace")[-400:]}'
        return
    try:
        threads = len(json.loads(read(copy).decode('utf-8'))['threads'])
        found = Counter()
        for i in range(threads):
            p = subprocess.run([*tool, 'thread', 'functions', '--json', '--limit', '0', '--thread', f't-{i}'], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=env)
            answer = json.loads(p.stdout.decode('utf-8'))
            scale = 1000000 if answer.get('weightType') == 'tracing-ms' else 1
            for f in answer['functions']:
                found[f['name']] += round(f['selfSamples'] * scale)
        want = Counter()
        for name, own in case.self.items(): # it takes what stands before a '!' for a library
            want[name.rsplit('!', 1)[-1]] += own
        yield from differs('profiler-cli', {k: v for k, v in found.items() if v}, want)
    finally:
        subprocess.run([*tool, 'stop'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)


# ---- PGO ----

def preprofile(path, tmp):
    out = os.path.join(tmp, 'preprofile')
    subprocess.run(['go', 'tool', 'preprofile', '-i', path, '-o', out], check=True, stderr=subprocess.PIPE)
    return read(out)


def check_pgo(binary, tmp):
    """200 entries of one program: the compiler reads the same of both, decides the same, and one is a tenth."""
    load, entries, data = (os.path.join(tmp, n) for n in ('load', 'entries', 'pgo-data'))
    source = os.path.join(READERS, 'load')
    os.mkdir(entries)
    env = {**os.environ, 'GOFLAGS': '-mod=mod', 'GOCACHE': os.environ.get('GOCACHE') or os.path.expanduser('~/.cache/go-build')}
    subprocess.run(['go', 'build', '-o', load, '.'], cwd=source, check=True, env=env)
    subprocess.run([load, entries, '200'], check=True, stderr=subprocess.DEVNULL)
    files = sorted(os.path.join(entries, f) for f in os.listdir(entries))
    for at in range(0, len(files), 50):
        subprocess.run([binary, 'push', '--data', data, '--labels', '{service_name="load"}', *files[at:at + 50]], check=True,
                       stdout=subprocess.DEVNULL)
    made = {}
    for form in ('pprof', 'pgo'):
        made[form] = os.path.join(tmp, 'merged.' + form)
        subprocess.run([binary, 'export', '--data', data, '--query', '{}', '--format', form, '--output', made[form]], check=True,
                       stderr=subprocess.DEVNULL)
    raw = os.path.join(tmp, 'raw.pb.gz')
    subprocess.run(['go', 'tool', 'pprof', '-proto', '-output', raw, *files], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sizes = [sum(os.path.getsize(f) for f in files), os.path.getsize(raw), os.path.getsize(made['pprof']), os.path.getsize(made['pgo'])]
    print('pgo: 200 entries {} bytes, merged by go tool pprof {}, by flamekeep {}, as pgo {}: {:.1f} and {:.1f} times smaller'.format(
        *sizes, sizes[0] / sizes[3], sizes[1] / sizes[3]))
    if sizes[1] < 10 * sizes[3]:
        yield 'not ten times smaller than the raw merge'
    if preprofile(made['pprof'], tmp) != preprofile(made['pgo'], tmp):
        yield 'the compiler reads another graph'
    said = {}
    for form, path in made.items():
        p = subprocess.run(['go', 'build', '-pgo=' + path, '-gcflags=-m', '-o', os.devnull, '.', ], cwd=source, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env=env)
        said[form] = p.stderr
        if p.returncode or b'inlining call' not in p.stderr:
            yield f'go build -pgo: {p.stderr.decode()[:300]}'
    plain = subprocess.run(['go', 'build', '-pgo=off', '-gcflags=-m', '-o', os.devnull, '.'], cwd=source, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env=env).stderr
    if said['pprof'] != said['pgo']:
        yield 'the compiler decides otherwise'
    print(f"pgo: {said['pgo'].count(b'inlining call')} calls inlined, without a profile {plain.count(b'inlining call')}")


# ---- all ----

def cases_of(binary, tmp, corpus, only):
    hostile = os.path.join(tmp, 'hostile.pb.gz')
    with gzip.open(hostile, 'wb') as f:
        f.write(hostile_pprof())
    wanted = [('hostile', hostile, 0), ('hostile-cpu', hostile, 1)]
    if corpus:
        wanted += [('go', os.path.join(corpus, 'pprof/cs__default.pgo'), 1), ('heap', os.path.join(corpus, 'pprof/local__go119_allocs.pb.gz'), 3),
                   ('perf', os.path.join(corpus, 'perf-script/ffprof__upgrades__graphviz.perf.gz'), 0),
                   ('jfr', os.path.join(corpus, 'jfr/jfrparser__async-profiler.jfr.gz'), 1)]
    return [Case(binary, tmp, name, path, pick) for name, path, pick in wanted if only in name]


def main(args):
    quick = '--quick' in args
    only = args[args.index('-k') + 1] if '-k' in args else ''
    corpus = find_corpus()
    tools = corpus and os.path.join(os.path.dirname(os.path.abspath(corpus)), 'tools')
    have_go, have_dot = shutil.which('go'), shutil.which('dot')
    have_browser = os.path.exists(os.environ.get('FK_CHROMIUM', '/usr/bin/chromium')) and os.path.isdir(os.path.join(HERE, '../../ui/node_modules/playwright-core'))
    checks = [check_json_tables, check_speedscope, check_firefox, check_svg, check_html, check_zip]
    for there, check, why in ((have_dot, check_dot, 'Graphviz (dot)'), (have_go and not quick, check_pprof, 'go tool pprof')):
        if there:
            checks.append(check)
        elif not quick or check is check_dot:
            print(f'SKIP: no {why}')
    if tools and os.path.exists(os.path.join(tools, 'otlp_oracle.py')):
        checks.append(lambda case: check_otlp(case, tools))
    else:
        print('SKIP: no decoder of OTLP beside a folder of foreign profiles (FK_CORPUS, ../shared/corpus)')
    passed = failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        cases = cases_of(args[0], tmp, corpus, only)
        modules = None
        if not quick:
            modules, why = npm_readers(os.path.dirname(os.path.abspath(args[0])))
            if modules:
                checks.append(lambda case: check_profiler_cli(case, modules))
            else:
                print(f'SKIP: {why}')
        for case in cases:
            for check in checks:
                try:
                    faults = list(check(case))
                except Exception as e: # a reader that cannot read
                    faults = [f'{getattr(check, "__name__", "reader")}: {type(e).__name__}: {e}']
                passed, failed = passed + (not faults), failed + bool(faults)
                for fault in faults[:5]:
                    print(f'FAILED {case.name}: {fault}')
        if not quick and have_browser:
            faults = list(check_browser(cases, modules and os.path.join(modules, 'speedscope/dist/release')))
            passed, failed = passed + 3 * len(cases) - len(faults), failed + len(faults)
            for name, fault in faults:
                print(f'FAILED {name}: {fault}')
        elif not quick:
            print('SKIP: no Chromium (FK_CHROMIUM) or no playwright-core in ui/node_modules')
        if not quick and have_go and not only:
            faults = list(check_pgo(args[0], tmp))
            passed, failed = passed + (not faults), failed + len(faults)
            for fault in faults:
                print(f'FAILED pgo: {fault}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
