#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Arguments: {build}/flamekeep
"""Every method of the compatible services, called by the clients that are generated from the published API (methods/, a
Go program): Connect, gRPC and gRPC-Web, both codecs, HTTP/1.1 and cleartext HTTP/2; health and reflection by gRPC's own
client, descriptors beside the published ones.  methods_test.py FLAMEKEEP"""
import os, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../fault'))
from server import Server


def skip(why):
    print('SKIP-ALL: ' + why)
    sys.exit(77)


def build(folder):
    program = os.path.join(folder, 'methods')
    if not shutil.which('go'):
        skip('no Go: apt install golang-go (1.26 or newer)')
    r = subprocess.run(['go', 'build', '-o', program, '.'], cwd=os.path.join(HERE, 'methods'), capture_output=True, text=True)
    if r.returncode and ('dial tcp' in r.stderr or 'proxy' in r.stderr or 'go.mod requires go' in r.stderr):
        skip('the modules of tests/interop/methods cannot be had: ' + r.stderr.strip().split('\n')[-1])
    if r.returncode:
        print(r.stderr)
        sys.exit(1)
    return program


def main():
    with tempfile.TemporaryDirectory() as folder:
        methods = build(folder)
        server = Server(sys.argv[1], os.path.join(folder, 'data'), '--listen-otlp', 'none')
        server.start()
        try:
            return subprocess.run([methods, f'http://127.0.0.1:{server.port}'], timeout=600).returncode
        finally:
            server.stop()


sys.exit(main())
