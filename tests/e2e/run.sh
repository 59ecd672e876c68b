#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Drives a headless Chromium through the interface of a running server, which gets a few profiles of a service of its own for it.
# Usage: tests/e2e/run.sh SERVER_URL      environment: FK_CHROMIUM (/usr/bin/chromium), FK_SHOTS (folder for screenshots)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ui=$here/../../ui
if [ $# -ne 1 ]; then
    echo "usage: $0 SERVER_URL" >&2
    exit 2
fi
chromium=${FK_CHROMIUM:-/usr/bin/chromium}
if [ ! -x "$chromium" ]; then
    echo "SKIP: no browser at $chromium; install chromium or name one in FK_CHROMIUM"
    exit 77
fi
[ -d "$ui/node_modules/playwright-core" ] || (cd "$ui" && npm ci --no-progress >&2)
shots=${FK_SHOTS:-$(mktemp -d)}
FK_CHROMIUM=$chromium FK_SHOTS=$shots exec node "$here/main.mjs" "$1"
