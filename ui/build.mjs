// SPDX-License-Identifier: Apache-2.0
// Bundles src/ into dist/: index.html, docs/, assets/ with hashed names, and manifest.txt for whoever embeds them.
// Same sources give the same bytes: no time, path or host enters the output. Fails when the bundle grows past its budget.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { fileURLToPath } from 'node:url';
import { docPage } from './docs.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const dist = path.join(here, 'dist');
const ENTRY_BUDGET_GZ = 60 * 1024;
const TOTAL_BUDGET_GZ = 120 * 1024;
/** What index.html answers to (src/app.tsx), and the pages of ../docs that are shipped. */
const PAGES = ['', 'profiles', 'profile', 'flamegraph', 'diff', 'rejects'];
const DOCS = ['reading-profiles'];
const TYPES = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.txt': 'text/plain; charset=utf-8', '.html': 'text/html; charset=utf-8' };

export const options = {
    absWorkingDir: here,
    entryPoints: { app: 'src/main.tsx' },
    bundle: true,
    minify: true,
    format: 'esm',
    splitting: true,
    chunkNames: '[name]-[hash]',
    target: ['es2020', 'chrome100', 'firefox100', 'safari15'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    outdir: 'dist/assets',
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    legalComments: 'none', // the whole licence texts are shipped instead, see licences()
    metafile: true,
    logLevel: 'warning',
};

function writeHashed(name, bytes) {
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8).toUpperCase();
    const ext = path.extname(name);
    const file = `assets/${path.basename(name, ext)}-${hash}${ext}`;
    fs.writeFileSync(path.join(dist, file), bytes);
    return './' + file;
}

function licences() {
    const parts = Object.keys(JSON.parse(fs.readFileSync(path.join(here, 'package.json'), 'utf8')).dependencies).map((name) => {
        const dir = path.join(here, 'node_modules', name);
        const { version } = JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'));
        return `${name} ${version}\n\n${fs.readFileSync(path.join(dir, 'LICENSE'), 'utf8').trim()}\n`;
    });
    return Buffer.from(parts.join('\n' + '-'.repeat(72) + '\n\n'));
}

/** One line for each address: path, file, content type, caching; separated by tabs. */
function writeManifest() {
    const assets = fs.readdirSync(path.join(dist, 'assets')).sort().map((f) => 'assets/' + f);
    const routes = [...PAGES.map((p) => ['/' + p, 'index.html']), ...DOCS.map((d) => [`/docs/${d}`, `docs/${d}.html`]), ...assets.map((f) => ['/' + f, f])];
    const lines = routes.map(([route, f]) => [route, f, TYPES[path.extname(f)], f.startsWith('assets/') ? 'immutable' : 'no-cache'].join('\t'));
    fs.writeFileSync(path.join(dist, 'manifest.txt'), lines.join('\n') + '\n');
    return [...new Set(routes.map(([, f]) => f))];
}

function writeDocs(css, icon) {
    fs.mkdirSync(path.join(dist, 'docs'));
    for (const name of DOCS) {
        const text = fs.readFileSync(path.join(here, '../docs', name + '.md'), 'utf8');
        fs.writeFileSync(path.join(dist, 'docs', name + '.html'), docPage(text, '.' + css, '.' + icon));
    }
}

function report(files, entries) {
    let total = 0;
    let entry = 0;
    for (const file of files) {
        const bytes = fs.readFileSync(path.join(dist, file));
        const gz = zlib.gzipSync(bytes, { level: 9 }).length;
        total += gz;
        if (entries.includes('./' + file)) entry += gz;
        console.log(`${file}  ${bytes.length} bytes, ${gz} gzipped`);
    }
    console.log(`entry ${entry} of ${ENTRY_BUDGET_GZ}, all ${total} of ${TOTAL_BUDGET_GZ} bytes gzipped`);
    if (entry > ENTRY_BUDGET_GZ || total > TOTAL_BUDGET_GZ) throw new Error('the bundle is over its budget: drop something or move it behind a dynamic import');
}

export async function bundle(extra = {}) {
    fs.rmSync(dist, { recursive: true, force: true });
    fs.mkdirSync(path.join(dist, 'assets'), { recursive: true });
    const licenceUrl = writeHashed('licences.txt', licences());
    const result = await build({ ...options, ...extra, define: { LICENCES_URL: JSON.stringify(licenceUrl) } });
    const [js, out] = Object.entries(result.metafile.outputs).find(([, o]) => o.entryPoint === 'src/main.tsx');
    const url = (f) => './' + path.relative('dist', f).split(path.sep).join('/');
    const icon = writeHashed('icon.svg', fs.readFileSync(path.join(here, 'src/icon.svg')));
    const html = fs.readFileSync(path.join(here, 'index.html'), 'utf8')
        .replace('{{js}}', url(js)).replace('{{css}}', url(out.cssBundle)).replace('{{icon}}', icon);
    fs.writeFileSync(path.join(dist, 'index.html'), html);
    writeDocs(url(out.cssBundle), icon);
    const now = out.imports.filter((i) => i.kind === 'import-statement').map((i) => i.path);
    return { files: writeManifest(), entries: [js, out.cssBundle, ...now].map(url) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const { files, entries } = await bundle();
    report(files, entries);
}
