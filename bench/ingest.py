#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""Pushing:  bench/ingest.py FLAMEKEEP [PROFILE.pb.gz]        FK_PUSHES (4000) pushes over FK_CONNECTIONS (8) connections

Input: the given pprof, else one of 500 stacks of up to 20 frames, made here; the same bytes at another time each, 50 services.
Printed: acknowledged profiles a second, the server's processor time a profile, time to acknowledgement beside a bare fdatasync loop
on the same disk in the same run, stored bytes a sample, resident memory. Ratios within one run are what to compare.
"""
import json, os, subprocess, sys, tempfile, threading, time, urllib.request

from common import Client, Server, cpu_seconds, made_profile, resident, share, syncs


def push(port, body, numbers, took):
    client, begin = Client(port), int(time.time()) - 3600
    for i in numbers:
        query = {'name': f'svc-{i % 50:02d}.cpu{{pod=pod-{i % 4}}}', 'format': 'pprof', 'from': begin + i, 'until': begin + i + 1}
        began = time.monotonic()
        status, _, answer = client.request('POST', '/ingest', query, body)
        took.append((time.monotonic() - began) * 1000)
        if status != 200:
            raise RuntimeError(answer[:300])


def main(args):
    pushes, connections = int(os.environ.get('FK_PUSHES', 4000)), int(os.environ.get('FK_CONNECTIONS', 8))
    with tempfile.TemporaryDirectory() as tmp:
        with open(args[1] if len(args) > 1 else made_profile(args[0], tmp), 'rb') as f:
            body = f.read()
        floor = syncs(tmp)
        server = Server(args[0], os.path.join(tmp, 'data'), '--no-self-profile')
        server.start()
        pid, took = server.process.pid, []
        threads = [threading.Thread(target=push, args=(server.port, body, range(c, pushes, connections), took))
                   for c in range(connections)]
        cpu, began = cpu_seconds(pid), time.monotonic()
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        seconds, cpu, memory = time.monotonic() - began, cpu_seconds(pid) - cpu, resident(pid)
        server.stop()
        if len(took) != pushes:
            raise RuntimeError(f'{len(took)} of {pushes} pushes were acknowledged')
        subprocess.run([args[0], 'check', '--data', server.data, '--seal'], check=True, stdout=subprocess.DEVNULL)
        server.start()
        with urllib.request.urlopen(f'http://127.0.0.1:{server.port}/api/v1/status') as answer:
            status = json.load(answer)
        server.stop()
    took.sort()
    print(f'{pushes} pushes of {len(body)} bytes over {connections} connections from one Python process')
    print(f'{pushes / seconds:.0f} acknowledged a second, {cpu / pushes * 1e6:.0f} us of processor time each')
    print(f'acknowledged after ms: p50 {share(took, .5):.2f} p99 {share(took, .99):.2f}; bare fdatasync of 32 KiB: '
          f'p50 {share(floor, .5):.2f} p99 {share(floor, .99):.2f}; ratio of the medians {share(took, .5) / share(floor, .5):.1f}')
    print(f"stored: {status['block_bytes'] / max(status['samples'], 1):.2f} bytes a sample in {status['blocks']} block; "
          f'own memory after the pushes {memory:.0f} MiB')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
