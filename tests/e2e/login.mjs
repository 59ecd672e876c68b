// SPDX-License-Identifier: Apache-2.0
// What a person does with a server that asks for tokens, and with one that keeps tenants apart. Started by login_test.py.
import assert from 'node:assert/strict';
import { Harness } from './harness.mjs';

const [address, mode, ...tokens] = process.argv.slice(2);
const h = new Harness(address, process.env.FK_SHOTS);
const { page, close } = await h.open();

const services = () => page.$$eval('a.service', (links) => links.map((a) => a.textContent).sort());
const text = (selector) => page.$eval(selector, (e) => e.textContent);

async function give(value) {
    await page.fill('#login', value);
    await page.click('form.login button');
}

async function withTokens([both, one]) {
    await h.check('a page that is refused asks for a token, in light and accessible', page, async () => {
        await h.goto(page, '/profiles?query=%7B%7D');
        assert.match(await text('form.login'), /Token/);
        await h.shot(page, 'login');
        await h.axe(page, 'the log-in');
    });
    await h.check('a wrong one is told so', page, async () => {
        await give('fk_nonsense');
        await page.waitForSelector('.state.failed');
        assert.match(await text('.state.failed'), /401/);
    });
    await h.check('a good one shows the page that was asked for', page, async () => {
        await give(' ' + both + ' ');
        await page.waitForSelector('table.list tbody tr');
        await h.settled(page);
        assert.match(page.url(), /\/profiles\?query=/);
        assert.equal((await page.$$('table.list tbody tr')).length, 2);
    });
    await h.check('the token is in a cookie that scripts and other sites cannot use', page, async () => {
        const cookie = (await page.context().cookies()).find((c) => c.name === 'flamekeep_token');
        assert.deepEqual([cookie.value, cookie.httpOnly, cookie.sameSite, cookie.secure], [both, true, 'Strict', false]);
        assert.equal(await page.evaluate(() => document.cookie), '');
    });
    await h.check('a token of two tenants shows both, or the chosen one, and links keep it', page, async () => {
        await h.goto(page, '/');
        assert.deepEqual(await services(), ['web-alpha', 'web-beta']);
        await page.selectOption('select[aria-label=Tenant]', 'beta');
        await page.waitForURL(/tenant=beta/);
        await h.settled(page);
        assert.deepEqual(await services(), ['web-beta']);
        await page.click('nav a:has-text("Profiles")');
        await h.settled(page);
        assert.match(page.url(), /tenant=beta/);
        assert.equal((await page.$$('table.list tbody tr')).length, 1);
        await h.axe(page, 'a page with a choice of tenants');
        await page.selectOption('select[aria-label=Tenant]', '');
        await page.waitForURL((url) => !url.searchParams.has('tenant'));
        await h.settled(page);
        assert.equal((await page.$$('table.list tbody tr')).length, 2);
    });
    await h.check('log out forgets it', page, async () => {
        await page.click('button:has-text("Log out")');
        await page.waitForSelector('form.login');
        assert.deepEqual(await page.context().cookies(), []);
        await h.goto(page, '/');
        assert.match(await text('form.login'), /Token/);
    });
    await h.check('a token of one tenant leaves no choice', page, async () => {
        await give(one);
        await page.waitForSelector('a.service');
        await h.settled(page);
        assert.deepEqual(await services(), ['web-alpha']);
        assert.equal(await page.$('select[aria-label=Tenant]'), null);
    });
}

async function withTenants() {
    await h.check('a server of several tenants asks whose profiles are meant', page, async () => {
        await h.goto(page, '/');
        assert.match(await text('form.login'), /Tenant/);
        await give('alpha');
        await page.waitForURL(/tenant=alpha/);
        await page.waitForSelector('a.service');
        await h.settled(page);
        assert.deepEqual(await services(), ['web-alpha']);
    });
    await h.check('another one can be named', page, async () => {
        await page.click('a:has-text("Tenant alpha")');
        await page.waitForSelector('form.login');
        await give('alpha|beta');
        await page.waitForSelector('a.service');
        await h.settled(page);
        assert.deepEqual(await services(), ['web-alpha', 'web-beta']);
        await h.axe(page, 'a page of a tenant');
    });
}

await (mode === 'tokens' ? withTokens(tokens) : withTenants());
await close();
await h.check('the browser had nothing to complain about', null, async () => assert.deepEqual(h.complaints, []));
console.log(`${h.passed} passed, ${h.failed} failed`);
process.exit(h.failed > 0 ? 1 : 0);
