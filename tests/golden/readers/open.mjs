// SPDX-License-Identifier: Apache-2.0
// Opens exported files in a headless Chromium: open.mjs JOBS.json   prints one JSON line a job.
// A job: {kind: "html" | "svg" | "speedscope", file, find?, page? (folder of speedscope's released page)}
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(new URL('../../../ui/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' };

/** A folder over HTTP, as the page of speedscope wants it. */
function serve(folder) {
    const server = http.createServer((request, answer) => {
        const file = path.join(folder, path.normalize(new URL(request.url, 'http://x').pathname));
        fs.readFile(file, (error, bytes) => {
            answer.statusCode = error ? 404 : 200;
            answer.setHeader('Content-Type', TYPES[path.extname(file)] ?? 'application/octet-stream');
            answer.end(error ? '' : bytes);
        });
    });
    return new Promise((ready) => server.listen(0, '127.0.0.1', () => ready(server)));
}

async function openPage(page, job) {
    await page.goto(pathToFileURL(job.file).href);
    await page.waitForSelector('.f');
    const status = () => page.textContent('#status');
    const result = { title: await page.title(), frames: await page.locator('.f').count(), whole: await status(), heading: await page.textContent('h1') };
    result.labels = await page.$$eval('.f', (list) => list.map((e) => e.getAttribute('aria-label')));
    await page.fill('#search', job.find);
    result.found = await status();
    result.hits = await page.$$eval('.f.hit', (list) => list.map((e) => e.getAttribute('aria-label')));
    await page.fill('#search', '');
    await page.locator('.f').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    result.zoomed = await status();
    result.narrow = await page.locator('.f').count();
    await page.hover('.f >> nth=1');
    result.tip = await page.textContent('#tip');
    await page.keyboard.press('Escape');
    result.back = await page.locator('.f').count();
    return result;
}

async function openPicture(page, job) {
    await page.goto(pathToFileURL(job.file).href);
    return page.evaluate(() => ({
        title: document.title, frames: document.querySelectorAll('g > rect').length, scripts: document.querySelectorAll('script').length,
        root: document.documentElement.nodeName, errors: document.querySelectorAll('parsererror').length,
    }));
}

async function openSpeedscope(page, job, server) {
    await page.goto(`http://127.0.0.1:${server.address().port}/index.html`);
    await page.setInputFiles('input[type=file]', job.file);
    await page.waitForFunction(() => document.body.innerText.includes('Time Order') && !document.body.innerText.includes('Loading'));
    await page.waitForTimeout(500);
    const text = await page.evaluate(() => document.body.innerText);
    await page.keyboard.press('3');
    await page.waitForFunction(() => document.body.innerText.includes('Symbol Name'));
    return { title: await page.title(), text, table: await page.evaluate(() => document.body.innerText) };
}

const jobs = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fk-open-'));
const context = await chromium.launchPersistentContext(folder, {
    executablePath: process.env.FK_CHROMIUM, args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    viewport: { width: 1300, height: 800 },
});
for (const job of jobs) {
    const page = await context.newPage();
    page.setDefaultTimeout(20000);
    const complaints = [], requests = [];
    page.on('pageerror', (e) => complaints.push(e.message));
    page.on('console', (m) => { if (m.type() === 'error') complaints.push(m.text()); });
    page.on('dialog', (d) => { complaints.push('dialog: ' + d.message()); d.dismiss(); });
    page.on('request', (r) => requests.push(r.url()));
    const server = job.kind === 'speedscope' ? await serve(job.page) : null;
    let result;
    try {
        result = await { html: openPage, svg: openPicture, speedscope: openSpeedscope }[job.kind](page, job, server);
    } catch (e) {
        result = { failed: String(e) };
    }
    console.log(JSON.stringify({ ...result, complaints, requests }));
    server?.close();
    await page.close();
}
await context.close();
fs.rmSync(folder, { recursive: true, force: true });
