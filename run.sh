#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh Debian 12 or 13 to a flame graph:  ./run.sh
#
#   ./run.sh [--build-only] [ARGUMENT...]      arguments go on to "flamekeep serve", for instance --listen 127.0.0.1:4041
#
# Installs what is missing with apt (asks for sudo only then), builds the interface and the release server, starts it on
# http://127.0.0.1:4040 with its data in ./data (or $FLAMEKEEP_DATA), prints the address of a flame graph and stays in the
# foreground; Ctrl-C ends it. What is up to date is not built again.
set -u
cd "$(dirname "$0")" || exit 1
. tools/lib.sh

# first_profile: waits until the server lists a profile (its own, at the latest) and prints the address of its flame graph.
# An idle server has nothing to profile in ten seconds, so it is given a little to do meanwhile.
first_profile() {
    local id
    for _ in $(seq 1 300); do
        fetch_often "$URL/api/openapi.json" 30 >/dev/null 2>&1
        id=$(fetch "$URL/api/v1/profiles?limit=1" 2>/dev/null | grep -o -m 1 -E '"id": *"[0-9a-f-]{36}"' | grep -o -E '[0-9a-f-]{36}' | head -n 1)
        if [ -n "$id" ]; then
            say "A flame graph:  $URL/profile?id=$id"
            return 0
        fi
        kill -0 "$SERVER" 2>/dev/null || return 1
        sleep 0.2
    done
    say "No profile has arrived yet; $URL/profiles lists them once one has."
}

stop() {
    trap - INT TERM
    kill $FEED $TAIL 2>/dev/null
    [ -n "${SERVER:-}" ] && kill -TERM "$SERVER" 2>/dev/null && wait "$SERVER"
    exit 0
}

main() {
    local build_only= data=${FLAMEKEEP_DATA:-data} log=build/logs/server.log code
    case ${1:-} in
    -h | --help) sed -n '3,/^set -u/p' "$0" | sed -n 's/^# \{0,1\}//p'; exit 0 ;;
    --build-only) build_only=1; shift ;;
    esac
    mkdir -p build/logs
    build_ui || exit 1
    build_server || exit 1
    if [ -n "$build_only" ]; then
        say 'built: build/release/flamekeep'
        exit 0
    fi
    SERVER='' FEED='' TAIL='' URL=''
    trap stop INT TERM
    start_server "$log" --data "$data" "$@" || exit 1
    say "Flamekeep is up:  $URL      data: $data      Ctrl-C ends it"
    first_profile &
    FEED=$!
    tail -n +1 -s 0.5 -f --pid="$SERVER" "$log" &
    TAIL=$!
    wait "$SERVER"
    code=$?
    [ "$code" = 0 ] || say "the server ended with $code; $log says why"
    exit "$code"
}
main "$@"
