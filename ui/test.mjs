// SPDX-License-Identifier: Apache-2.0
// Runs test/*.test.ts: bundled by esbuild (Node 18 cannot strip types), then handed to Node's own runner.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.join(here, '.test');
const tests = fs.readdirSync(path.join(here, 'test')).filter((f) => f.endsWith('.test.ts'));
fs.rmSync(out, { recursive: true, force: true });
await build({
    absWorkingDir: here, entryPoints: tests.map((f) => 'test/' + f), outdir: out, outExtension: { '.js': '.mjs' },
    bundle: true, platform: 'node', format: 'esm', target: 'node18', jsx: 'automatic', jsxImportSource: 'preact',
    sourcemap: 'inline', logLevel: 'warning',
});
const files = tests.map((f) => path.join(out, f.replace(/\.ts$/, '.mjs')));
process.exit(spawnSync(process.execPath, ['--enable-source-maps', '--test', ...files], { stdio: 'inherit' }).status ?? 1);
