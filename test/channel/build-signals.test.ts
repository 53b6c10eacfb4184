// A build that is told to end, more than once, ends: its host may be killed while it compiles.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { REPOSITORY, scratchFolder } from '../scratch.ts';

async function build(t: TestContext) {
  const folder = scratchFolder(t);
  const words = ['--noinform', '--non-interactive', '--no-sysinit', '--no-userinit'];
  const child = spawn(
    'sbcl',
    [
      ...words,
      '--load',
      path.join(REPOSITORY, 'sidecar/build.lisp'),
      '--end-toplevel-options',
      path.join(folder, 'core'),
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  t.after(() => child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  child.stdout.resume();
  return { folder, child, ended: () => Promise.race([exit.then(() => true), pause(5000).then(() => false)]) };
}

const options = { skip: process.platform === 'win32' };

test('a build that is told to end while it compiles is gone', options, async (t) => {
  const { child, ended } = await build(t);
  await once(child.stdout, 'data');
  for (let n = 0; n < 3; n += 1) child.kill('SIGTERM');
  assert.ok(await ended(), 'it is still there after five seconds');
});

test('a build that is told to end while its core is written is gone', options, async (t) => {
  const { folder, child, ended } = await build(t);
  while (child.exitCode === null && !readdirSync(folder).some((name) => name.endsWith('.tmp'))) await pause(2);
  for (let n = 0; n < 3; n += 1) child.kill('SIGTERM');
  assert.ok(await ended(), 'it is still there after five seconds');
});
