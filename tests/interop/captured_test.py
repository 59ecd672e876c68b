#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""Recorded requests of real clients, replayed:  captured_test.py FLAMEKEEP [-k TEXT]

Each request goes to a server with its own headers and framing. The entries that it made are compared with what decoders
independent of Flamekeep found in the body: types, totals, number of samples, labels, time. Folders: FK_CORPUS,
../shared/corpus, in it captured/CLIENT/{NN.json,NN.body,expected.json}. What Flamekeep does not decode yet is listed as skipped.
"""
import datetime, http.client, json, os, re, sys, tempfile, urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'fault'))
from server import Client, Server

LATER = {'speedscope': 'speedscope'}
OWN_HEADERS = {'host', 'content-length', 'transfer-encoding', 'connection', 'upgrade', 'http2-settings', 'te', 'expect'}


def folder():
    for path in (os.environ.get('FK_CORPUS'), os.path.join(HERE, '../../../shared/corpus')):
        if path and os.path.isdir(os.path.join(path, 'captured')):
            return os.path.join(path, 'captured')
    return None


def is_otlp(want):
    return 'v1development' in want.get('path', '')


def reason_to_skip(want):
    """What this request needs that is not there yet, or None."""
    path = want.get('path', '').split('?')[0]
    if is_otlp(want):
        return None
    if not path.endswith(('/ingest', '/Push')):
        return 'no write request'
    return LATER.get((want.get('query') or {}).get('format'))


def requests(root, only):
    for client in sorted(os.listdir(root)):
        index = os.path.join(root, client, 'expected.json')
        if not os.path.isfile(index):
            continue
        with open(index) as f:
            for want in json.load(f):
                name = f"{client}/{want['request']}"
                if only in name and os.path.isfile(os.path.join(root, client, want['request'] + '.body')):
                    yield name, os.path.join(root, client, want['request']), want


def send(port, base, want):
    with open(base + '.json') as f:
        seen = json.load(f)
    with open(base + '.body', 'rb') as f:
        body = f.read()
    # A prefix stands for a proxy that cuts it off.
    target = re.sub(r'^/(prefix|sub)(?=/)', '', seen.get('target') or want['path'])
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
    connection.putrequest(seen['method'], target, skip_accept_encoding=True)
    for name, value in seen['headers']:
        if name.lower() not in OWN_HEADERS and not name.startswith(':'):
            connection.putheader(name, value)
    if 'chunked' in str(seen.get('framing')):
        connection.putheader('Transfer-Encoding', 'chunked')
        connection.endheaders()
        for at in range(0, len(body), 8192):
            piece = body[at:at + 8192]
            connection.send(b'%x\r\n%s\r\n' % (len(piece), piece))
        connection.send(b'0\r\n\r\n')
    else:
        connection.putheader('Content-Length', str(len(body)))
        connection.endheaders(body)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    # gRPC, here over HTTP/1.1, always answers 200; a failure stands in the header.
    return 400 if answer.headers.get('grpc-status', '0') != '0' else answer.status, text


def nanos(text):
    whole, fraction = re.match(r'(.*?)(?:\.(\d+))?Z$', text).groups()
    seconds = datetime.datetime.fromisoformat(whole + '+00:00').timestamp()
    return int(seconds) * 10**9 + int((fraction or '0').ljust(9, '0'))


# Event of a JFR -> name, type and unit of the count, of the amount, period type, what the amount is summed from.
JFR = {
    'jdk.ObjectAllocationInNewTLAB': ('memory', 'alloc_in_new_tlab_objects:count', 'alloc_in_new_tlab_bytes:bytes',
                                      'space:bytes', 'tlabSize bytes'),
    'profiler.LiveObject': ('memory', 'live:count', 'inuse_space:bytes', 'objects:count', 'allocationSize bytes'),
    'jdk.JavaMonitorEnter': ('mutex', 'contentions:count', 'delay:nanoseconds', 'mutex:count', 'duration ns'),
    'jdk.ThreadPark': ('block', 'contentions:count', 'delay:nanoseconds', 'block:count', 'duration ns'),
}
CPU = ('process_cpu', 'samples:count', 'cpu:nanoseconds', 'cpu:nanoseconds')
WALL = ('wall', 'samples:count', 'wall:nanoseconds', 'wall:nanoseconds')


def jfr_families(want):
    """[(name, type of the count, of the amount, period type), [(labels, events, count, amount)]] of a recording."""
    period = 10**9 // int(want['query']['sampleRate'])
    for event, sets in want['jfr']['per_label_set'].items():
        if event == 'jdk.ExecutionSample':
            yield CPU, [(s['labels'], s['events'], s['events'], s['events'] * period) for s in sets]
        elif event == 'profiler.WallClockSample':
            yield WALL, [(s['labels'], s['events'], s['samples'], s['samples'] * period) for s in sets]
            running = [(s['labels'], None, s.get('samples state STATE_RUNNABLE', 0)) for s in sets]
            yield CPU, [(labels, n, count, count * period) for labels, n, count in running]
        else:
            yield JFR[event][:4], [(s['labels'], s['events'], s['events'], s[JFR[event][4]]) for s in sets]


def jfr_profiles(want):
    labels = {**want['name_labels'], 'service_name': want['app'], 'pyroscope_spy': want['query']['spyName'],
              'jfr_event': want['jfr']['active_settings']['event'][0]}
    for (name, count, amount, period), sets in jfr_families(want):
        events = [s[1] for s in sets]
        yield [(f'{name}:{count}:{period}', sum(s[2] for s in sets)), (f'{name}:{amount}:{period}', sum(s[3] for s in sets))], \
            None if None in events else sum(events), labels, None


def label_set_differences(client, want, new):
    """Labels that came beside the recording select its samples."""
    ids = {e['id'] for e in new}
    for (name, count, amount, period), sets in jfr_families(want):
        for labels, _, n, total in sets:
            if not labels:
                continue
            query = ','.join(f'{k}="{v}"' for k, v in sorted(labels.items()))
            for type_id, value in ((f'{name}:{count}:{period}', n), (f'{name}:{amount}:{period}', total)):
                got = [client.get('/api/v1/top', id=e['id'], type=type_id, limit=1, **{f'attr.{k}': v for k, v in labels.items()})
                       for e in client.entries(query='{%s}' % query, type=type_id) if e['id'] in ids]
                if [g[1]['total'] for g in got] != [value]:
                    yield f"{type_id} of {query}: {[g[1].get('total', g) for g in got]}, not {value}"


def otlp_labels(resource):
    for name, value in resource.items():
        if not name.startswith(('process.pid', 'process.command', 'process.parent_pid', 'container.id', 'thread.')):
            yield name, str(value)


def otlp_types(kind, unit, total, period_type, period):
    name = 'process_cpu' if kind in ('samples', 'cpu') else kind
    of = f"{period_type['type']}:{period_type['unit']}"
    yield f'{name}:{kind}:{unit}:{of}', total
    if unit == 'count' and period_type['unit'] == 'nanoseconds':
        yield f"{name}:{period_type['type']}:nanoseconds:{of}", total * period


def otlp_profiles(want, base):
    if 'otlp' in want:
        resources = want.get('resources_resolved') or [p['resource'] for p in want['otlp']['profiles']]
        found = [(p['sample_types'][0]['type'], p['sample_types'][0]['unit'], p['totals'][0], p['period_type'], p['period'],
                  p['n_samples'], p['time']) for p in want['otlp']['profiles']]
    else:
        with open(base + '.body') as f:
            body = json.load(f)
        strings, attrs = body['dictionary']['stringTable'], [p['resource'] for p in want['json']['profiles']]
        resources = [{k: strings[v['stringValueStrindex']] if 'stringValueStrindex' in v else next(iter(v.values()))
                      for k, v in r.items()} for r in attrs]
        profiles = [p for r in body['resourceProfiles'] for s in r['scopeProfiles'] for p in s['profiles']]
        found = [(*w['sample_type'], w['total'], {k: strings[p['periodType'].get(k + 'Strindex', 0)] for k in ('type', 'unit')},
                  int(p['period']), w['n_samples'], int(p['timeUnixNano'])) for w, p in zip(want['json']['profiles'], profiles)]
    assert len(resources) == len(found)
    for resource, (kind, unit, total, period_type, period, samples, time) in zip(resources, found):
        labels = dict(otlp_labels(resource))
        labels['service_name'] = labels.get('service.name') or labels.get('process.executable.name') or 'unknown_service'
        yield list(otlp_types(kind, unit, total, period_type, period)), samples, labels, time


def expected_profiles(want, base):
    """[(types with totals or [(None, total)], samples or None, labels, time or None)]"""
    if is_otlp(want):
        yield from otlp_profiles(want, base)
    if 'jfr' in want:
        yield from jfr_profiles(want)
    for p in want.get('profiles', []):
        yield [(t['profile_type'], t['total']) for t in p['types']], p['samples'], p['series_labels'], p.get('time_nanos')
    text = want.get('folded') or want.get('lines')
    if text and not want.get('profiles'):
        labels = dict(want['name_labels'])
        yield [(None, text['total'])], None, labels, None


def differences(entry, wanted):
    types, samples, labels, time = wanted
    got = [(t['type'], t['total']) for t in entry['types']]
    if types[0][0] is None:
        if not got or got[0][1] != types[0][1]: # the second type, if any, is time by the sample rate
            yield f'total {got}, not {types[0][1]}'
    elif {(re.sub(':+(delta)?$', '', n), v) for n, v in got} != set(types):
        yield f'types {got}, not {types}'
    if samples is not None and entry['samples'] != samples:
        yield f"{entry['samples']} samples, not {samples}"
    for name, value in labels.items():
        have = entry['service_name'] if name == 'service_name' else entry['labels'].get(name)
        if not name.startswith('__') and have != value:
            yield f'label {name} is {have!r}, not {value!r}'
    if time and abs(nanos(entry['time']) - time) > 1:
        yield f"time {entry['time']}, not {time}"


def check(server, client, base, want, known):
    status, text = send(server.port, base, want)
    if status != 200:
        yield f'HTTP {status}: {text[:300].decode("utf-8", "replace")}'
    new = [e for e in client.entries() if e['id'] not in known]
    known.update(e['id'] for e in new)
    wanted = list(expected_profiles(want, base))
    if len(new) != len(wanted):
        yield f'{len(new)} entries, not {len(wanted)}'
        return
    left = list(new)
    for w in wanted: # whichever entry fits; with one request's few profiles that is unambiguous
        fits = [(list(differences(e, w)), e) for e in left]
        faults, entry = min(fits, key=lambda f: len(f[0]))
        left.remove(entry)
        yield from faults
    if 'jfr' in want:
        yield from label_set_differences(client, want, new)


def check_alone(binary, base, want):
    with tempfile.TemporaryDirectory() as tmp:
        server = Server(binary, os.path.join(tmp, 'data'), '--retention-age', '-1s', '--no-self-profile')
        server.start()
        yield from check(server, Client(server.port), base, want, set())
        server.stop()


def main(args):
    root = folder()
    if not root:
        print('SKIP-ALL: no folder of recorded requests (FK_CORPUS, ../shared/corpus)')
        return 77
    only = args[2] if args[1:2] == ['-k'] else ''
    passed = failed = 0
    skipped, known = {}, set()
    with tempfile.TemporaryDirectory() as tmp:
        server = Server(args[0], os.path.join(tmp, 'data'), '--retention-age', '-1s', '--no-self-profile')
        server.start()
        client = Client(server.port)
        for name, base, want in requests(root, only):
            reason = reason_to_skip(want)
            if reason:
                skipped[reason] = skipped.get(reason, 0) + (reason != 'no write request')
                continue
            if is_otlp(want): # the collector's four are one export: the same again is not stored again
                faults = list(check_alone(args[0], base, want))
            else:
                faults = list(check(server, client, base, want, known))
            passed, failed = passed + (not faults), failed + bool(faults)
            for f in faults:
                print(f'FAILED {name}: {f}')
        server.stop()
    for reason, n in sorted(skipped.items()):
        if n:
            print(f'SKIP: {n} recorded requests: {reason} is not decoded yet')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
