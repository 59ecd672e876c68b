#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""Time to acknowledgement at rest:  bench/acknowledge.py FLAMEKEEP        FK_RATE (50) pushes a second for FK_SECONDS (20)

Input: one pprof of 500 stacks made here, over one connection; each push is sent at its time, not when the one before came back.
Printed: p50, p90, p99 beside a bare append of 64 KiB with fdatasync on the same disk in the same run, and their ratios.
"""
import os, sys, tempfile, time

from common import Client, Server, made_profile, share, syncs


def main(args):
    rate, seconds = int(os.environ.get('FK_RATE', 50)), int(os.environ.get('FK_SECONDS', 20))
    took, late = [], 0.0
    with tempfile.TemporaryDirectory() as tmp:
        with open(made_profile(args[0], tmp), 'rb') as f:
            body = f.read()
        floor = syncs(tmp, 2.0, 65536)
        server = Server(args[0], os.path.join(tmp, 'data'))
        server.start()
        client, first, begin = Client(server.port), int(time.time()) - 3600, time.monotonic()
        for i in range(rate * seconds):
            due = begin + i / rate
            time.sleep(max(0.0, due - time.monotonic()))
            late = max(late, time.monotonic() - due)
            query = {'name': f'svc-{i % 50:02d}.cpu', 'format': 'pprof', 'from': first + i, 'until': first + i + 1}
            sent = time.monotonic()
            status, _, answer = client.request('POST', '/ingest', query, body)
            took.append((time.monotonic() - sent) * 1000)
            if status != 200:
                raise RuntimeError(answer[:300])
        server.stop()
    took.sort()
    print(f'{len(took)} pushes of {len(body)} bytes, {rate} a second, the client itself late by at most {late * 1000:.1f} ms')
    for part in (.5, .9, .99):
        print(f'p{part * 100:.0f}: {share(took, part):.2f} ms; bare fdatasync of 64 KiB {share(floor, part):.2f} ms; '
              f'ratio {share(took, part) / share(floor, part):.1f}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
