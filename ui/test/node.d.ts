// SPDX-License-Identifier: Apache-2.0
// The little of Node's own test runner that the tests use; its full types would be one more package.

declare module 'node:test' {
    export function test(name: string, run: () => void | Promise<void>): void;
}
declare module 'node:assert/strict' {
    interface Assert {
        ok(value: unknown, message?: string): void;
        equal(actual: unknown, expected: unknown, message?: string): void;
        deepEqual(actual: unknown, expected: unknown, message?: string): void;
        throws(run: () => unknown, expected?: RegExp): void;
    }
    const assert: Assert;
    export default assert;
}
declare module '*/docs.mjs' {
    export function toHtml(markdown: string): string;
    export function docPage(markdown: string, css: string, icon: string): string;
}
