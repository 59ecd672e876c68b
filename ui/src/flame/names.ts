// SPDX-License-Identifier: Apache-2.0
// Function names: the package they belong to (for colour), and shorter forms for narrow bars. The end of a name tells most, so the front goes first.

/** What compilers append to the name of a copy of a C function: f.isra.0, f.constprop.1.cold. */
const compilerSuffix = /(\.(isra|part|constprop|cold|lto_priv|localalias)(\.\d+)*)+$/;

const goPath = /^(.*\/)([^/.]+)\./;

function dottedPackage(name: string): string {
    const plain = name.split(/[(<]/)[0]!;
    const parts = plain.split('.');
    if (parts.length < 2) return '';
    const lower: string[] = [];
    for (const p of parts.slice(0, -1)) {
        if (!/^[a-z_]/.test(p)) break;
        lower.push(p);
    }
    return lower.slice(0, 3).join('.') || parts[0]!;
}

/** Package, module, namespace or mapping of a function as far as its name tells; '' where it does not. */
export function packageOf(full: string): string {
    const name = full.replace(compilerSuffix, '');
    const mapping = /^(.*)!0x[0-9a-f]+$/.exec(name);
    if (mapping) return mapping[1]!;
    if (name.includes('::')) return name.replace(/^[<&\s(]+/, '').split('::')[0]!;
    const go = goPath.exec(name);
    if (go) return go[1]! + go[2]!;
    if (name.includes('/')) return name.slice(0, name.lastIndexOf('/'));
    return name.includes('.') ? dottedPackage(name) : '';
}

function stripArguments(name: string): string {
    const at = name.search(/\((?!\*|anonymous|inline)/);
    return at > 0 ? name.slice(0, at) : name;
}

/** The name and shorter forms of it, longest first. */
export function shorterNames(name: string): string[] {
    const out = [name];
    const push = (s: string): void => {
        if (s !== '' && s.length < out[out.length - 1]!.length) out.push(s);
    };
    const plain = name.replace(compilerSuffix, '');
    push(plain.slice(plain.lastIndexOf('/', plain.search(/[(<[]|$/)) + 1));
    push(stripArguments(out[out.length - 1]!));
    const short = out[out.length - 1]!;
    if (short.includes('::')) push(short.split('::').slice(-2).join('::'));
    else push(short.split('.').slice(-2).join('.'));
    push(out[out.length - 1]!.split(/::|\./).pop()!);
    return out;
}

/** The longest form that fits, by a measure of width; '' where nothing readable does. */
export function fitName(name: string, room: number, measure: (text: string) => number): string {
    const forms = shorterNames(name);
    for (const form of forms) if (measure(form) <= room) return form;
    const last = forms[forms.length - 1]!;
    let keep = Math.floor((last.length * room) / Math.max(measure(last), 1));
    while (keep > 1 && measure(last.slice(0, keep) + '…') > room) keep--;
    return keep > 1 ? last.slice(0, keep) + '…' : '';
}
