// SPDX-License-Identifier: Apache-2.0
// The exported page's flame graph. Reads the tree out of the page, asks for nothing else. Names only ever become text.
'use strict';
(() => {
    const data = JSON.parse(document.getElementById('data').textContent);
    const { parent, name, self, total } = data.nodes;
    const count = parent.length;
    const ROW = 20, NARROW = 1;
    const at = (id) => document.getElementById(id);
    const graph = at('graph'), tip = at('tip'), status = at('status'), search = at('search'), reset = at('reset');

    // ---- the tree: parents come before their children ----
    const first = new Int32Array(count).fill(-1), next = new Int32Array(count).fill(-1), last = new Int32Array(count).fill(-1);
    const before = new Int32Array(count).fill(-1), depth = new Int32Array(count), start = new Float64Array(count), end = new Float64Array(count);
    for (let i = 0; i < count; i++) {
        const up = parent[i];
        if (up >= 0) {
            depth[i] = depth[up] + 1;
            start[i] = end[up];
            end[up] += total[i];
            if (last[up] < 0) first[up] = i;
            else { next[last[up]] = i; before[i] = last[up]; }
            last[up] = i;
        }
        end[i] = start[i];
    }

    // ---- text ----
    const shown = (text) => text
        .replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => '[U+' + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0') + ']')
        .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]/g, '\ufffd');
    const names = data.names.map(shown);
    const steps = {
        nanoseconds: [[86400e9, 'd'], [3600e9, 'h'], [60e9, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']],
        bytes: [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']],
    };
    function value(v) {
        const list = Object.hasOwn(steps, data.unit) ? steps[data.unit] : null;
        if (!list) return v + ' ' + shown(data.unit || 'count');
        const [size, unit] = list.find(([s]) => Math.abs(v) >= s) ?? list[list.length - 1];
        return (size > 1 ? (v / size).toFixed(2) : String(v)) + ' ' + unit;
    }
    const share = (v) => (data.total ? ((100 * v) / data.total).toFixed(2) + ' %' : '');
    const describe = (i) => `${names[name[i]]}\ntotal ${value(total[i])}, ${share(total[i])}\nself ${value(self[i])}, ${share(self[i])}`;

    function color(text) {
        let h = 2166136261;
        const dot = Math.max(text.lastIndexOf('.'), text.lastIndexOf('::'), text.lastIndexOf('/'));
        const key = dot > 0 ? text.slice(0, dot) : text;
        for (let i = 0; i < key.length; i++) h = Math.imul(h ^ key.charCodeAt(i), 16777619);
        return `hsl(${18 + ((h >>> 8) % 40)} ${62 + ((h >>> 16) % 20)}% ${70 + ((h >>> 24) % 10)}%)`;
    }
    const colors = names.map((n) => (/(^|!)0x[0-9a-f]+$/.test(n) ? 'var(--grey)' : color(n)));

    // ---- drawing ----
    let zoomed = 0, focused = 0, hits = null, box = new Map();

    function element(i, left, width, up) {
        const e = document.createElement('div');
        e.className = 'f' + (up ? ' up' : '') + (hits && hits[name[i]] ? ' hit' : '');
        e.style.left = left + 'px';
        e.style.top = depth[i] * ROW + 'px';
        e.style.width = Math.max(width, NARROW) + 'px';
        e.style.background = i ? colors[name[i]] : 'var(--grey)';
        e.textContent = width > 24 ? names[name[i]] : '';
        e.tabIndex = -1;
        e.setAttribute('role', 'treeitem');
        e.setAttribute('aria-level', String(depth[i] + 1));
        e.setAttribute('aria-label', describe(i).replaceAll('\n', ', '));
        e.dataset.node = String(i);
        box.set(i, e);
        return e;
    }

    function draw() {
        const width = graph.clientWidth, whole = total[zoomed] || 1, list = document.createDocumentFragment();
        let deepest = 0;
        box = new Map();
        for (let i = parent[zoomed]; i >= 0; i = parent[i]) list.prepend(element(i, 0, width, true));
        const hidden = new Uint8Array(count); // too narrow: so is all below
        for (let i = zoomed; i < count; i++) {
            if (i !== zoomed && (depth[i] <= depth[zoomed] || hidden[parent[i]])) {
                if (depth[i] <= depth[zoomed]) break; // preorder: the subtree is over
                hidden[i] = 1;
                continue;
            }
            const w = (total[i] / whole) * width;
            if (w < NARROW && i !== zoomed) { hidden[i] = 1; continue; }
            list.append(element(i, ((start[i] - start[zoomed]) / whole) * width, w, false));
            deepest = Math.max(deepest, depth[i]);
        }
        graph.replaceChildren(list);
        graph.style.height = (deepest + 1) * ROW + 'px';
        reset.hidden = zoomed === 0;
        (box.get(focused) ?? box.get(zoomed)).tabIndex = 0;
    }

    function zoom(i) {
        zoomed = focused = i;
        draw();
        box.get(i).focus();
        say();
    }

    function focus(i) {
        if (i < 0) return;
        if (!box.has(i)) { zoom(parent[i] >= 0 ? parent[i] : i); if (!box.has(i)) return; }
        box.get(focused)?.setAttribute('tabindex', '-1');
        focused = i;
        box.get(i).tabIndex = 0;
        box.get(i).focus();
        say();
    }

    // ---- search: text, or /regular expression/ ----
    function matcher(text) {
        const r = /^\/(.*)\/(i?)$/.exec(text);
        if (r) { try { const x = new RegExp(r[1], r[2]); return (n) => x.test(n); } catch { return null; } }
        const low = text.toLowerCase();
        return (n) => n.toLowerCase().includes(low);
    }

    function find() {
        const test = search.value ? matcher(search.value) : null;
        hits = test ? names.map((n, i) => i !== name[0] && test(n)) : null;
        draw();
        say();
    }

    function weightOfHits() {
        let sum = 0;
        const under = new Uint8Array(count);
        for (let i = 1; i < count; i++) {
            under[i] = under[parent[i]];
            if (!under[i] && hits[name[i]]) { under[i] = 1; sum += total[i]; }
        }
        return sum;
    }

    function say() {
        const parts = [];
        if (search.value && !hits) parts.push('no regular expression');
        if (hits) parts.push(`found: ${value(weightOfHits())}, ${share(weightOfHits())}`);
        parts.push(describe(focused).replaceAll('\n', ', '));
        status.textContent = parts.join(' · ');
    }

    // ---- pointer and keys ----
    const nodeOf = (event) => {
        const e = event.target.closest?.('.f');
        return e ? Number(e.dataset.node) : -1;
    };
    graph.addEventListener('click', (event) => { const i = nodeOf(event); if (i >= 0) zoom(i); });
    graph.addEventListener('mousemove', (event) => {
        const i = nodeOf(event);
        tip.hidden = i < 0;
        if (i < 0) return;
        tip.textContent = describe(i);
        tip.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)) + 'px';
        tip.style.top = (event.clientY + 16 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 8 : event.clientY + 16) + 'px';
    });
    graph.addEventListener('mouseleave', () => { tip.hidden = true; });
    const heaviest = (i) => {
        let best = -1;
        for (let c = first[i]; c >= 0; c = next[c]) if (best < 0 || total[c] > total[best]) best = c;
        return best;
    };
    const keys = {
        ArrowUp: () => focus(parent[focused]), ArrowDown: () => focus(heaviest(focused)),
        ArrowLeft: () => focus(before[focused]), ArrowRight: () => focus(next[focused]),
        Enter: () => zoom(focused), ' ': () => zoom(focused), Home: () => zoom(0), Escape: () => zoom(0),
    };
    graph.addEventListener('keydown', (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
        event.preventDefault();
        keys[event.key]();
    });
    document.addEventListener('keydown', (event) => {
        tip.hidden = true;
        if (event.key === '/' && event.target !== search && !event.ctrlKey && !event.metaKey) { event.preventDefault(); search.focus(); }
        if (event.key === 'Escape' && event.target === search) { search.value = ''; find(); box.get(focused)?.focus(); }
    });
    search.addEventListener('input', find);
    reset.addEventListener('click', () => zoom(0));
    addEventListener('resize', draw);
    at('note').textContent = data.folded ? `${data.folded} small frames were left out when this file was made.` : '';
    draw();
    say();
})();
