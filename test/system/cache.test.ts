// A cache that nothing can be written to, and paths that cannot be: each command answers, or says what is wrong with them.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { scratchRepository } from '../scratch.ts';
import { opl } from './opl.ts';

const FILES = {
  'package.json': '{"type":"module","scripts":{"test":"node --test"}}\n',
  'add.js': 'export function add(a, b) {\n  return a + b;\n}\n',
  'add.test.js': "import { test } from 'node:test';\ntest('adds', () => {});\n",
};

test('a cache below a file, or where no folder can be made, costs no answer', async (t) => {
  const root = scratchRepository(t, FILES);
  // node's own recursive mkdir never returns in /proc
  const caches = [path.join(root, 'add.js/cache'), ...(process.platform === 'linux' ? ['/proc/nowhere'] : [])];
  for (const cache of caches) {
    const ask = (...words: string[]) => opl(root, words, '', { XDG_CACHE_HOME: cache });
    const verified = await ask('verify');
    assert.match(verified.stdout, /^PASSED/m, verified.stderr);
    assert.match((await ask('context', 'add')).stdout, /add\.js/);
    assert.match(
      (await ask('doctor')).stdout,
      /Nothing can be written under .* Make it writable, or set XDG_CACHE_HOME/,
    );
  }
});

test('a path below a file or with too long a name is no fault of the plugin', async (t) => {
  const root = scratchRepository(t, FILES);
  for (const odd of ['add.js/below', 'x'.repeat(5000)]) {
    const folder = await opl(root, ['context', 'add', '--root', odd]);
    assert.equal(folder.status, 2);
    assert.match(folder.stderr, /^opl: There is no folder /);
    const file = await opl(root, ['failures', odd]);
    assert.equal(file.status, 2);
    assert.match(file.stderr, /^opl: There is no file /);
  }
});
