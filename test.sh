#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests:  ./test.sh [TARGET...]      without a target: all of them, in about half an hour on two cores.
#
#   quick      the release build, gates, unit tests and a golden smoke, in under three minutes
#   build      interface bundle and release build (GCC), every target
#   gates      tools/check_*
#   unit       unit tests of the release build          clang   the same built by Clang
#   asan       unit and fault tests under AddressSanitizer and UBSan
#   tsan       tests of os, store, http and api under ThreadSanitizer
#   fault      crash, full-disk and kill -9 programs of tests/fault
#   fuzz       every fuzz target on its seeds, then ten seconds of libFuzzer each
#   golden     comparisons with foreign tools and oracles (tests/golden)
#   ui         unit tests of the interface
#   e2e        a real browser and real commands against the release server (tests/e2e)
#   interop    unmodified profiling clients against the release server (FK_INTEROP, else ../shared/interop)
#   soak  bench  fuzz-long  crash-long  coverage      long ones, by name only
#
# Environment: FK_CORPUS, FK_INTEROP (folders of foreign profiles and clients), FK_FUZZ_SECONDS, FK_SEEDS,
# FK_INTEROP_SECONDS (60: the full minute each), FK_INTEROP_CLIENTS ("curl:curl:1": only some of them).
# The last line is "N passed, N failed"; what is skipped says why above it. Logs: build/logs.
set -u
cd "$(dirname "$0")" || exit 1
. tools/lib.sh

DEFAULT='build gates unit clang asan tsan fault fuzz golden ui e2e interop'
PASSED=0 FAILED=0 SKIPPED=0 QUICK=
FAULTS=() SKIPS=()
JOBS=$(nproc)
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

passed() { PASSED=$((PASSED + ${1:-1})); }
failed() { FAILED=$((FAILED + ${2:-1})); FAULTS+=("$1"); say "  FAILED  $1"; }
skipped() { SKIPPED=$((SKIPPED + ${3:-1})); SKIPS+=("$1: $2"); say "  SKIP    $1: $2"; }
ok() { say "  ok      $*"; }

# run_one LANE FOLDER COMMAND...: output to build/logs/LANE/NAME.log, exit code to .rc, seconds to .s
run_one() {
    local lane=$1 name=$2 from=$SECONDS code
    shift 2
    timeout -k 10 "${FK_TIMEOUT:-900}" "$@" >"build/logs/$lane/$name.log" 2>&1 </dev/null
    code=$?
    echo $code >"build/logs/$lane/$name.rc"
    echo $((SECONDS - from)) >"build/logs/$lane/$name.s"
}

# sum_of FILE PATTERN: the sum of the numbers that the second group of the sed pattern catches.
sum_of() { sed -nE "s/$2/\2/p" "$1" | awk '{ n += $1 } END { print n + 0 }'; }

# tally LANE NAME: counts what a finished run_one reports: cmocka, "N passed, N failed", Node's runner, else the exit code.
tally() {
    local lane=$1 name=$2 log=build/logs/$1/$2.log code good bad left
    code=$(cat "build/logs/$lane/$name.rc" 2>/dev/null || echo 255)
    if [ "$code" = 77 ] || grep -q '^SKIP-ALL' "$log"; then
        skipped "$lane $name" "$(grep -m 1 '^SKIP' "$log" | sed -E 's/^SKIP(-ALL)?:? *//')"
        return
    fi
    good=$(sum_of "$log" '^\[  PASSED  \] (.*: )?([0-9]+) test.*')
    bad=$(sum_of "$log" '^\[  FAILED  \] (.*: )?([0-9]+) test\(s\), listed below.*')
    left=$(sum_of "$log" '^\[  SKIPPED \] (.*: )?([0-9]+) test\(s\), listed below.*')
    if [ $((good + bad + left)) = 0 ]; then
        good=$(sed -nE 's/^(#|ℹ) pass ([0-9]+)$/\2/p; s/^([0-9]+) passed, [0-9]+ failed.*/\1/p' "$log" | tail -n 1)
        bad=$(sed -nE 's/^(#|ℹ) fail ([0-9]+)$/\2/p; s/^[0-9]+ passed, ([0-9]+) failed.*/\1/p' "$log" | tail -n 1)
        left=$(sed -nE 's/^(#|ℹ) skipped ([0-9]+)$/\2/p; s/^[0-9]+ passed, [0-9]+ failed, ([0-9]+) skipped.*/\1/p' "$log" | tail -n 1)
    fi
    good=${good:-0} bad=${bad:-0} left=${left:-0}
    if [ "$code" != 0 ] && [ "$bad" = 0 ]; then
        bad=1 # it crashed, hung or says so by its exit code only
    elif [ "$code" = 0 ] && [ $((good + bad + left)) = 0 ]; then
        good=1
    fi
    passed "$good"
    [ "$left" = 0 ] || skipped "$lane $name" "$(grep -m 1 -o "SKIP.*" "$log" | sed -E "s/^SKIP(-ALL)?:? *//")" "$left"
    grep -E '^ *SKIP:' "$log" | sort -u | sed 's/^ */          /' >&2
    if [ "$bad" = 0 ]; then
        ok "$name: $good in $(cat "build/logs/$lane/$name.s") s"
        return
    fi
    failed "$lane $name (exit code $code, $log)" "$bad"
    { grep -E -A 6 '^FAIL' "$log" || grep -E -A 4 'FAILED|ERROR|Error|error:|Assert|not equal|SUMMARY' "$log" || tail -n 15 "$log"; } | head -n 30 |
        sed 's/^/          /' >&2
}

# run_programs LANE FOLDER NAME...: those that the build made, as many at once as there are processors.
run_programs() {
    local lane=$1 folder=$2 name names=()
    shift 2
    for name in "$@"; do
        [ -x "$folder/$name" ] && names+=("$name")
    done
    [ ${#names[@]} -eq 0 ] && { skipped "$lane" 'there is no program of it yet'; return; }
    for name in "${names[@]}"; do
        while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n 2>/dev/null; done
        run_one "$lane" "$name" ${WRAP:-} "$folder/$name" &
    done
    wait
    for name in "${names[@]}"; do tally "$lane" "$name"; done
}

programs() { # programs FOLDER [PATTERN]: names of its C test programs
    local f
    for f in "$1"/${2:-*}_test.c; do [ -f "$f" ] && basename "$f" .c; done
}
scripts() { # scripts FOLDER: its tests; of bench all that can be executed
    local f
    for f in "$1"/*.py "$1"/*.sh; do
        [[ -f $f && ($f == *_test.* || ($1 == bench && -x $f)) ]] && echo "$f"
    done
}

need_c() { need "${BUILD_PACKAGES[@]}" libcmocka-dev "$@"; }

lane_build() {
    build_ui && passed && ok 'ui/dist' || failed 'build ui (build/logs/ui.log)'
    if need_c && compile release; then
        passed
        ok 'build/release'
        [ -x build/release/flamekeep ] && ok "$(build/release/flamekeep version 2>&1 | head -n 1)"
    else
        failed 'build release (build/logs/build-release.log)'
    fi
    return 0
}

lane_gates() {
    need python3 universal-ctags pmccabe gcc || { failed 'gates: packages'; return; }
    have clang-format-14 || have clang-format || need clang-format-14 2>/dev/null || true
    local gate name
    for gate in tools/check_*; do
        [ -x "$gate" ] || continue
        name=$(basename "$gate")
        run_one gates "$name" "$gate"
        tally gates "$name"
        [ "$(cat "build/logs/gates/$name.rc")" = 0 ] && sed 's/^/          /' "build/logs/gates/$name.log" >&2
    done
    run_scripts gates tests/gates
}

lane_unit() {
    need_c && compile release || { failed 'unit: build (build/logs/build-release.log)'; return; }
    run_programs unit build/release $(programs tests/unit)
}

lane_clang() {
    need_c clang && compile clang || { failed 'clang: build (build/logs/build-clang.log)'; return; }
    run_programs clang build/clang $(programs tests/unit)
}

lane_asan() {
    need_c && compile asan || { failed 'asan: build (build/logs/build-asan.log)'; return; }
    run_programs asan build/asan $(programs tests/unit)
    [ -n "$(programs tests/fault)" ] || return 0
    # A simulation that takes half a minute takes ten times as long here; its full length is run in the release build.
    FK_SEEDS=${FK_SEEDS:-1/10} run_programs asan build/asan $(programs tests/fault)
}

lane_tsan() {
    local names
    names=$(for room in os store http api; do programs tests/unit "${room}*"; done)
    need_c && compile tsan || { failed 'tsan: build (build/logs/build-tsan.log)'; return; }
    # Its shadow memory wants the addresses that a kernel with many random bits does not leave free.
    setarch "$(uname -m)" -R true 2>/dev/null && local WRAP="setarch $(uname -m) -R"
    run_programs tsan build/tsan $names
}

lane_fault() {
    local script
    [ -n "$(programs tests/fault)$(scripts tests/fault)" ] || return 0
    need_c && compile release || { failed 'fault: build (build/logs/build-release.log)'; return; }
    [ -z "$(programs tests/fault)" ] || run_programs fault build/release $(programs tests/fault)
    need openssl || say 'fault: the test of TLS will be skipped'
    run_scripts fault tests/fault
}

# run_scripts LANE FOLDER: each *_test.py and *_test.sh. A comment "# Arguments: ..." in its first 40 lines is what it
# gets ({build} is the folder of the build, SCRIPT_BUILD; "# Quick: ..." for the quick run), else the server binary.
run_scripts() {
    local lane=$1 script name line args
    for script in $(scripts "$2"); do
        name=$(basename "$script")
        line=$(head -n 40 "$script" | sed -nE 's/^# Arguments: //p')
        [ -z "$QUICK" ] || line=$(head -n 40 "$script" | sed -nE 's/^# Quick: //p')
        if [ -n "$QUICK" ] && [ -z "$line" ]; then continue; fi
        read -ra args <<<"${line:-{build\}/flamekeep}"
        args=("${args[@]//\{build\}/${SCRIPT_BUILD:-build/release}}")
        if [[ ${args[0]} == build/* && ! -e ${args[0]} ]]; then
            skipped "$lane $name" "${args[0]} is not built from these sources"
            continue
        fi
        run_one "$lane" "$name" "$([[ $script == *.py ]] && echo python3 || echo bash)" "$script" "${args[@]}"
        tally "$lane" "$name"
    done
}

lane_golden() {
    [ -n "$(scripts tests/golden)" ] || return 0
    need_c && compile release || { failed 'golden: build (build/logs/build-release.log)'; return; }
    run_scripts golden tests/golden
}

fuzz_targets() { local f; for f in fuzz/fuzz_*.c; do [ -f "$f" ] && basename "$f" .c; done; }

fuzz_seeds() { # build/seeds/TARGET/*, and what earlier findings left in fuzz/regressions/TARGET
    [ ! -f fuzz/make_seeds.py ] || python3 fuzz/make_seeds.py build/seeds >build/logs/fuzz/seeds.log 2>&1 ||
        failed 'fuzz: seeds (build/logs/fuzz/seeds.log)'
}

lane_fuzz() {
    local t folders seconds=${FK_FUZZ_SECONDS:-10}
    [ -n "$(fuzz_targets)" ] || return 0
    need_c || { failed 'fuzz: packages'; return; }
    fuzz_seeds
    if compile asan; then
        for t in $(fuzz_targets); do
            [ -x "build/asan/$t" ] || { failed "fuzz $t: not built in build/asan"; continue; }
            folders=$(ls -d "build/seeds/$t" "fuzz/regressions/$t" 2>/dev/null)
            [ -n "$folders" ] || { failed "fuzz $t: no seeds; add some to fuzz/make_seeds.py"; continue; }
            run_one fuzz "replay-$t" "build/asan/$t" $folders
            tally fuzz "replay-$t"
        done
    else
        failed 'fuzz: build (build/logs/build-asan.log)'
    fi
    fuzz_run "$seconds"
}

# fuzz_run SECONDS: libFuzzer on every target, two at a time, the finds go to build/logs/fuzz.
fuzz_run() {
    local t
    need clang || { skipped fuzz 'no clang, hence no libFuzzer'; return; }
    echo 'int LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n) { return p && n ? 0 : 0; }' >build/logs/fuzz/try.c
    if ! clang -fsanitize=fuzzer,address build/logs/fuzz/try.c -o build/logs/fuzz/try >/dev/null 2>&1; then
        need libclang-rt-14-dev\|libclang-rt-19-dev\|libclang-rt-dev >&2 || true
        clang -fsanitize=fuzzer,address build/logs/fuzz/try.c -o build/logs/fuzz/try >build/logs/fuzz/try.log 2>&1 ||
            { skipped fuzz 'clang has no libFuzzer here (libclang-rt-*-dev)'; return; }
    fi
    compile fuzz || { failed 'fuzz: build (build/logs/build-fuzz.log)'; return; }
    for t in $(fuzz_targets); do
        mkdir -p "build/fuzz/corpus/$t" "build/seeds/$t"
        while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n 2>/dev/null; done
        run_one fuzz "fuzz-$t" "build/fuzz/$t" -max_total_time="$1" -timeout=20 -rss_limit_mb=2048 -max_len=262144 \
            -artifact_prefix="build/logs/fuzz/$t-" -print_final_stats=1 "build/fuzz/corpus/$t" "build/seeds/$t" &
    done
    wait
    for t in $(fuzz_targets); do tally fuzz "fuzz-$t"; done
}
lane_fuzz_long() { mkdir -p build/logs/fuzz; FK_TIMEOUT=3600; fuzz_seeds; fuzz_run "${FK_FUZZ_SECONDS:-180}"; }

lane_ui() {
    [ -f ui/package.json ] || return 0
    build_ui || { failed 'ui: build (build/logs/ui.log)'; return; }
    passed
    run_one ui npm-test sh -c 'cd ui && npm test'
    tally ui npm-test
}

# with_server LANE: a release server on a free port and a fresh folder; sets URL and SCRATCH
with_server() {
    SCRATCH=$(mktemp -d)
    start_server "build/logs/$1/server.log" --data "$SCRATCH/data" --listen 127.0.0.1:0 && return 0
    failed "$1: the server does not start (build/logs/$1/server.log)"
    rm -rf "$SCRATCH"
    return 1
}
without_server() { # a server that does not end well on SIGTERM is a failure as well
    local code
    kill -TERM "$SERVER" 2>/dev/null
    wait "$SERVER"
    code=$?
    SERVER=
    [ "$code" = 0 ] || failed "$1: the server ended with $code (build/logs/$1/server.log)"
    rm -rf "$SCRATCH"
}

server_or_skip() {
    [ -f src/cli/main.c ] || return 1
    build_ui && need_c curl && compile release && [ -x build/release/flamekeep ] && return 0
    failed "$1: build (build/logs)"
    return 1
}

lane_e2e() {
    server_or_skip e2e || return 0
    run_scripts e2e tests/e2e
    [ -n "${FK_CHROMIUM:-}" ] || have chromium || need chromium || { skipped e2e 'no chromium'; return; }
    need_node || { skipped e2e 'no Node'; return; }
    with_server e2e || return 0
    if ! fetch "$URL/profiles" 2>/dev/null | grep -qi '<html'; then
        failed 'e2e browser: the server gives no interface at /profiles (ui/dist is not in this build)'
        without_server e2e
        return
    fi
    local FK_TIMEOUT=480
    FK_SHOTS=${FK_SHOTS:-$PWD/build/logs/e2e/shots} run_one e2e browser tests/e2e/run.sh "$URL"
    tally e2e browser
    without_server e2e
}

# Client, program that it cannot do without, least seconds, and where it is a way of another one: its folder, environment.
INTEROP='go:go:33 java:mvn:24 java-wall:mvn:24:java:EVENT=wall,APP=interop.java-wall java-otlp:mvn:24:java:FORMAT=otlp python:python3:12 node:node:12 rust:cargo:12 rust-legacy:cargo:35 curl:curl:1 otel:go:1'
lane_interop() {
    local clients=${FK_INTEROP:-../shared/interop} entry name tool least folder settings names=()
    server_or_skip interop || return 0
    need libjemalloc-dev libgoogle-perftools-dev google-perftools || say 'interop: the tests of these producers will be skipped'
    need nghttp2-client python3-h2 curl || say 'interop: the tests of these clients will be skipped'
    run_scripts interop tests/interop
    [ -d "$clients" ] || { skipped interop "no folder of clients ($clients; set FK_INTEROP)" 8; return; }
    with_server interop || return 0
    export FK_TIMEOUT=1500 # the first build of the Rust clients takes minutes
    for entry in ${FK_INTEROP_CLIENTS:-$INTEROP}; do
        IFS=: read -r name tool least folder settings <<<"$entry"
        folder=$clients/${folder:-$name}
        if [ ! -x "$folder/run.sh" ]; then
            skipped "interop $name" "no $folder/run.sh"
        elif ! have "$tool"; then
            skipped "interop $name" "no $tool on this machine"
        else
            names+=("$name")
            [ "${FK_INTEROP_SECONDS:-0}" -le "$least" ] || least=$FK_INTEROP_SECONDS
            while [ "$(jobs -rp | wc -l)" -gt "$JOBS" ]; do wait -n 2>/dev/null; done # the server is one of them
            # shellcheck disable=SC2086 # settings are words
            run_one interop "$name" env ${settings//,/ } "$folder/run.sh" "$URL" "$least" &
        fi
    done
    for entry in $(jobs -rp); do [ "$entry" = "$SERVER" ] || wait "$entry"; done
    for name in "${names[@]}"; do
        tally interop "$name"
        run_one interop "$name-kept" python3 tests/interop/kept.py "$URL" "$name" "build/logs/interop/$name.log"
        tally interop "$name-kept"
    done
    without_server interop
}

lane_soak() { server_or_skip soak && FK_TIMEOUT=90000 run_scripts soak tests/soak; }
lane_bench() { # its figures are its result
    server_or_skip bench || return 0
    FK_TIMEOUT=3600 run_scripts bench bench
    sed 's/^/          /' build/logs/bench/*.log >&2
}

lane_crash_long() { # about 10,000 seeds where a quick run takes 300
    need_c && compile release || { failed 'crash-long: build (build/logs/build-release.log)'; return; }
    export FK_SEEDS=${FK_SEEDS:-34} FK_TIMEOUT=36000
    run_programs crash-long build/release $(programs tests/unit '*crash') $(programs tests/fault)
    run_scripts crash-long tests/fault
}

lane_coverage() {
    local version cover profdata
    need_c clang llvm && compile coverage || { failed 'coverage: build (build/logs/build-coverage.log)'; return; }
    rm -rf build/coverage/raw
    LLVM_PROFILE_FILE=$PWD/build/coverage/raw/%p-%m.profraw run_programs coverage build/coverage $(programs tests/unit) $(programs tests/fault)
    if [ -f fuzz/replay.c ]; then
        mkdir -p build/logs/fuzz
        fuzz_seeds
        for t in $(fuzz_targets); do
            LLVM_PROFILE_FILE=$PWD/build/coverage/raw/%p-%m.profraw run_one coverage "$t" "build/coverage/$t" "build/seeds/$t"
        done
    fi
    for t in golden fault; do # whole programs: what the server and the command line do
        LLVM_PROFILE_FILE=$PWD/build/coverage/raw/%p-%m.profraw SCRIPT_BUILD=build/coverage run_scripts coverage "tests/$t"
    done
    version=$(clang --version | sed -nE '1s/.*version ([0-9]+).*/\1/p')
    cover=$(command -v "llvm-cov-$version" llvm-cov | head -n 1)
    profdata=$(command -v "llvm-profdata-$version" llvm-profdata | head -n 1)
    "$profdata" merge -sparse build/coverage/raw/*.profraw -o build/coverage/all.profdata || { failed 'coverage: merge'; return; }
    set -- $(find build/coverage -maxdepth 1 -type f -perm -u+x \( -name '*_test' -o -name 'fuzz_*' -o -name flamekeep \))
    "$cover" report -instr-profile=build/coverage/all.profdata "$1" $(printf -- '-object %s ' "${@:2}") src \
        >build/coverage/report.txt 2>/dev/null || { failed 'coverage: report'; return; }
    "$cover" export -format=lcov -instr-profile=build/coverage/all.profdata "$1" $(printf -- '-object %s ' "${@:2}") src \
        >build/coverage/lines.lcov 2>/dev/null
    "$cover" show -instr-profile=build/coverage/all.profdata -format=html -output-dir=build/coverage/html "$1" \
        $(printf -- '-object %s ' "${@:2}") src >/dev/null 2>&1
    python3 tools/coverage_rooms.py build/coverage/report.txt build/coverage/lines.lcov >&2 && passed ||
        failed 'coverage: a room or a parser is under its mark'
    say '          every line: build/coverage/html/index.html, every file: build/coverage/report.txt'
}

main() {
    local lane from
    [ "${1:-}" = --help ] || [ "${1:-}" = -h ] && { sed -n '3,/^set -u/p' "$0" | sed -n 's/^# \{0,1\}//p'; exit 0; }
    [ $# -gt 0 ] || set -- $DEFAULT
    if [ "$1" = quick ]; then
        QUICK=1
        set -- build gates unit golden
    fi
    for lane in "$@"; do
        [ "$(type -t "lane_${lane//-/_}")" = function ] || die "no target \"$lane\"; ./test.sh --help lists them"
    done
    mkdir -p build/logs
    trap 'stop_server' EXIT
    for lane in "$@"; do
        say "== $lane"
        from=$SECONDS
        rm -rf "build/logs/$lane"
        mkdir -p "build/logs/$lane"
        "lane_${lane//-/_}"
        say "   $lane: $((SECONDS - from)) s"
    done
    [ ${#SKIPS[@]} -eq 0 ] || { echo 'Skipped:'; printf '  %s\n' "${SKIPS[@]}"; }
    [ ${#FAULTS[@]} -eq 0 ] || { echo 'Failed:'; printf '  %s\n' "${FAULTS[@]}"; }
    [ "$SKIPPED" = 0 ] || echo "$SKIPPED skipped, for the reasons above"
    echo "$PASSED passed, $FAILED failed"
    [ "$FAILED" = 0 ] && [ "$PASSED" -gt 0 ]
}
main "$@"
