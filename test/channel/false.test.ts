// Sidecars that break the contract, each a real program named for its fault: every call ends, with a message that says what to do, and the session goes on.

import assert from 'node:assert/strict';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { Fault, type FaultCode } from '../../plugin/channel/fault.ts';
import type { Sidecar } from '../../plugin/channel/sidecar.ts';
import { falseSidecar as sidecarOf } from '../false-sidecar.ts';
import { alive } from '../scratch.ts';

const log: string[] = [];

const falseSidecar = (t: TestContext, name: string, greetingMilliseconds = 20_000): Sidecar =>
  sidecarOf(
    t,
    [path.join(import.meta.dirname, 'false', `${name}.mjs`)],
    (text) => log.push(text),
    greetingMilliseconds,
  );

async function fails(work: Promise<unknown>, code: FaultCode, message: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof Fault, `a Fault, not ${error}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });
}

test('silent: the greeting has a time limit', async (t) => {
  await fails(falseSidecar(t, 'silent', 500).call('status', {}), 'start', /did not greet within 0.5 s/);
});

test('wrong-version: the installation is said to be mixed', async (t) => {
  await fails(falseSidecar(t, 'wrong-version').call('status', {}), 'start', /speaks protocol 99.*reinstall/);
});

test('greets-with-something-else: what it said is shown', async (t) => {
  await fails(
    falseSidecar(t, 'greets-with-something-else').call('status', {}),
    'start',
    /Welcome to the other program/,
  );
});

test('dies-before-greeting: its last words are shown, and starting is not tried without end', async (t) => {
  const sidecar = falseSidecar(t, 'dies-before-greeting');
  await fails(sidecar.call('status', {}), 'start', /status 1.*built for another runtime/s);
  await fails(sidecar.call('status', {}), 'start', /built for another runtime/);
  await fails(
    sidecar.call('status', {}),
    'start',
    /built for another runtime.*failed 2 times in a row; the next start is tried in/s,
  );
});

test('a program that does not exist: sbcl is said to be missing', async (t) => {
  const sidecar = falseSidecar(t, 'silent');
  sidecar.options.launch = async () => ({
    program: '/nowhere/sbcl',
    arguments: [],
    greetingMilliseconds: 5000,
    core: null,
    note: null,
  });
  for (let times = 0; times < 4; times += 1) {
    await fails(sidecar.call('status', {}), 'sbcl-missing', /nowhere.*ENOENT/);
  }
});

test('dies-after-greeting: every waiting call is told that memory ran out, and the next call starts another', async (t) => {
  const sidecar = falseSidecar(t, 'dies-after-greeting');
  const first = (await sidecar.describe()).pid;
  await Promise.all([
    fails(sidecar.call('status', {}), 'exhausted', /memory ran out.*the next call starts it again.*OPL_HEAP_MB/s),
    fails(sidecar.call('status', {}), 'exhausted', /memory ran out/),
  ]);
  await sidecar.call('reset', {});
  assert.notEqual((await sidecar.describe()).pid, first);
});

test('half-line: half a row is no answer', async (t) => {
  await fails(
    falseSidecar(t, 'half-line').call('evaluate', { code: '1', deadline: 1, session: null }),
    'ended',
    /status 0/,
  );
});

test('unknown-row: the contract is said to be broken', async (t) => {
  await fails(
    falseSidecar(t, 'unknown-row').call('status', {}),
    'protocol',
    /answered with the row "weather".*Reinstall/,
  );
});

test('row-with-wrong-fields: nothing that the table does not allow comes through', async (t) => {
  const sidecar = falseSidecar(t, 'row-with-wrong-fields');
  await fails(sidecar.call('search', { name: 'a', limit: 1 }), 'protocol', /answer row: complete must be boolean/);
  await fails(sidecar.call('symbols', {}), 'protocol', /tag row: path must match/);
});

test('foreign-id: the contract is said to be broken', async (t) => {
  await fails(falseSidecar(t, 'foreign-id').call('status', {}), 'protocol', /"12345"/);
});

test('endless-line: a line over the limit ends it', async (t) => {
  await fails(falseSidecar(t, 'endless-line').call('status', {}), 'protocol', /over the limit/);
});

test('ignores-end-of-input: it is killed', async (t) => {
  const sidecar = falseSidecar(t, 'ignores-end-of-input');
  const { pid } = await sidecar.describe();
  await sidecar.stop();
  assert.equal(alive(pid), false);
  await fails(sidecar.call('status', {}), 'ended', /was stopped/);
});

test('never-answers: a call that is given up ends at once, what comes late for it is dropped, nothing listens any more', async (t) => {
  const sidecar = falseSidecar(t, 'never-answers');
  const giveUp = new AbortController();
  const call = sidecar.call('evaluate', { code: '1', deadline: 1, session: null }, { signal: giveUp.signal });
  const { pid } = await sidecar.describe();
  setTimeout(() => giveUp.abort(), 100);
  await fails(call, 'cancelled', /cancelled/);
  assert.equal((await sidecar.call('status', {})).status.length, 1);
  await fails(sidecar.call('status', {}, { signal: AbortSignal.abort() }), 'cancelled', /cancelled/);
  assert.equal((await sidecar.describe()).pid, pid, 'it is still the same one');
});

test('never-answers: a call with a limit of its own restarts it', async (t) => {
  const sidecar = falseSidecar(t, 'never-answers');
  const { pid } = await sidecar.describe();
  await fails(
    sidecar.call('evaluate', { code: '1', deadline: 1, session: null }, { stuckAfter: 300 }),
    'deadline',
    /restarted/,
  );
  await sidecar.call('status', {});
  assert.notEqual((await sidecar.describe()).pid, pid);
});

test('a signal that aborts after its call has settled disturbs nobody', async (t) => {
  const sidecar = falseSidecar(t, 'never-answers');
  const later = new AbortController();
  await sidecar.call('status', {}, { signal: later.signal });
  const { pid } = await sidecar.describe();
  later.abort();
  await sidecar.call('status', {});
  assert.equal((await sidecar.describe()).pid, pid);
});

test('arguments are checked before anything is sent', async (t) => {
  const sidecar = falseSidecar(t, 'never-answers');
  await fails(sidecar.call('search', { name: 'a', limit: -1 }), 'bad-argument', /search: limit must be >= 0/);
});
