// SPDX-License-Identifier: Apache-2.0
// The little Markdown of the shipped pages.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { docPage, toHtml } from '../docs.mjs';

test('blocks', () => {
    assert.equal(toHtml('<!-- x -->\n# A\ntext\nmore\n\n- one\n  on\n- two'), '<h1>A</h1>\n<p>text\nmore</p>\n<ul><li>one\n  on</li><li>two</li></ul>');
    assert.equal(toHtml('| a | b |\n|---|---|\n| 1 | **2** |'), '<table class="data"><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><strong>2</strong></td></tr></tbody></table>');
});

test('nothing of the text becomes markup that was not meant', () => {
    assert.equal(toHtml('a < b & "c" `*x* <i>` *em*'), '<p>a &lt; b &amp; &quot;c&quot; <code>*x* &lt;i&gt;</code> <em>em</em></p>');
    assert.ok(docPage('# <x>\n', './a.css', './i.svg').includes('<title>&lt;x&gt; · Flamekeep</title>'));
});
