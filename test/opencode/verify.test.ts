// verify_change in the real OpenCode binary: every kind of end, and nothing of a run left behind.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createOpencodeClient } from '@opencode-ai/sdk';
import { until } from '../scratch.ts';
import { makeProject, runOpenCode, serveOpenCode } from './opencode.ts';
import { type Step, startModel } from './scripted-model.ts';

const HEAD = "const assert = require('node:assert');\nconst { test } = require('node:test');\n";
const FILES = {
  'package.json': JSON.stringify({ name: 'sample', scripts: { test: 'node --test test/' } }),
  'test/good.test.js': `${HEAD}test('adds', () => {\n  assert.equal(1 + 1, 2);\n});\n`,
  'other/bad.test.js': `${HEAD}test('subtracts', () => {\n  assert.equal(3 - 1, 1);\n});\n`,
  'other/broken.c': 'int main(void) { return missing; }\n',
  'other/nothing.py': 'import unittest\n',
};

const verifies = (args: object): Step => ({ tools: [{ name: 'verify_change', args }] });

test('passing, failing, no tests, a missing program and a time-out reach the model as such', async (t) => {
  const model = await startModel([
    verifies({}),
    verifies({ test_command: 'node --test other/bad.test.js' }),
    verifies({ test_command: 'python3 -m unittest other/nothing.py' }),
    verifies({ test_command: 'no-such-runner --all' }),
    verifies({ test_command: 'sleep 60', timeout: 1 }),
    { text: 'DONE' },
  ]);
  t.after(() => model.close());
  const project = makeProject(t, { modelUrl: model.url, files: FILES });
  const { code, stdout, stderr } = await runOpenCode(project, 'go');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /DONE/);
  const [passed, failed, none, missing, late] = model.toolAnswers();
  assert.match(passed ?? '', /^PASSED: 1 tests/);
  assert.match(failed ?? '', /^FAILED: 1 failure[\s\S]*✗ subtracts[\s\S]*other\/bad\.test\.js:4/);
  assert.match(none ?? '', /^NO-TESTS-RAN/);
  assert.match(missing ?? '', /^SETUP-ERROR[\s\S]*install no-such-runner, or give another command/);
  assert.doesNotMatch(missing ?? '', /npm install/, 'nothing of package.json would bring it');
  assert.match(late ?? '', /^TIMEOUT/);
});

/** Processes that still run with this word on their command line. */
function running(word: string): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(word) &&
        !/\) Z/.test(readFileSync(`/proc/${name}/stat`, 'latin1'))
      );
    } catch {
      return false;
    }
  });
}

test('an aborted session ends the run and all that it started', { skip: process.platform !== 'linux' }, async (t) => {
  const seconds = String(700_000 + process.pid);
  const model = await startModel([
    verifies({ test_command: `trap '' TERM; setsid sleep ${seconds} & sleep ${seconds}` }),
    { text: 'DONE' },
  ]);
  t.after(() => model.close());
  const project = makeProject(t, { modelUrl: model.url, files: FILES });
  const { url } = await serveOpenCode(t, project);
  const client = createOpencodeClient({ baseUrl: url, directory: project.folder });
  const session = (await client.session.create({ body: { title: 'fixed' } })).data;
  assert.ok(session);
  const prompt = client.session.prompt({
    path: { id: session.id },
    body: { model: { providerID: 'scripted', modelID: 'model' }, parts: [{ type: 'text', text: 'go' }] },
  });
  await until('the run has begun', () => running(`sleep\0${seconds}`).length === 2, 120_000);
  await client.session.abort({ path: { id: session.id } });
  await prompt.catch(() => {});
  await until('nothing of the run is left', () => running(`sleep\0${seconds}`).length === 0, 5000);
});
