#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""Merging and listing:  bench/query.py FLAMEKEEP        FK_PROFILES (4800) of 50 services with four instances each, sealed into one block

Input: folded text made here; a service has 500 stacks of 4 to 20 frames, and each profile 350 of them with counts of its own.
Printed: for each call the median and the slowest of FK_TIMES (15), the server's processor time, and for merges the samples merged a
second beside what a plain scan of memory (8 bytes a sample, memchr) reaches in the same run; at the end the server's own memory.
"""
import json, os, random, socket, struct, subprocess, sys, tempfile, time, urllib.parse

from common import Client, Server, cpu_seconds, resident, share

SERVICES, INSTANCES, LINES, STEP = 50, 4, 350, 15


def stacks_of(service):
    """Random walks from main() down a program in which each function calls three others."""
    rng, stacks = random.Random(service), []
    while len(stacks) < 500:
        path, at = ['main.main'], 1
        for _ in range(rng.randrange(3, 20)):
            at = (at * 3 + rng.randrange(3)) % 997
            path.append(f'pkg{at % 12}.s{service % 5}func{at}')
        stacks.append(';'.join(path))
    return stacks


def load(port, profiles, begin):
    rng, client = random.Random(1), Client(port)
    pool = [stacks_of(s) for s in range(SERVICES)]
    for i in range(profiles):
        service, instance, at = i % SERVICES, i // SERVICES % INSTANCES, begin + i // (SERVICES * INSTANCES) * STEP
        text = ''.join(f'{stack} {rng.randrange(1, 90)}\n' for stack in rng.sample(pool[service], LINES))
        query = {'name': f'svc-{service:02d}.cpu{{pod=pod-{instance}}}', 'from': at, 'until': at + STEP}
        status, _, answer = client.request('POST', '/ingest', query, text.encode())
        if status != 200:
            raise RuntimeError(answer[:300])


def scan_rate():
    """Bytes a second of a plain search through 256 MiB, the best of five."""
    memory, best = b'\x02' * (256 << 20), 0.0
    for _ in range(5):
        began = time.monotonic()
        memory.find(b'\x01')
        best = max(best, len(memory) / (time.monotonic() - began))
    return best


def measure(server, name, path, query, times, samples=0, scan=0.0):
    client, took, cpu = Client(server.port), [], cpu_seconds(server.process.pid)
    for _ in range(times):
        began = time.monotonic()
        status, _, answer = client.request('GET', path, query, None)
        took.append(time.monotonic() - began)
        if status != 200:
            raise RuntimeError(answer[:300])
    took.sort()
    cpu = (cpu_seconds(server.process.pid) - cpu) / times
    line = f'{name:46s} {share(took, .5) * 1000:7.2f} ms, slowest {took[-1] * 1000:.1f}, processor {cpu * 1000:.1f}, {len(answer)} bytes'
    if samples:
        rate = samples / share(took, .5)
        line += f'; {rate / 1e6:.1f} M samples a second; a scan of 8 bytes a sample is {scan / 8 / rate:.0f} times as fast'
    print(line)


def metric(port, name):
    text = Client(port).get('/metrics')[1]
    return float(next(line.split()[1] for line in text.splitlines() if line.startswith(name + ' ')))


def cancel(server, path, query, times):
    """Callers that leave in the midst of the work: how long it goes on."""
    took = time.monotonic()
    Client(server.port).request('GET', path, query, None)
    took = time.monotonic() - took
    before = metric(server.port, 'flamekeep_cancelled_calls_total')
    for i in range(times):
        s = socket.create_connection(('127.0.0.1', server.port))
        s.sendall(f'GET {path}?{urllib.parse.urlencode(query)} HTTP/1.1\r\nHost: localhost\r\n\r\n'.encode())
        time.sleep(took * (i + 1) / (times + 2))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        s.close()
        time.sleep(took)
    n = metric(server.port, 'flamekeep_cancelled_calls_total') - before
    print(f"{int(n)} of {times} cancelled while they ran; the longest went on for "
          f"{metric(server.port, 'flamekeep_cancelled_call_longest_seconds') * 1000:.1f} ms, "
          f"{int(metric(server.port, 'flamekeep_cancelled_calls_late_total'))} for more than 100 ms")


def main(args):
    profiles, times = int(os.environ.get('FK_PROFILES', 4800)), int(os.environ.get('FK_TIMES', 15))
    begin, scan, kind = int(time.time()) - 7200, scan_rate(), 'process_cpu:samples:count::'
    with tempfile.TemporaryDirectory() as tmp:
        server = Server(args[0], os.path.join(tmp, 'data'), '--no-self-profile')
        server.start()
        load(server.port, profiles, begin)
        server.stop()
        subprocess.run([args[0], 'check', '--data', server.data, '--seal'], check=True, stdout=subprocess.DEVNULL)
        server.start()
        kind = json.loads(Client(server.port).request('GET', '/api/v1/types', {'from': begin}, None)[2])
        kind = next(t['type'] for t in kind['types'] if ':samples:' in t['type'])
        print(f'{profiles} profiles of {SERVICES} services, {profiles * LINES} samples; memory is scanned at {scan / 1e9:.1f} GB/s')
        span = {'type': kind, 'from': begin, 'until': begin + 7200}
        one = dict(span, query='{service_name="svc-07"}')
        measure(server, 'flame graph, one service', '/api/v1/flamegraph', one, times, profiles * LINES // SERVICES, scan)
        measure(server, 'flame graph, all services', '/api/v1/flamegraph', span, times, profiles * LINES, scan)
        measure(server, 'top, all services', '/api/v1/top', span, times)
        measure(server, 'series by service', '/api/v1/series', dict(span, step=STEP, group_by='service_name'), times)
        measure(server, 'list, 100 newest', '/api/v1/profiles', dict(span, limit=100), times)
        measure(server, 'list, 100 largest', '/api/v1/profiles', dict(span, limit=100, sort='-value'), times)
        cancel(server, '/api/v1/flamegraph', span, 20)
        if os.environ.get('FK_WAIT'):
            input(f'port {server.port}, from {begin}, type {kind}; return ends')
        print(f'own memory {resident(server.process.pid):.0f} MiB')
        server.stop()
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
