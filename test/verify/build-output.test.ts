import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { oneOfParts, partsOf, withoutTasks } from '../../plugin/verify/build-output.ts';
import type { Outcome } from '../../plugin/verify/outcome.ts';
import type { ParsedLog } from '../../plugin/verify/outcome-types.ts';
import { project } from './projects.ts';

function parts(runner: string, log: string): readonly string[] {
  return partsOf(runner, join(project({ 'output.log': log }), 'output.log')).map((file) =>
    readFileSync(file, 'utf8').trim(),
  );
}

test('cached and running tasks of nx are taken apart, a colon in the output of one is none', () => {
  const log = [
    ' NX   Running target test for 2 projects:',
    '> nx run lib:test  [existing outputs match the cache, left as is]',
    'TAP version 13',
    'error: of lib',
    '> nx run app:test',
    'app: TAP version 13',
    'lib: 1..1',
    'app: ok 1 - counts',
    ' NX   Successfully ran target test for 2 projects',
  ].join('\n');
  const [own, lib, app] = parts('nx', log);
  assert.equal(own, '');
  assert.equal(lib, 'TAP version 13\nerror: of lib\n1..1');
  assert.equal(app, 'TAP version 13\nok 1 - counts');
});

test('tasks of moon that print at once are taken apart; one task alone stays as it is', () => {
  const log = '  a:test | TAP version 13\nlong:test | TAP version 13\n  a:test | 1..1\nTasks: 2 completed\n';
  assert.deepEqual(parts('moon', log), ['Tasks: 2 completed', 'TAP version 13\n1..1', 'TAP version 13']);
  assert.equal(parts('moon', 'TAP version 13\n1..1\n').length, 1);
  assert.equal(parts('jest', log).length, 1);
});

const part = (more: Partial<ParsedLog>): ParsedLog => ({
  runner: null,
  verdict: 'unparsed',
  passed: null,
  failed: null,
  skipped: null,
  failures: [],
  tail: null,
  ...more,
});

test('parts are counted together, and the gravest decides', () => {
  const whole = oneOfParts([
    part({}),
    part({ verdict: 'passed', passed: 2, failed: 0 }),
    part({ verdict: 'failed', passed: 1, failed: 1 }),
    undefined,
  ]);
  assert.deepEqual([whole?.verdict, whole?.passed, whole?.failed, whole?.skipped], ['failed', 3, 1, null]);
});

const unparsed: Outcome = {
  verdict: 'unparsed',
  passed: null,
  failed: null,
  skipped: null,
  failures: [],
  tail: '',
  notes: [],
};
const verdictOf = (runner: string, text: string, exit: number | null): string =>
  withoutTasks(unparsed, runner, join(project({ 'output.log': text }), 'output.log'), exit).verdict;

test('a build system that ran nothing is told from one that failed by itself and from tests that are not understood', () => {
  assert.equal(
    verdictOf('moon', '│ No tasks affected by changed files. Unable to execute action pipeline.\n', 0),
    'no-tests-ran',
  );
  assert.equal(verdictOf('bazel', 'ERROR: No test targets were found, yet testing was requested\n', 4), 'no-tests-ran');
  assert.equal(
    verdictOf('unknown', "lerna success run No packages found with the lifecycle script 'test'\n", 0),
    'no-tests-ran',
  );
  assert.equal(verdictOf('turbo', '  x invalid type: integer `7`, expected a sequence\n', 1), 'setup-error');
  assert.equal(verdictOf('turbo', '• Running test in 3 packages\nlib:test: something odd\n', 1), 'unparsed');
  assert.equal(verdictOf('unknown', 'something odd\n', 1), 'unparsed');
});
