// SPDX-License-Identifier: Apache-2.0
// Browser, counting of checks, screenshots. Playwright and axe come from the interface's own node_modules.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const require = createRequire(new URL('../../ui/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const axeSource = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export class Harness {
    constructor(base, shots) {
        this.base = base.replace(/\/+$/, '');
        this.shots = shots;
        this.passed = 0;
        this.failed = 0;
        this.complaints = [];
    }

    /** A browser of its own, with a fresh profile folder that goes away with it. */
    async open(theme = 'light') {
        const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'fk-e2e-'));
        const context = await chromium.launchPersistentContext(dir, {
            executablePath: process.env.FK_CHROMIUM, args: FLAGS, viewport: { width: 1440, height: 900 }, colorScheme: theme, acceptDownloads: true,
        });
        const page = context.pages()[0] ?? (await context.newPage());
        page.setDefaultTimeout(15000);
        this.watch(page);
        return { page, close: async () => { await context.close(); fs.rmSync(dir, { recursive: true, force: true }); } };
    }

    /** What the browser complains about (broken policy, script errors) and requests that leave the server are failures of their own. */
    watch(page) {
        page.on('pageerror', (e) => this.complaints.push(`script error: ${e.message}`));
        page.on('console', (m) => {
            if (m.type() === 'error' && !m.text().startsWith('Failed to load resource')) this.complaints.push(`console: ${m.text()}`);
        });
        page.on('request', (r) => {
            if (!r.url().startsWith(this.base) && !/^(data|blob|about):/.test(r.url())) this.complaints.push(`request elsewhere: ${r.url()}`);
        });
    }

    async check(name, page, run) {
        try {
            await run();
            this.passed++;
            console.log(`ok    ${name}`);
        } catch (e) {
            this.failed++;
            console.log(`FAIL  ${name}\n      ${String(e.stack ?? e).split('\n').slice(0, 12).join('\n      ')}`);
            await page?.screenshot({ path: path.join(this.shots, `failed-${this.failed}.png`) }).catch(() => undefined);
        }
    }

    async goto(page, where) {
        await page.goto(this.base + where);
        await this.settled(page);
    }

    /** Nothing is loading any more: the network is quiet and no part of the page says that it waits. */
    async settled(page) {
        // A click takes a frame to become a request; before that everything looks settled.
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50))));
        await page.waitForLoadState('networkidle');
        await page.waitForFunction(() => !document.querySelector('.state.loading, [aria-busy=true]') && document.querySelector('main')?.childElementCount);
    }

    async shot(page, name) {
        await page.screenshot({ path: path.join(this.shots, name + '.png') });
    }

    async axe(page, where) {
        await page.evaluate(axeSource); // by the debugger: a script element would be against the policy, as it should be
        const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }));
        assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).slice(0, 3).join(' | ')}`), [], `accessibility of ${where}`);
    }
}

/** Colours that a canvas holds, as a set: a blank one has a single colour. */
export function canvasColors(page, selector = '.flame-canvas') {
    return page.$eval(selector, (c) => {
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        const seen = new Set();
        for (let i = 0; i < d.length; i += 4) seen.add((d[i] << 16) | (d[i + 1] << 8) | d[i + 2]);
        return seen.size;
    });
}

export function canvasBytes(page, selector = '.flame-canvas') {
    return page.$eval(selector, (c) => c.toDataURL());
}
