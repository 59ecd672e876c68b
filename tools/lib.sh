# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Shared by run.sh, test.sh and tests/fresh.sh: packages, stamps, the release build. Sourced from the root of the checkout.

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        have sudo || die "missing packages need root: run as root, or install sudo, or install them yourself: $*"
        sudo "$@"
    fi
}

# need PACKAGE...: installs what is missing. "a|b" takes the first that is installed, else the first that apt knows.
need() {
    local spec name missing=()
    for spec in "$@"; do
        local found=
        for name in ${spec//|/ }; do
            installed "$name" && { found=1; break; }
        done
        [ -n "$found" ] || missing+=("$spec")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    have apt-get || die "missing: ${missing[*]}; without apt-get they have to be installed by hand"
    say "installing with apt: ${missing[*]}"
    mkdir -p build/logs
    apt_get update >build/logs/apt.log 2>&1 || say "apt-get update failed (build/logs/apt.log); trying with the lists at hand"
    local names=()
    for spec in "${missing[@]}"; do
        found=
        for name in ${spec//|/ }; do
            apt-cache show "$name" >/dev/null 2>&1 && { found=$name; break; }
        done
        [ -n "$found" ] || { say "apt knows none of: ${spec//|/, }"; return 1; }
        names+=("$found")
    done
    apt_get install -y --no-install-recommends "${names[@]}" >>build/logs/apt.log 2>&1 ||
        { tail -n 20 build/logs/apt.log >&2; say "apt-get install failed; the whole output is in build/logs/apt.log"; return 1; }
}

apt_get() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"; }

# What the server is built with and from. Debian 13 has llhttp as a library, Debian 12 its sources beside Node.
BUILD_PACKAGES=(gcc libc6-dev cmake ninja-build pkgconf\|pkg-config libxxhash-dev libdeflate-dev zlib1g-dev libzstd-dev
    libpcre2-dev libsqlite3-dev libnghttp2-dev libssl-dev libllhttp-dev\|node-llhttp protobuf-compiler python3)

node_is_new_enough() {
    have node && have npm && [ "$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)" -ge 18 ]
}
need_node() {
    node_is_new_enough && return 0
    need nodejs npm ca-certificates && node_is_new_enough || { say "Node 18 or newer and npm are needed for ui/"; return 1; }
}

# hash_of PATH...: one hash over names and bytes of all files below, builds left out.
hash_of() {
    find "$@" \( -name node_modules -o -name dist -o -name .test -o -name .git \) -prune -o -type f -print0 2>/dev/null |
        LC_ALL=C sort -z | xargs -0 -r sha256sum | sha256sum | cut -c1-64
}
stamp_is() { [ "$(cat "$1" 2>/dev/null)" = "$2" ]; }

# The bundle of the interface in ui/dist. Nothing happens while its sources are as they were.
build_ui() {
    [ -f ui/package.json ] || return 0
    local lock sources
    lock=$(hash_of ui/package.json ui/package-lock.json)
    sources=$(hash_of ui docs/reading-profiles.md)
    stamp_is ui/dist/.stamp "$sources" && [ -f ui/dist/manifest.txt ] && return 0
    need_node || return 1
    mkdir -p build/logs
    if ! stamp_is ui/node_modules/.stamp "$lock"; then
        say "npm ci (ui)"
        (cd ui && npm ci --no-audit --no-fund --no-progress) >build/logs/npm.log 2>&1 ||
            { tail -n 20 build/logs/npm.log >&2; say "npm ci failed; the whole output is in build/logs/npm.log"; return 1; }
        echo "$lock" >ui/node_modules/.stamp
    fi
    say "npm run build (ui)"
    (cd ui && npm run build) >build/logs/ui.log 2>&1 ||
        { tail -n 30 build/logs/ui.log >&2; say "the interface does not build; the whole output is in build/logs/ui.log"; return 1; }
    echo "$sources" >ui/dist/.stamp
}

# configure PRESET: cmake, with ccache where that is installed.
configure() {
    if have ccache && [ -z "${CMAKE_C_COMPILER_LAUNCHER:-}" ]; then
        export CMAKE_C_COMPILER_LAUNCHER=ccache
    fi
    cmake --preset "$1" >"build/logs/cmake-$1.log" 2>&1 ||
        { tail -n 20 "build/logs/cmake-$1.log" >&2; say "cmake fails; the whole output is in build/logs/cmake-$1.log"; return 1; }
}

# compile PRESET [TARGET...]
compile() {
    local preset=$1
    shift
    mkdir -p build/logs
    configure "$preset" || return 1
    # Like make: two things at once on two processors.
    cmake --build "build/$preset" -j "$(nproc)" ${1:+--target "$@"} >"build/logs/build-$preset.log" 2>&1 && return 0
    grep -E -A 3 '(error|warning): |^FAILED' "build/logs/build-$preset.log" | cut -c 1-200 | head -n 40 >&2
    say "build/$preset does not build; the whole output is in build/logs/build-$preset.log"
    return 1
}

# The release server at build/release/flamekeep; nothing happens while its sources are as they were.
build_server() {
    local sources
    [ -f src/cli/main.c ] || { say "this checkout has no src/cli/main.c, so there is no server to build"; return 1; }
    sources=$(hash_of src cmake CMakeLists.txt CMakePresets.json ui/dist/manifest.txt tools/*.py)
    stamp_is build/release/.stamp "$sources" && [ -x build/release/flamekeep ] && return 0
    need "${BUILD_PACKAGES[@]}" || return 1
    say "building build/release/flamekeep"
    compile release flamekeep && echo "$sources" >build/release/.stamp
}

# start_server LOG ARGUMENT...: starts `flamekeep serve` in the background; sets SERVER (process id) and URL.
# The address is taken from its log, for port 0 means: any.
start_server() {
    local log=$1 i
    shift
    build/release/flamekeep serve "$@" >"$log" 2>&1 &
    SERVER=$!
    for i in $(seq 1 300); do
        URL=$(grep -o -m 1 -E 'http://[][0-9A-Za-z.:]+' "$log" | head -n 1)
        if [ -n "$URL" ] && [ "${URL##*:}" != 0 ] && fetch "$URL/ready" >/dev/null 2>&1; then
            return 0
        fi
        kill -0 "$SERVER" 2>/dev/null || break
        sleep 0.1
    done
    say "the server is not ready; its log ($log) ends with:"
    tail -n 20 "$log" >&2
    stop_server
    return 1
}
stop_server() {
    [ -n "${SERVER:-}" ] || return 0
    kill -TERM "$SERVER" 2>/dev/null
    wait "$SERVER" 2>/dev/null
    SERVER=
}

# fetch URL: the body on stdout; curl, wget or python3, whichever is there, else bash itself.
fetch() {
    if have curl; then
        curl -fsS --max-time 10 "$1"
    elif have python3; then
        python3 -c 'import sys, urllib.request as u; sys.stdout.buffer.write(u.urlopen(sys.argv[1], timeout=10).read())' "$1"
    else
        local rest=${1#http://} host path
        host=${rest%%/*}
        path=/${rest#*/}
        exec 9<>"/dev/tcp/${host%:*}/${host##*:}" || return 1
        printf 'GET %s HTTP/1.0\r\nHost: %s\r\nConnection: close\r\n\r\n' "$path" "$host" >&9
        awk 'NR == 1 && $2 >= 400 { bad = 1 } body { print } /^\r?$/ { body = 1 } END { exit bad }' <&9
        local code=$?
        exec 9>&-
        return $code
    fi
}

# fetch_often ADDRESS N: N times, in one process where there is one that can; what comes is thrown away.
fetch_often() {
    local i args=()
    if have curl; then
        for ((i = 0; i < $2; i++)); do args+=(-o /dev/null "$1"); done
        curl -fsS --max-time 10 "${args[@]}"
    elif have python3; then
        python3 -c 'import sys, urllib.request as u
for _ in range(int(sys.argv[2])): u.urlopen(sys.argv[1], timeout=10).read()' "$1" "$2"
    else
        for ((i = 0; i < $2; i++)); do fetch "$1" >/dev/null; done
    fi
}
