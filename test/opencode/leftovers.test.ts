// Runs leave nothing behind; bench/measure/leftovers.ts makes 20 of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markedProcesses, runInARow } from './leftovers.ts';

test('runs in a row end well and leave no process', {
  skip: process.platform !== 'linux' && 'reads /proc',
}, async (t) => {
  const { good, left } = await runInARow(t, 2);
  assert.equal(good, 2);
  assert.deepEqual(left, []);
});

test('a process that is left is seen', { skip: process.platform !== 'linux' && 'reads /proc' }, async (t) => {
  const { spawn } = await import('node:child_process');
  const child = spawn('sleep', ['60'], { env: { ...process.env, OPL_RUN_MARK: 'seen' } });
  t.after(() => child.kill('SIGKILL'));
  await new Promise((resolve) => child.once('spawn', resolve));
  assert.equal(markedProcesses('OPL_RUN_MARK=seen').length, 1);
});
