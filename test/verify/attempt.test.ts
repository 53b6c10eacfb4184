import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, type Bench } from '../../plugin/verify/attempt.ts';
import type { Plan } from '../../plugin/verify/plan.ts';
import type { Seams } from '../../plugin/verify/seams.ts';
import { project } from './projects.ts';

const PLAN: Plan = {
  runner: 'unknown',
  ecosystem: 'any',
  cwd: '',
  argv: ['true'],
  env: {},
  certainty: 'exact',
  reason: 'a test',
  notes: [],
};
/** Shorter than any compilation of the sidecar, longer than the grain of a clock. */
const WAIT_MILLISECONDS = 300;

test('waiting for the sidecar to read the output is not the tests’ time', async () => {
  const seams = { failures: () => sleep(WAIT_MILLISECONDS, undefined) } as unknown as Seams;
  const deadline = performance.now() + 60_000;
  const bench: Bench = { root: project({}), seams, spool: join(project({}), 'spool'), deadline };
  await attempt(bench, PLAN, { argv: [process.execPath, '-e', ''], cwd: '', env: {} }, 'full', []);
  assert.ok(bench.deadline - deadline >= WAIT_MILLISECONDS - 1);
});
