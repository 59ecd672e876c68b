// SPDX-License-Identifier: Apache-2.0
// The walk: what a person does with the interface, and what must be true at each step.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { canvasBytes, canvasColors, Harness } from './harness.mjs';
import { COUNT, seed, seedTimed, stacksOf, totalOf } from './seed.mjs';

const h = new Harness(process.argv[2], process.env.FK_SHOTS);
const { service, entries } = await seed(h.base);
const withTimes = await seedTimed(h.base, service);
const byId = new Map(entries.map((e) => [e.id, e.i]));
const type = entries[0].type;
const query = `{service_name="${service}"}`;
const source = `query=${encodeURIComponent(query)}`;
const { page, close } = await h.open();

const rowIds = () => page.$$eval('table.list tbody tr', (rows) => rows.map((r) => r.dataset.id));
const text = (selector) => page.$eval(selector, (e) => e.textContent);
const param = (name) => new URL(page.url()).searchParams.get(name);

async function listAndPages() {
    let first = [];
    await h.check('the landing page names the service and leads to its graph', page, async () => {
        await h.goto(page, '/');
        await page.click(`a.service:text-is("${service}")`);
        await h.settled(page);
        assert.equal(param('query'), query);
        assert.ok((await canvasColors(page)) > 5);
    });
    await h.check('the list shows 100 entries, newest first', page, async () => {
        await h.goto(page, '/profiles?' + source);
        first = await rowIds();
        assert.deepEqual(first, entries.slice(-100).reverse().map((e) => e.id));
    });
    await h.check('next shows the rest, previous the first page again, Back and Forward agree', page, async () => {
        await page.click('[data-page=next]');
        await h.settled(page);
        const second = await rowIds();
        assert.deepEqual(second, entries.slice(0, COUNT - 100).reverse().map((e) => e.id));
        assert.equal(await page.isDisabled('[data-page=next]'), true);
        await page.click('[data-page=previous]');
        await h.settled(page);
        assert.deepEqual(await rowIds(), first);
        await page.goBack();
        await h.settled(page);
        assert.deepEqual(await rowIds(), second);
        await page.goBack();
        await h.settled(page);
        assert.deepEqual(await rowIds(), first);
    });
    await h.check('sorting by value puts the largest first, a second click the smallest', page, async () => {
        await h.goto(page, `/profiles?${source}&type=${type}`);
        const sorted = [...entries].sort((a, b) => totalOf(b.i) - totalOf(a.i)).map((e) => totalOf(e.i));
        await page.click('[data-sort=value]');
        await h.settled(page);
        assert.deepEqual((await rowIds()).map((id) => totalOf(byId.get(id))), sorted.slice(0, 100));
        await page.click('[data-sort=value]');
        await h.settled(page);
        assert.deepEqual((await rowIds()).map((id) => totalOf(byId.get(id))), sorted.reverse().slice(0, 100));
    });
}

async function narrowing() {
    await h.check('completion offers names and values, Enter takes them', page, async () => {
        await h.goto(page, '/profiles');
        await page.fill('#selector', '{service_n');
        await page.waitForSelector('[role=option]:has-text("service_name")');
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        await page.keyboard.type(service.slice(0, -2));
        await page.waitForSelector(`[role=option]:has-text("${service}")`);
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        await page.keyboard.press('Enter');
        await h.settled(page);
        assert.equal(param('query'), query);
        assert.equal((await rowIds()).length, 100);
    });
    await h.check('a box on the heatmap narrows range and value', page, async () => {
        await h.goto(page, `/profiles?${source}&type=${type}`);
        const box = await page.locator('.heatmap canvas').boundingBox();
        await page.mouse.move(box.x + box.width * 0.5, box.y + 10);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.95, box.y + 80, { steps: 4 });
        await page.mouse.up();
        await h.settled(page);
        const [low, high] = [Number(param('min_value')), Number(param('max_value'))];
        const values = (await rowIds()).map((id) => totalOf(byId.get(id)));
        assert.ok(values.length > 0 && values.length < COUNT, `${values.length} entries`);
        assert.ok(values.every((v) => v >= low && v <= high));
        await page.goBack();
        await h.settled(page);
        assert.equal((await rowIds()).length, 100);
    });
    await h.check('empty says why, failed says what to do', page, async () => {
        await h.goto(page, `/profiles?query=${encodeURIComponent('{service_name="nobody-has-this"}')}`);
        assert.match(await text('.state.empty'), /No profile matches/);
        await h.goto(page, `/profiles?query=${encodeURIComponent('{broken')}`);
        const problem = await text('.state.failed');
        assert.match(problem, /400/);
        assert.match(problem, /query/);
        await h.goto(page, '/profile?id=00000000-0000-7000-8000-000000000000');
        assert.match(await text('.state.failed'), /404/);
    });
}

async function oneProfile() {
    const entry = entries[COUNT - 1];
    await h.check('a row opens its entry with facts and graph, and the neighbour before it', page, async () => {
        await h.goto(page, `/profiles?${source}&type=${type}`);
        await page.focus(`tr[data-id="${entries[COUNT - 2].id}"]`);
        await page.keyboard.press('ArrowUp');
        await page.keyboard.press('Enter');
        await h.settled(page);
        assert.equal(param('id'), entry.id);
        assert.match(await text('.completeness'), new RegExp(`total ${totalOf(entry.i).toLocaleString('en')} `));
        assert.ok((await canvasColors(page)) > 3);
        await page.click('.pager a:has-text("Previous")');
        await h.settled(page);
        assert.equal(param('id'), entries[COUNT - 4].id, 'the pod repeats every third');
        await page.goBack();
        await h.settled(page);
    });
    await h.check('a search tells functions and share; keys walk, zoom and reset', page, async () => {
        await page.keyboard.press('/');
        await page.keyboard.type('main.fib');
        await page.waitForFunction(() => document.querySelector('.hits')?.textContent.startsWith('1 function found'));
        assert.match(await text('.hits'), new RegExp(`found, 10 or ${((10 / totalOf(entry.i)) * 100).toFixed(2)} %`));
        await page.keyboard.press('Escape');
        await page.keyboard.press('Escape');
        await page.focus('.flame-scroll');
        for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
        assert.match(await text('.flame [aria-live]'), /^main\.serve, total/);
        await page.keyboard.press('Enter');
        await page.waitForSelector('.crumbs');
        assert.ok(param('at'));
        await page.keyboard.press('Escape');
        await page.waitForFunction(() => !document.querySelector('.crumbs'));
    });
    await h.check('the table sorts, filters and leads to the sandwich', page, async () => {
        await page.click('[role=tab]:has-text("Table")');
        await h.settled(page);
        const names = () => page.$$eval('.table-scroll tbody .fn', (a) => a.map((e) => e.textContent));
        assert.equal((await names())[0], 'encoding/json.Marshal');
        await page.click('.table-scroll th button:has-text("Total")');
        await h.settled(page);
        assert.equal((await names())[0], 'main.main');
        await page.fill('[data-search]', 'fib');
        await page.waitForFunction(() => document.querySelectorAll('.table-scroll tbody .fn').length === 1);
        const row = await page.$$eval('.table-scroll tbody td', (cells) => cells.map((c) => c.textContent.trim()));
        assert.equal(row[2], '10');
        assert.equal(row[4], '10', 'recursion counts once');
        await page.fill('[data-search]', '/^main.handle$/');
        await page.click('.table-scroll a.fn:text-is("main.handle")');
        await h.settled(page);
        assert.equal(await text('.sandwich h2'), 'main.handle');
        assert.equal(await page.locator('.sandwich .flame-canvas').count(), 2);
    });
    await h.check('every export is a file with the profile in it', page, () => exports(entry));
}

async function exports(entry) {
    await h.goto(page, `/profile?id=${entry.id}&type=${type}&tab=table`);
    const files = {};
    for (const format of ['pprof', 'folded', 'flamebearer', 'top.csv', 'top.json', 'html', 'svg', 'speedscope', 'dot', 'otlp', 'original']) {
        await page.click('button[aria-label=Export]');
        const [download] = await Promise.all([page.waitForEvent('download'), page.click(`[data-format="${format}"]`)]);
        files[format] = fs.readFileSync(await download.path());
        assert.ok(files[format].length > 0, `${format} is empty`);
        assert.ok(download.suggestedFilename().length > 3, `${format} has a name`);
    }
    const folded = Object.fromEntries(files.folded.toString().trim().split('\n').map((l) => [l.slice(0, l.lastIndexOf(' ')), Number(l.slice(l.lastIndexOf(' ') + 1))]));
    assert.deepEqual(folded, stacksOf(entry.i));
    assert.equal(files.original.toString().trim().split('\n').length, Object.keys(stacksOf(entry.i)).length, 'the bytes that were uploaded');
    for (const format of ['html', 'svg', 'speedscope', 'dot']) assert.match(files[format].toString(), /encoding\/json\.Marshal/, format);
    assert.match(files['top.csv'].toString(), /encoding\/json\.Marshal/);
    assert.ok(JSON.stringify(JSON.parse(files['top.json'])).includes('encoding/json.Marshal'));
    assert.ok(JSON.stringify(JSON.parse(files.flamebearer)).includes('encoding/json.Marshal'));
}

async function timeOrder() {
    await h.check('time order draws the threads, zooms by button, key and drag, and says when there is no time', page, async () => {
        await h.goto(page, `/profile?id=${withTimes.id}&type=${withTimes.type}&tab=time`);
        assert.equal(await page.locator('.lane').count(), 1);
        assert.match(await page.locator('.lane canvas').getAttribute('aria-label'), /mostly in job\.write/);
        assert.match(await text('.lanes ~ .note, .note'), /Spans are made of/);
        await page.click('button:text-is("Zoom in")');
        await h.settled(page);
        assert.ok(param('begin') && param('end'), 'the window is in the address');
        await page.focus('.lanes');
        await page.keyboard.press('ArrowLeft');
        await h.settled(page);
        const before = param('begin');
        const box = await page.locator('.lanes').boundingBox();
        await page.mouse.move(box.x + 100, box.y + 40);
        await page.mouse.down();
        await page.mouse.move(box.x + 300, box.y + 40, { steps: 5 });
        await page.mouse.up();
        await h.settled(page);
        assert.notEqual(param('begin'), before);
        await page.click('button:text-is("Whole")');
        await h.settled(page);
        assert.equal(param('begin'), null);
        const lanes = await page.locator('.lane canvas').boundingBox();
        await page.mouse.click(lanes.x + lanes.width * 0.8, lanes.y + 20); // the second row: job.write
        await h.settled(page);
        assert.equal(param('tab'), 'sandwich');
        assert.equal(param('function'), 'job.write');
        await h.goto(page, `/profile?id=${entries[0].id}&type=${type}&tab=time`);
        assert.match(await text('.state.failed'), /times inside/);
    });
}

async function rejects() {
    await h.check('what was refused is listed with its reason', page, async () => {
        const body = `this is no profile ${service}`;
        assert.equal((await fetch(`${h.base}/api/v1/upload?labels=${encodeURIComponent(query)}`, { method: 'POST', body })).status, 400);
        await h.goto(page, '/');
        await page.click('a:text-is("Rejects")');
        await h.settled(page);
        const first = await text('table.data tbody tr');
        assert.match(first, /refused \(400\)/);
        assert.ok(first.includes(query), 'the sender is named');
        assert.match(first, /plain text/);
    });
}

async function aggregate() {
    const where = `/flamegraph?${source}&type=${type}`;
    await h.check('a range dragged on the chart narrows the graph under it', page, async () => {
        await h.goto(page, where);
        const whole = await text('.completeness');
        const box = await page.locator('.chart .u-over').boundingBox();
        await page.mouse.move(box.x + box.width * 0.4, box.y + 30);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.6, box.y + 40, { steps: 4 });
        await page.mouse.up();
        await h.settled(page);
        assert.ok(param('from') && param('until'));
        const shown = await text('.completeness');
        assert.notEqual(shown, whole);
        await page.click('a:has-text("Profiles behind it")');
        await h.settled(page);
        assert.match(shown, new RegExp(`^${(await rowIds()).length} profiles`));
    });
    await h.check('split by label draws one line for each', page, async () => {
        await h.goto(page, where + '&group_by=pod');
        const legend = await page.$$eval('.chart .u-legend .u-series', (s) => s.map((e) => e.textContent));
        assert.equal(legend.filter((l) => l.includes('pod-')).length, 3);
    });
    await h.check('the menu keeps only stacks with a function, its chip lets go', page, async () => {
        await h.goto(page, where);
        await page.focus('.flame-scroll');
        for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
        await page.keyboard.press('ArrowLeft');
        await page.keyboard.press('Shift+F10');
        await page.click('[role=menuitem]:has-text("Only stacks")');
        await h.settled(page);
        const focus = param('focus');
        assert.ok(focus);
        const sum = entries.reduce((s, e) => s + Object.entries(stacksOf(e.i)).reduce((t, [stack, v]) => t + (stack.split(';').includes(focus) ? v : 0), 0), 0);
        assert.match(await text('.completeness'), new RegExp(`total ${sum.toLocaleString('en')} `));
        await page.click('.chip.filter button');
        await h.settled(page);
        assert.equal(param('focus'), null);
    });
    await h.check('inverted, the graph starts from what did the work', page, async () => {
        await h.goto(page, where);
        await page.click('button:has-text("Invert")');
        await h.settled(page);
        await page.focus('.flame-scroll');
        for (const key of ['ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
        assert.match(await text('.flame [aria-live]'), /^encoding\/json\.Marshal, total/);
    });
}

async function comparing() {
    await h.check('two ticked rows are compared: graph, sides, table, swap', page, async () => {
        await h.goto(page, `/profiles?${source}&type=${type}`);
        const [even, odd] = [entries[COUNT - 2], entries[COUNT - 1]];
        await page.check(`tr[data-id="${even.id}"] input`);
        await page.check(`tr[data-id="${odd.id}"] input`);
        await page.click('[data-compare]');
        await h.settled(page);
        assert.deepEqual([param('left_id'), param('right_id')], [even.id, odd.id]);
        assert.ok((await canvasColors(page)) > 4);
        await h.shot(page, 'diff-light');
        await page.click('[role=tab]:has-text("Side by side")');
        await h.settled(page);
        assert.equal(await page.locator('.flame-canvas').count(), 2);
        await page.click('[role=tab]:has-text("Table")');
        await page.click('[data-mode=absolute]');
        await h.settled(page);
        const change = () => page.$$eval('.table-scroll tbody tr', (rows) => Object.fromEntries(rows.map((r) => [r.cells[0].textContent, r.cells[1].textContent + ' ' + r.cells[2].textContent])));
        const before = await change();
        assert.equal(before['main.onlyOdd'], '+25 new');
        assert.equal(before['main.onlyEven'], '−15 gone');
        assert.equal(before['database/sql.(*DB).Query'], '+40 +100 %');
        await page.click('[data-swap]');
        await h.settled(page);
        assert.equal((await change())['main.onlyOdd'], '−25 gone');
    });
}

async function sameView() {
    await h.check('a copied address opens the same view elsewhere', page, async () => {
        await h.goto(page, `/profile?id=${entries[5].id}&type=${type}`);
        await page.fill('[data-search]', 'json');
        await page.focus('.flame-scroll');
        for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
        await page.waitForSelector('.crumbs');
        await page.mouse.move(2, 2);
        await page.goto(page.url()); // the selection of the keyboard is no part of the view
        await h.settled(page);
        const want = [await text('.crumbs'), await text('.hits'), await text('.completeness'), await canvasBytes(page)];
        const other = await h.open();
        try {
            await other.page.goto(page.url());
            await h.settled(other.page);
            const t = (s) => other.page.$eval(s, (e) => e.textContent);
            assert.deepEqual([await t('.crumbs'), await t('.hits'), await t('.completeness'), await canvasBytes(other.page)], want);
        } finally {
            await other.close();
        }
    });
    await h.check('help opens with ? and closes with Escape; the reading guide is there', page, async () => {
        await page.focus('.flame-scroll');
        await page.keyboard.press('?');
        await page.waitForSelector('dialog.help[open]');
        await page.keyboard.press('Escape');
        await page.waitForFunction(() => !document.querySelector('dialog.help[open]'));
        const guide = await page.goto(h.base + '/docs/reading-profiles');
        assert.equal(guide.status(), 200);
        assert.equal(await text('h1'), 'Reading profiles');
        await h.axe(page, 'the reading guide');
    });
    await h.check('the document forbids inline code and foreign origins', page, async () => {
        const policy = (await page.request.get(h.base + '/profiles')).headers()['content-security-policy'] ?? '';
        assert.match(policy, /default-src 'none'/);
        assert.doesNotMatch(policy, /unsafe|\*/);
    });
}

const VIEWS = {
    services: '/', list: `/profiles?${source}`, 'list-type': `/profiles?${source}&type=${type}`, aggregate: `/flamegraph?${source}&type=${type}`,
    both: `/flamegraph?${source}&type=${type}&tab=both&order=-total`, table: `/profile?id=${entries[0].id}&tab=table`, sandwich: `/profile?id=${entries[0].id}&tab=sandwich&function=main.handle`,
    rejects: '/rejects', time: `/profile?id=${withTimes.id}&type=${withTimes.type}&tab=time`, search: `/profile?id=${entries[0].id}&s=json`, diff: `/diff?left_id=${entries[0].id}&right_id=${entries[1].id}`, 'diff-table': `/diff?left_id=${entries[0].id}&right_id=${entries[1].id}&tab=table`,
    beside: `/diff?left_id=${entries[0].id}&right_id=${entries[1].id}&tab=beside`, empty: `/profiles?query=${encodeURIComponent('{service_name="nobody-has-this"}')}`, failed: `/profiles?query=${encodeURIComponent('{broken')}`,
    'diff-empty': '/diff', 'no-such-page': '/profile', guide: '/docs/reading-profiles',
};

async function looks(theme) {
    const view = await h.open(theme);
    for (const [name, where] of Object.entries(VIEWS)) {
        await h.check(`${name}, ${theme}: drawn and accessible`, view.page, async () => {
            await (name === 'guide' ? view.page.goto(h.base + where) : h.goto(view.page, where));
            if (name !== 'guide') assert.equal(await view.page.$eval('html', (e) => e.dataset.theme), theme);
            await h.shot(view.page, `${name}-${theme}`);
            await h.axe(view.page, name);
        });
    }
    await view.close();
}

/** On a narrow screen a page scrolls downwards only; what is wide (tables) scrolls by itself. */
async function narrow() {
    const view = await h.open();
    await view.page.setViewportSize({ width: 480, height: 900 });
    for (const [name, where] of Object.entries(VIEWS)) {
        await h.check(`${name}: 480 pixels are wide enough`, view.page, async () => {
            await (name === 'guide' ? view.page.goto(h.base + where) : h.goto(view.page, where));
            await h.shot(view.page, `${name}-narrow`);
            const beyond = await view.page.evaluate(() => [document.documentElement, ...document.querySelectorAll('header')]
                .filter((e) => e.scrollWidth > e.clientWidth).map((e) => `${e.tagName} ${e.scrollWidth} of ${e.clientWidth}`));
            const widest = await view.page.$$eval('main *', (all) => all.filter((e) => e.getBoundingClientRect().right > innerWidth).slice(0, 6).map((e) => `${e.tagName}.${e.className}`));
            assert.deepEqual(beyond, [], `beyond the edge: ${widest.join(', ')}`);
        });
    }
    await view.close();
}

await listAndPages();
await narrowing();
await oneProfile();
await timeOrder();
await rejects();
await aggregate();
await comparing();
await sameView();
await close();
await looks('light');
await looks('dark');
await narrow();
await h.check('the browser had nothing to complain about', null, async () => assert.deepEqual(h.complaints, []));
console.log(`screenshots: ${h.shots}`);
console.log(`${h.passed} passed, ${h.failed} failed`);
process.exit(h.failed > 0 ? 1 : 0);
