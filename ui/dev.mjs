// SPDX-License-Identifier: Apache-2.0
// Development server: rebuilds on each page load, serves dist/, and passes /api on to a running Flamekeep.
// Usage: npm run dev -- [http://127.0.0.1:4040] [port 5173]
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './build.mjs';

const dist = path.join(path.dirname(fileURLToPath(import.meta.url)), 'dist');
const upstream = new URL(process.argv[2] ?? 'http://127.0.0.1:4040');
const port = Number(process.argv[3] ?? 5173);
const TYPES = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.txt': 'text/plain', '.html': 'text/html' };
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function proxy(req, res) {
    const to = http.request({ host: upstream.hostname, port: upstream.port, path: req.url, method: req.method, headers: { ...req.headers, host: upstream.host } }, (answer) => {
        res.writeHead(answer.statusCode, answer.headers);
        answer.pipe(res);
    });
    to.on('error', (e) => {
        res.writeHead(502, { 'Content-Type': 'application/problem+json' });
        res.end(JSON.stringify({ title: 'No server behind the proxy', status: 502, detail: `${upstream} does not answer (${e.message}). Start Flamekeep there, or name another address: npm run dev -- URL.` }));
    });
    req.pipe(to);
}

function file(res, name) {
    res.writeHead(200, { 'Content-Type': TYPES[path.extname(name)] ?? 'application/octet-stream', 'Content-Security-Policy': CSP, 'Cache-Control': 'no-store' });
    res.end(fs.readFileSync(path.join(dist, name)));
}

http.createServer(async (req, res) => {
    const { pathname } = new URL(req.url, 'http://x');
    if (pathname.startsWith('/api/')) return proxy(req, res);
    const asset = path.posix.normalize(pathname).replace(/^\/+/, '');
    if (asset.startsWith('assets/') && fs.existsSync(path.join(dist, asset))) return file(res, asset);
    try {
        await bundle({ minify: false, sourcemap: 'inline' });
        const doc = /^\/docs\/([a-z-]+)$/.exec(pathname);
        return file(res, doc && fs.existsSync(path.join(dist, `docs/${doc[1]}.html`)) ? `docs/${doc[1]}.html` : 'index.html');
    } catch (e) {
        res.writeHead(500, { 'Content-Type': 'text/plain' });
        return res.end(String(e));
    }
}).listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port} in front of ${upstream}`));
