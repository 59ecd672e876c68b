# SPDX-License-Identifier: Apache-2.0
"""What the measurements share: inputs, the floor of the disk, figures of a process."""
import json, os, random, subprocess, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../tests/fault'))
from server import Client, Server, memory  # noqa: F401


def made_profile(binary, tmp):
    """A pprof by the program itself, from folded text."""
    rng = random.Random(7)
    stacks = {';'.join(f'pkg{rng.randrange(12)}.func{rng.randrange(300)}' for _ in range(rng.randrange(3, 20))): rng.randrange(1, 90)
              for _ in range(500)}
    text = os.path.join(tmp, 'made.folded')
    with open(text, 'w') as f:
        f.writelines(f'{stack} {n}\n' for stack, n in stacks.items())
    folder = os.path.join(tmp, 'made')
    receipt = subprocess.run([binary, 'push', '--data', folder, '--json', '--labels', '{service_name="made"}', text], check=True,
                             stdout=subprocess.PIPE).stdout
    out = os.path.join(tmp, 'made.pb.gz')
    subprocess.run([binary, 'export', '--data', folder, json.loads(receipt)['profiles'][0]['id'], '--format', 'pprof', '--output', out],
                   check=True, stderr=subprocess.DEVNULL)
    return out


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat') as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def resident(pid):
    return memory(pid, 'RssAnon')


def syncs(folder, seconds=1.0, size=32768):
    """Sorted milliseconds of each append of `size` bytes and fdatasync to a preallocated file."""
    path, took = os.path.join(folder, 'floor'), []
    fd = os.open(path, os.O_CREAT | os.O_RDWR)
    os.posix_fallocate(fd, 0, 64 << 20)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        os.pwrite(fd, b'x' * size, len(took) % (64 * 2**20 // size) * size)
        os.fdatasync(fd)
        took.append((time.monotonic() - began) * 1000)
    os.close(fd)
    os.unlink(path)
    return sorted(took)


def share(v, part):
    """The value below which this part of the sorted v lies."""
    return v[min(int(len(v) * part), len(v) - 1)]
