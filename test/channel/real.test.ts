// The real sidecar as the host sees it: shared, crashing, restarting, and gone with its host.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../plugin/channel/fault.ts';
import { alive, git, scratchFolder, scratchRepository, until } from '../scratch.ts';
import { realOptions, shareSidecar, sidecarCommand } from '../sidecar-core.ts';

function shared(t: TestContext, root = scratchFolder(t)) {
  const one = shareSidecar(realOptions(root, path.join(root, '.index')));
  t.after(() => one.release());
  return one;
}

const evaluate = (code: string) => ({ code, deadline: 20, session: null });

test('twenty sessions of one root share one sidecar, which ends with the last of them', async (t) => {
  const root = scratchFolder(t);
  const sessions = Array.from({ length: 20 }, () => shared(t, root));
  const pids = new Set(await Promise.all(sessions.map(async ({ sidecar }) => (await sidecar.describe()).pid)));
  assert.equal(pids.size, 1);
  const [pid] = pids;
  for (const session of sessions.slice(1)) await session.release();
  assert.ok(alive(pid!), 'it lives while one session is left');
  await sessions[0]!.release();
  assert.equal(alive(pid!), false);
});

test('a history that took long is kept by a process that ends at once', async (t) => {
  const root = scratchRepository(t, { 'main.py': 'def main(): pass\n' });
  const commit = (n: number) =>
    `commit refs/heads/main\ncommitter t <t@t> ${1_700_000_000 + n} +0000\ndata 5\nwords\n${n ? '' : 'from refs/heads/main^0\n'}\n`;
  execFileSync('git', ['fast-import', '--quiet'], {
    cwd: root,
    input: Array.from({ length: 600 }, (_, n) => commit(n)).join(''),
  });
  const { sidecar, release } = shared(t, root);
  await sidecar.call('index', { rebuild: false });
  await sidecar.call('context', { task: 'main', limit: 3, offset: 0, explain: false });
  await release();
  assert.ok(readFileSync(path.join(root, '.index', 'index.snapshot')).includes(git(root, 'rev-parse', 'HEAD').trim()));
});

test('two roots have a sidecar each', async (t) => {
  const [one, two] = [shared(t), shared(t)];
  assert.notEqual((await one.sidecar.describe()).pid, (await two.sidecar.describe()).pid);
});

test('a sidecar that is killed fails the waiting call and is there again for the next', async (t) => {
  const { sidecar } = shared(t);
  const { pid } = await sidecar.describe();
  const waiting = sidecar.call('evaluate', evaluate('(sleep 60)'));
  await sleep(200);
  process.kill(pid, 'SIGKILL');
  await assert.rejects(
    waiting,
    (error) => error instanceof Fault && error.code === 'ended' && /SIGKILL/.test(error.message),
  );
  const reply = await sidecar.call('evaluate', evaluate('(+ 1 2)'));
  assert.equal(reply.value[0]?.value, '3');
  assert.notEqual((await sidecar.describe()).pid, pid);
});

test('what evaluated code does to its own process is survived', async (t) => {
  const { sidecar } = shared(t);
  await sidecar.call('evaluate', evaluate('(sb-ext:exit :code 3 :abort t)')).catch(() => {});
  assert.equal((await sidecar.call('evaluate', evaluate('(* 2 21)'))).value[0]?.value, '42');
});

test('recursion that allocates until the stack ends is an error, and the next call works', async (t) => {
  const { sidecar } = shared(t);
  // Met inside SBCL's allocator this ends the process, elsewhere it is an error of the evaluation; the caller is told either way.
  await assert.rejects(
    sidecar.call('evaluate', evaluate('(defun down (x) (list (down (cons x x)))) (down 1)')),
    (error) => error instanceof Fault && ['exhausted', 'ended'].includes(error.code),
  );
  assert.equal((await sidecar.call('evaluate', evaluate('(* 2 21)'))).value[0]?.value, '42');
});

test('code that cannot be stopped costs its image, and the next call gets another', async (t) => {
  const { sidecar } = shared(t);
  await assert.rejects(
    sidecar.call('evaluate', { code: '(sb-sys:without-interrupts (loop))', deadline: 1, session: null }),
    (error) => error instanceof Fault && error.code === 'stuck',
  );
  assert.equal((await sidecar.call('evaluate', evaluate('(* 2 21)'))).value[0]?.value, '42');
});

test('calls run beside each other: a query does not wait for an evaluation', async (t) => {
  const { sidecar } = shared(t);
  const giveUp = new AbortController();
  const slow = sidecar.call('evaluate', evaluate('(sleep 30)'), { signal: giveUp.signal });
  slow.catch(() => {});
  assert.equal((await sidecar.call('status', {})).status.length, 1);
  giveUp.abort();
  await assert.rejects(slow, /cancelled/);
});

for (const work of ['idle', 'evaluate']) {
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGHUP'] as const) {
    test(`a host that is ${work} and ends by ${signal} leaves nothing behind`, async (t) => {
      const root = scratchFolder(t);
      const host = spawn(
        process.execPath,
        ['--import', 'tsx', path.join(import.meta.dirname, 'host.mjs'), root, work],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      const [line] = await once(host.stdout, 'data');
      const pid = Number(String(line));
      assert.ok(alive(pid));
      await sleep(300);
      host.kill(signal);
      await until('the sidecar is gone', () => !alive(pid), 5000);
    });
  }
}

test('children of the sidecar are gone with its host', async (t) => {
  const { sidecar, release } = shared(t);
  const { pid } = await sidecar.describe();
  const code =
    '(progn (sb-thread:make-thread (lambda () (opl.wire.children:with-child (child "sleep" (list "600")) (sb-ext:process-wait child)))) (sleep 1) (mapcar #\'sb-ext:process-pid opl.wire.children::*children*))';
  const reply = await sidecar.call('evaluate', evaluate(code));
  const [child] = /\d+/.exec(reply.value[0]!.value)!.map(Number);
  assert.ok(alive(child!));
  process.kill(pid, 'SIGTERM');
  await until('the child is gone', () => !alive(child!) && !alive(pid), 5000);
  await release();
});

/** Seconds of processor time that the process PID has used, from /proc. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

test('an idle sidecar uses no processor', { skip: process.platform !== 'linux' && 'reads /proc' }, async (t) => {
  const { sidecar } = shared(t);
  const { pid } = await sidecar.describe();
  await sidecar.call('status', {});
  await sleep(500);
  const before = processorSeconds(pid);
  await sleep(3000);
  assert.ok(processorSeconds(pid) - before < 0.1, 'less than a thirtieth of one processor');
});

test('the end of input ends it within two seconds, whatever it is doing, and with status 0', async (t) => {
  const root = scratchFolder(t);
  const { program, arguments: words } = await sidecarCommand(root);
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'ignore'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.stdin.write('1\tevaluate\t(loop)\t600\n');
  await sleep(300);
  const exited = once(child, 'exit');
  child.stdin.end();
  const [code] = (await Promise.race([exited, sleep(10_000, ['too late'])])) as [unknown];
  assert.equal(code, 0);
});
