// Programs that run to their end, and those that do not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProgram } from '../../plugin/channel/child.ts';

test('a program that does not end is ended, and what a wrapper started is not waited for', async () => {
  for (const code of ['sleep 20', 'echo begun; sleep 20; true']) {
    const { exitCode, missing } = await runProgram('sh', ['-c', code], { milliseconds: 300 });
    assert.equal(exitCode, undefined);
    assert.equal(missing, false);
  }
});

test('a program in time is not disturbed', async () => {
  const { exitCode, stdout } = await runProgram('sh', ['-c', 'echo said; exit 3'], { milliseconds: 60_000 });
  assert.equal(exitCode, 3);
  assert.equal(stdout, 'said\n');
});
