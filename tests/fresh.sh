#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves the first command on machines that have nothing:  sudo tests/fresh.sh [--keep] [bookworm] [trixie]
#
# For each suite: a minimal Debian by debootstrap (cached in build/fresh), /proc mounted, a clean clone of the commit copied
# in; there ./run.sh until the server is up and lists its own profile, again for the time of a second start, then
# ./test.sh quick. The package mirror, proxies and the npm registry are those of this machine's own configuration.
set -u
cd "$(dirname "$0")/.." || exit 1
. tools/lib.sh

# ---- inside of the new machine ----

now_ms() { local t=${EPOCHREALTIME/[.,]/}; echo $((t / 1000)); }

# first_run LOG SECONDS PATTERN: ./run.sh until its output has a line that begins so. UP: milliseconds until the server was up,
# DONE: from there until that line, empty when it did not come.
first_run() {
    local log=$1 limit=$2 pattern=$3 from pid t
    UP='' DONE=''
    from=$(now_ms)
    : >"$log"
    ./run.sh $WHERE >"$log" 2>&1 &
    pid=$!
    for ((t = 0; t < limit * 20; t++)); do
        if [ -z "$UP" ] && grep -q '^Flamekeep is up' "$log"; then
            UP=$(($(now_ms) - from))
            from=$(now_ms)
        fi
        if [ -n "$UP" ] && grep -q "^$pattern" "$log"; then
            DONE=$(($(now_ms) - from))
            break
        fi
        grep -q '^No profile has arrived' "$log" && break
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
    kill -TERM $pid 2>/dev/null
    wait $pid
    [ -n "$DONE" ] || tail -n 20 "$log"
}

first_command() {
    first_run build/fresh-run1.log 1500 'A flame graph: '
    [ -n "$UP" ] || { echo 'fresh: FAILED: the first run ended without a server'; return 1; }
    echo "fresh: first run: the server is up after $((UP / 1000)) s"
    if [ -n "$DONE" ] && [ "$DONE" -le 30000 ]; then
        echo "fresh: its own profile is listed $DONE ms later"
    else
        echo "fresh: FAILED: no profile of its own within 30 s of the start"
        BAD=1
    fi
    first_run build/fresh-run2.log 60 'Flamekeep is up'
    [ -n "$UP" ] && [ "$UP" -lt 2000 ] || { echo "fresh: FAILED: the second run is up after ${UP:-no} ms, not under 2 s"; return 1; }
    echo "fresh: second run: up after $UP ms"
}

inside() {
    BAD=0 WHERE=''
    mkdir -p build
    # The network is the outer machine's: somebody there may have the port.
    (exec 3<>/dev/tcp/127.0.0.1/4040) 2>/dev/null && WHERE='--listen 127.0.0.1:0'
    if [ -f src/cli/main.c ]; then
        first_command || BAD=1
    else
        echo 'fresh: no src/cli/main.c in this commit: only the build and the tests are tried'
    fi
    ./test.sh quick || BAD=1
    exit $BAD
}

# ---- outside ----

machine_mirror() { # the archive that this machine takes Debian from
    apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 'Identifier: Packages' 2>/dev/null |
        sed -n 's/^Debian|//p' | head -n 1
}

base_of() { # base_of SUITE: build/fresh/base-SUITE.tar.gz
    local tar=build/fresh/base-$1.tar.gz folder mirror
    [ -s "$tar" ] && return 0
    mirror=$(machine_mirror)
    [ -n "$mirror" ] || { say "no Debian archive in this machine's apt sources (apt-get update may be due)"; return 1; }
    folder=$(mktemp -d)
    say "debootstrap $1"
    if debootstrap --variant=minbase "$1" "$folder" "$mirror" >"build/fresh/debootstrap-$1.log" 2>&1 &&
        tar -C "$folder" -czf "$tar.part" . && mv "$tar.part" "$tar"; then
        rm -rf --one-file-system "$folder"
        return 0
    fi
    tail -n 5 "build/fresh/debootstrap-$1.log" >&2
    rm -rf --one-file-system "$folder" "$tar.part"
    return 1
}

settings_into() { # what this machine needs to reach archives and registries
    local root=$1 registry
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null
    apt-config dump 2>/dev/null | grep -i -E '^Acquire::(http|https|ftp)::(Proxy|CaInfo)' >"$root/etc/apt/apt.conf.d/90machine"
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp -rL /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/" 2>/dev/null
    registry=$(npm config get registry 2>/dev/null)
    [ -z "$registry" ] || [ "$registry" = undefined ] || echo "registry=$registry" >"$root/root/.npmrc"
}

leave() {
    [ -n "${ROOT:-}" ] || return
    umount "$ROOT/var/cache/apt/archives" 2>/dev/null
    umount "$ROOT/proc" 2>/dev/null || umount -l "$ROOT/proc" 2>/dev/null
    if [ -n "$KEEP" ]; then
        say "kept: $ROOT"
    elif ! grep -q " $ROOT/" /proc/mounts; then
        rm -rf --one-file-system "$ROOT"
    fi
    ROOT=
}

one() {
    local suite=$1 code
    base_of "$suite" || return 1
    ROOT=$(mktemp -d)
    chmod 755 "$ROOT"
    tar -C "$ROOT" -xzf "build/fresh/base-$suite.tar.gz" || return 1
    settings_into "$ROOT"
    mkdir -p "build/fresh/debs-$suite" "$ROOT/var/cache/apt/archives"
    mount --bind "build/fresh/debs-$suite" "$ROOT/var/cache/apt/archives" || return 1
    mount -t proc proc "$ROOT/proc" || return 1
    git -c safe.directory='*' clone -q --no-hardlinks . "$ROOT/flamekeep" || return 1
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb \
        chroot "$ROOT" /flamekeep/tests/fresh.sh --inside
    code=$?
    leave
    return $code
}

main() {
    local suite bad=0
    KEEP='' ROOT=''
    case ${1:-} in
    --inside) inside ;;
    -h | --help) sed -n '3,/^set -u/p' "$0" | sed -n 's/^# \{0,1\}//p'; exit 0 ;;
    --keep) KEEP=1; shift ;;
    esac
    [ "$(id -u)" = 0 ] || die 'debootstrap, chroot and mount need root: sudo tests/fresh.sh'
    need debootstrap git || exit 1
    [ $# -gt 0 ] || set -- bookworm trixie
    mkdir -p build/fresh
    for suite in "$@"; do
        say "== $suite"
        if (trap leave EXIT; trap 'exit 130' INT TERM; one "$suite") 2>&1 | tee "build/fresh/$suite.log"; [ "${PIPESTATUS[0]}" = 0 ]; then
            echo "$suite: passed"
        else
            echo "$suite: FAILED (build/fresh/$suite.log)"
            bad=1
        fi
    done
    exit $bad
}
main "$@"
