# SPDX-License-Identifier: Apache-2.0
"""Profiles of addresses, as gperftools and jemalloc write them, against the tool that names them. The profile is pushed as it is, for
its total, and with the tool's names in front (its --raw form), for the functions."""
import re, shutil

from pushed import compare, output

ROW = re.compile(r'^\s*(-?[\d.]+)\s+-?[\d.]+%\s+-?[\d.]+%\s+(-?[\d.]+)\s+-?[\d.]+%\s+(.*?)\s*$')


def tool_of(*names):
    return next(filter(None, map(shutil.which, names)), None)


def report(tool, program, profile, *flags):
    """(total, {function: (self, total)}) of the tool's --text, in bytes, objects or samples."""
    text = output(tool, '--text', '--show_bytes', '--nodefraction=0', '--edgefraction=0', '--nodecount=100000', *flags, program, profile)
    total = re.search(r'^Total: (\d+)', text or '', re.M)
    rows = [m for m in map(ROW.match, (text or '').splitlines()) if m]
    return int(total[1]) if total else 0, {m[3]: (int(float(m[1])), int(float(m[2]))) for m in rows}


def named(tool, program, profile):
    """The --raw form of a local profile: the tool's own names, and the bytes. (Of a local file the tools write their names, but not always
    the bytes; fetched from a server they write both, in this form.)"""
    raw = output(tool, '--raw', program, profile, ok=range(256)) or ''
    symbols, marker, _ = raw.partition('---\n--- ')
    path = profile + '.named'
    kind = raw[len(symbols) + len(marker):].split('\n')[0]
    with open(profile, 'rb') as f, open(path, 'wb') as to:
        to.write(f'{symbols}---\n--- {kind}\n'.encode('latin-1') + f.read())
    return path, symbols.count('\n0x')


def short(name):
    """C++ parameters and a symbol's version are left out of --text."""
    return re.sub(r'<[0-9a-f]{16}>$', '', name)


def checks_of(push, what, tool, program, profile, part, expected, *flags):
    total, rows = report(tool, program, profile, *flags)
    yield f'{what}: the tool has rows', total > 0 and len(rows) > 3, (total, rows)
    plain = push(profile)
    yield f'{what}: stored, nothing left out', plain.status == 201 and not plain.receipt['dropped'], plain.receipt
    slack = lambda n: n / 100000 + 8 # each entry is rounded, by the tool and by us
    have = plain.total(part) or 0
    yield f'{what}: total', abs(have - total) <= slack(total), f'{have}, not {total}'
    path, n = named(tool, program, profile)
    p = push(path)
    yield f'{what}: with {n} names', n > 3 and p.status == 201 and not p.receipt['dropped'], p.receipt
    yield f'{what}: the same total', (p.total(part), p.samples) == (have, plain.samples), (p.total(part), have)
    top = p.top(part)
    yield f'{what}: top of the file', p.top_of_file(part) == top, len(top)
    # The tools leave the allocator's own frames out, so what is equal is what lies below a function.
    for name in ('main', 'both', 'grow_small', 'grow_large', 'drop', 'spin', 'spin_short', 'spin_long'):
        if name in rows:
            yield from compare(f'{what}: total of', {name: top.get(name, (0, 0))[1]}, {name: rows[name][1]}, slack)
    yield f'{what}: {expected} is found', any(expected in n and v[1] for n, v in rows.items()), rows
