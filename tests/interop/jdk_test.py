#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""A JVM records itself (jcmd JFR.start), the recording is uploaded, and what the server says is compared with the JDK's own report
of the same file:  jdk_test.py FLAMEKEEP

Needs java, jcmd and jfr of a JDK 17 or later; without them: SKIP."""
import collections, json, os, re, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'fault'))
from server import Client, Server

PROGRAM = '''
public class Busy {
    static final Object LOCK = new Object();
    static volatile Object sink;
    static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static void allocate() { for (int i = 0; i < 2000; i++) sink = new byte[1024 + i]; }
    static void locked() { synchronized (LOCK) { fib(24); } }
    static void parked() { java.util.concurrent.locks.LockSupport.parkNanos(30_000_000); }
    static void loop(String name, Runnable body) {
        Thread t = new Thread(() -> { while (true) body.run(); }, name);
        t.setDaemon(true);
        t.start();
    }
    public static void main(String[] args) throws Exception {
        loop("computes", () -> fib(27));
        loop("allocates", Busy::allocate);
        for (int i = 0; i < 3; i++)
            loop("locks-" + i, Busy::locked);
        loop("parks", Busy::parked);
        System.out.println("ready");
        Thread.sleep(120_000);
    }
}
'''
# Event -> our profile's name, types, and what the amount is summed from.
EVENTS = {
    'jdk.ExecutionSample': ('process_cpu:samples:count:cpu:nanoseconds', None, None),
    'jdk.ObjectAllocationSample': ('memory:alloc_sample_objects:count:space:bytes', 'memory:alloc_sample_bytes:bytes:space:bytes', 'weight'),
    'jdk.JavaMonitorEnter': ('mutex:contentions:count:mutex:count', 'mutex:delay:nanoseconds:mutex:count', 'duration'),
    'jdk.ThreadPark': ('block:contentions:count:block:count', 'block:delay:nanoseconds:block:count', 'duration'),
}


def record(folder):
    """A recording in two chunks of a JVM that computes, allocates, waits and parks for some seconds."""
    with open(os.path.join(folder, 'Busy.java'), 'w') as f:
        f.write(PROGRAM)
    java = subprocess.Popen(['java', os.path.join(folder, 'Busy.java')], stdout=subprocess.PIPE, text=True)
    file = os.path.join(folder, 'busy.jfr')
    try:
        assert java.stdout.readline().strip() == 'ready'
        jcmd = lambda *words: subprocess.run(['jcmd', str(java.pid), *words], check=True, stdout=subprocess.DEVNULL)
        jcmd('JFR.start', 'name=busy', 'settings=profile')
        time.sleep(4)
        jcmd('JFR.dump', 'name=busy', f'filename={folder}/first.jfr') # begins another chunk
        time.sleep(2)
        jcmd('JFR.stop', 'name=busy', f'filename={file}')
    finally:
        java.kill()
        java.wait()
    return file


def nanos(value):
    """PT1M2.5S"""
    h, m, s = re.match(r'PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$', value).groups()
    whole, _, fraction = (s or '0').partition('.')
    return ((int(h or 0) * 60 + int(m or 0)) * 60 + int(whole)) * 10**9 + int(fraction.ljust(9, '0') or 0)


def reported(file):
    """{event: [fields]} as `jfr print` has them."""
    out = subprocess.check_output(['jfr', 'print', '--json', '--stack-depth', '64', '--events', ','.join(EVENTS), file])
    events = collections.defaultdict(list)
    for e in json.loads(out)['recording']['events']:
        events[e['type']].append(e['values'])
    return events


def function(frame):
    return f"{frame['method']['type']['name'].replace('.', '/')}.{frame['method']['name']}"


def self_counts(events):
    leaves = (function(e['stackTrace']['frames'][0]) for e in events if e.get('stackTrace') and e['stackTrace']['frames'])
    return collections.Counter(l for l in leaves if '$$Lambda' not in l)


def checks(client, file):
    with open(file, 'rb') as f:
        status, _, body = client.request('POST', '/api/v1/upload', {'labels': '{service_name="busy"}'}, f.read())
    receipt = json.loads(body)
    yield 'stored', status == 201, body[:300]
    types = {t['type']: (p['id'], t['total']) for p in receipt.get('profiles', []) for t in p['types']}
    for event, events in reported(file).items():
        count, amount, field = EVENTS[event]
        id, total = types.get(count, (None, None))
        yield f'{event}: events', total == len(events) and total > 0, f'{total}, not {len(events)}'
        if amount:
            want = sum(nanos(e[field]) if field == 'duration' else e[field] for e in events)
            got = types[amount][1]
            yield f'{event}: {field}', abs(got - want) <= len(events), f'{got}, not {want}'
        rows = client.get('/api/v1/top', id=id, type=count, limit=1000)[1]['rows']
        have = {r['function']: r['self'] for r in rows}
        # An event that began before a chunk may name a stack that only the chunk before has. Ours looks there, always; the JDK's
        # reader finds some of these and prints null for others: so many more may have one here.
        nulls = sum(not e.get('stackTrace') for e in events)
        for name, n in self_counts(events).most_common(20):
            more = have.get(name, 0) - n
            yield f'{event}: self of {name}', 0 <= more <= nulls, f'{have.get(name)}, not {n}'
            if more:
                print(f'DIFFERS: {event}: {more} at {name} for which the JDK prints no stack')
    threads = {v['value'] for v in client.get('/api/v1/labels/thread/values', query='{service_name="busy"}')[1]['values']}
    yield 'threads', {'computes', 'allocates', 'parks', 'locks-0'} <= threads, sorted(threads)


def main(flamekeep):
    missing = [tool for tool in ('java', 'javac', 'jcmd', 'jfr') if not shutil.which(tool)]
    if missing:
        print(f"SKIP: no {', '.join(missing)} on this machine (a JDK has them)")
        return 77
    good = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        file = record(folder)
        server = Server(flamekeep, os.path.join(folder, 'data'), '--no-self-profile')
        server.start()
        for what, ok, detail in checks(Client(server.port), file):
            good, bad = good + bool(ok), bad + (not ok)
            if not ok:
                print(f'FAILED: {what}: {detail}')
        server.stop()
    print(f'{good} passed, {bad} failed')
    return bad > 0 or good < 10


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
