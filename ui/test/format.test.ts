// SPDX-License-Identifier: Apache-2.0
// Numbers and names as people read them, and back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatBytes, formatCount, formatNs, formatShare, formatValue, signed, typeName, typeParts } from '../src/base/format';
import { parseValue } from '../src/base/parsevalue';
import { formatDelta, formatRelative } from '../src/diff/mode';

test('bytes use binary prefixes and never print 1024 of one', () => {
    assert.equal(formatBytes(0), '0 B');
    assert.equal(formatBytes(1023), '1023 B');
    assert.equal(formatBytes(1024), '1 KiB');
    assert.equal(formatBytes(1536), '1.50 KiB');
    assert.equal(formatBytes(2 ** 20 - 1), '1.00 MiB');
    assert.equal(formatBytes(-(2 ** 31)), '-2 GiB');
});

test('nanoseconds become the largest fitting unit', () => {
    assert.equal(formatNs(999), '999 ns');
    assert.equal(formatNs(999999), '1.00 ms');
    assert.equal(formatNs(12_340_000), '12.3 ms');
    assert.equal(formatNs(15e9), '15 s');
    assert.equal(formatNs(2 * 3600e9), '2 h');
});

test('the whole int64 range is drawn, rounded', () => {
    assert.equal(formatValue(Number('9223372036854775807'), 'count'), '9.22 E');
    assert.equal(formatValue(Number('9223372036854775807'), 'bytes'), '8 EiB');
    assert.equal(formatValue(-9223372036854775808, 'bytes'), '-8 EiB');
});

test('units outside the known ones stay', () => {
    assert.equal(formatValue(1500, 'widgets'), '1,500 widgets');
    assert.equal(formatValue(250, 'milliseconds'), '250 ms');
    assert.equal(formatValue(2048, 'bytes/second'), '2 KiB/s');
    assert.equal(formatValue(1.5, 'cores'), '1.50 cores');
    assert.equal(formatCount(123456), '123 k');
});

test('shares and signs', () => {
    assert.equal(formatShare(0.12345), '12.3 %');
    assert.equal(formatShare(0.00001), '<0.01 %');
    assert.equal(formatShare(1), '100 %');
    assert.equal(signed(-0.5, formatShare), '−50.0 %');
    assert.equal(formatDelta(0.02, 'share', 'nanoseconds'), '+2.00 pp');
    assert.equal(formatDelta(0.00000001, 'share', 'nanoseconds'), '±0 pp');
    assert.equal(formatDelta(-2048, 'absolute', 'bytes'), '−2 KiB');
});

test('relative change names what appears and goes', () => {
    assert.equal(formatRelative(0, 5), 'new');
    assert.equal(formatRelative(5, 0), 'gone');
    assert.equal(formatRelative(2, 3), '+50.0 %');
    assert.equal(formatRelative(1, 50), '×50.0');
    assert.equal(formatRelative(0, 0), '');
});

test('type ids split from the right', () => {
    assert.deepEqual(typeParts('a:b:cpu:nanoseconds:cpu:nanoseconds'), { profile: 'a:b', sample: 'cpu', unit: 'nanoseconds' });
    assert.deepEqual(typeParts('process_cpu:cpu:nanoseconds:cpu:nanoseconds'), { profile: 'process_cpu', sample: 'cpu', unit: 'nanoseconds' });
    assert.equal(typeName('memory:inuse_space:bytes:space:bytes'), 'bytes in use');
    assert.equal(typeName('mutex:delay:nanoseconds:contentions:count'), 'mutex: time waiting');
});

test('limits are read in the unit of the type', () => {
    assert.equal(parseValue('20ms', 'nanoseconds'), '20000000');
    assert.equal(parseValue('1.5 MiB', 'bytes'), String(1.5 * 2 ** 20));
    assert.equal(parseValue('2k', 'bytes'), '2048');
    assert.equal(parseValue('3k', 'count'), '3000');
    assert.equal(parseValue('', 'count'), '');
    assert.equal(parseValue('20 apples', 'nanoseconds'), null);
    assert.equal(parseValue('ms', 'nanoseconds'), null);
});
