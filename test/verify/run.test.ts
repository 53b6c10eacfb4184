import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunRequest, runCommand } from '../../plugin/verify/run.ts';
import { runEnvironment } from '../../plugin/verify/run-environment.ts';
import { project } from './projects.ts';

/** Processes whose command line holds the text and that still run (no zombies: a container's first process may not reap). */
function running(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((name) => {
      try {
        const state = readFileSync(`/proc/${name}/stat`, 'latin1').replace(/^.*\) /s, '')[0];
        return state !== 'Z' && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text);
      } catch {
        return false;
      }
    });
}

/** Sleeps for a time that no other process of this machine sleeps for. */
let sleeps = 600_000 + (process.pid % 10_000) * 10;
const uniqueSleep = () => String(++sleeps);

function request(shell: string, more: Partial<RunRequest> = {}): RunRequest {
  const root = more.root ?? project({ 'a.txt': 'a' });
  return {
    command: { argv: [], shell, cwd: '', env: {} },
    root,
    log: join(root, 'run.log'),
    timeoutSeconds: 30,
    ...more,
  };
}

const linux = { skip: process.platform !== 'linux' };

test('a command without a shell: exit status, output in order, CI set, no standard input', async () => {
  const root = project({
    'out.mjs':
      "console.log(process.env.CI, process.argv[2]); console.error('two'); process.stdin.on('end', () => process.exit(7)).resume()",
  });
  const result = await runCommand({
    command: { argv: [process.execPath, 'out.mjs', 'a b; c'], cwd: '', env: {} },
    root,
    log: join(root, 'log'),
    timeoutSeconds: 30,
  });
  assert.deepEqual([result.ended, result.exit], ['exit', 7]);
  assert.equal(readFileSync(result.log, 'utf8'), 'true a b; c\ntwo\n');
});

test('what npm told this program of itself is not told to the tests', () => {
  const from = {
    npm_lifecycle_event: 'npx',
    npm_config_loglevel: 'silent',
    npm_config_registry: 'https://example.org',
    npm_config_local_prefix: '/own',
    npm_package_name: 'own',
    INIT_CWD: '/own',
    PATH: ['/own/node_modules/.bin', '/usr/bin'].join(delimiter),
  };
  const given = runEnvironment('/project', from);
  for (const name of ['npm_config_loglevel', 'npm_package_name', 'INIT_CWD', 'NODE_TEST_CONTEXT'])
    assert.ok(name in given && given[name] === undefined, name);
  assert.ok(!('npm_config_registry' in given), 'the user’s own setting stays');
  assert.deepEqual([given.PATH, given.CI], ['/usr/bin', 'true']);
  assert.ok(!('PATH' in runEnvironment('/own/packages/a', from)), 'the own package is the project');
  const plain = runEnvironment('/project', { npm_config_loglevel: 'silent', PATH: '/usr/bin' });
  assert.ok(!('npm_config_loglevel' in plain), 'without npm nothing is npm’s');
});

test('a missing program is named', async () => {
  const root = project({});
  const result = await runCommand({
    command: { argv: ['no-such-program-here'], cwd: '', env: {} },
    root,
    log: join(root, 'log'),
    timeoutSeconds: 5,
  });
  assert.equal(result.ended, 'not-started');
  assert.match(result.message ?? '', /^no-such-program-here: command not found/);
});

test('a folder that is missing is no crash', async () => {
  const result = await runCommand({
    command: { argv: ['true'], cwd: 'not/here', env: {} },
    root: project({}),
    log: join(project({}), 'log'),
    timeoutSeconds: 5,
  });
  assert.equal(result.ended, 'not-started');
});

test('a tree that ignores TERM and left the group ends with the time limit', linux, async () => {
  const [one, two, three] = [uniqueSleep(), uniqueSleep(), uniqueSleep()];
  const result = await runCommand(
    request(
      `trap '' TERM; setsid sleep ${one} & env -i setsid sleep ${two} & (trap '' TERM; sleep ${three}) & sleep ${one}`,
      { timeoutSeconds: 1 },
    ),
  );
  assert.equal(result.ended, 'timeout');
  for (const text of [one, two, three]) assert.deepEqual(running(`sleep\0${text}`), []);
});

test(
  'a daemon that gave up environment, session and parent at once is known by the log it writes into',
  linux,
  async () => {
    const one = uniqueSleep();
    const result = await runCommand(request(`(env -i setsid sleep ${one} &); sleep 60`, { timeoutSeconds: 1 }));
    assert.equal(result.ended, 'timeout');
    assert.deepEqual(running(`sleep\0${one}`), []);
  },
);

test('a daemon with an empty environment is known by the session it was seen in', linux, async () => {
  const one = uniqueSleep();
  const result = await runCommand(
    request(`env -i setsid sh -c 'sleep 0.5; (sleep ${one} &) ; exit 0' & sleep 60`, { timeoutSeconds: 2 }),
  );
  assert.equal(result.ended, 'timeout');
  assert.deepEqual(running(`sleep\0${one}`), []);
});

test('cancel ends it, and the listener is gone afterwards', linux, async () => {
  const one = uniqueSleep();
  const controller = new AbortController();
  const root = project({});
  const run = runCommand(request(`sleep ${one}`, { signal: controller.signal, root }));
  await sleep(300);
  controller.abort();
  assert.equal((await run).ended, 'cancelled');
  assert.deepEqual(running(`sleep\0${one}`), []);
  const done = new AbortController();
  const finished = await runCommand(request('exit 0', { signal: done.signal }));
  done.abort();
  assert.equal(finished.ended, 'exit');
});

/** Waits until no process has TEXT in its command line; fails after 5 s. */
async function untilGone(text: string): Promise<void> {
  for (let waited = 0; running(text).length > 0; waited += 50) {
    assert.ok(waited < 5000, `${running(text)} still run`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('what a command left running in its group is ended and said', linux, async () => {
  const one = uniqueSleep();
  const result = await runCommand(request(`sleep ${one} & exit 3`));
  assert.deepEqual([result.ended, result.exit], ['exit', 3]);
  assert.match(result.message ?? '', /1 of its processes still ran/);
  // a process that was killed is gone when the kernel gets to it
  await untilGone(`sleep\0${one}`);
});

test('output goes to the file without limit and without memory', linux, async () => {
  const before = process.memoryUsage().rss;
  const result = await runCommand(request('head -c 100000000 /dev/zero'));
  assert.equal(statSync(result.log).size, 100_000_000);
  assert.ok(process.memoryUsage().rss - before < 50_000_000, 'the output was not held in memory');
});

test('progress names the last line', async () => {
  const lines: string[] = [];
  await runCommand(request('echo one; echo two; sleep 1.5', { onProgress: ({ lastLine }) => lines.push(lastLine) }));
  assert.ok(lines.includes('two'));
});

test('the stop command of a container is run on the time limit', linux, async () => {
  const root = project({});
  await runCommand(
    request(`sleep ${uniqueSleep()}`, { root, timeoutSeconds: 0.3, stopCommand: 'echo stopped > stopped.txt' }),
  );
  assert.ok(existsSync(join(root, 'stopped.txt')));
});

test('kill -9 of the host leaves nothing of the run', linux, async () => {
  const [one, two, three] = [uniqueSleep(), uniqueSleep(), uniqueSleep()];
  const root = project({
    'host.mts': `import { runCommand } from ${JSON.stringify(join(import.meta.dirname, '../../plugin/verify/run.ts'))};
await runCommand({ command: { argv: [], shell: "trap '' TERM HUP; setsid sleep ${one} & (env -i setsid sleep ${three} &); sleep ${two}", cwd: '', env: {} }, root: ${JSON.stringify(project({}))}, log: ${JSON.stringify(join(project({}), 'log'))}, timeoutSeconds: 300 });`,
  });
  const host = spawn(process.execPath, ['--import', 'tsx', join(root, 'host.mts')], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: 'inherit',
  });
  const left = () => [one, two, three].filter((text) => running(`sleep\0${text}`).length > 0);
  for (let turn = 0; turn < 200 && left().length < 3; turn++) await sleep(100);
  assert.equal(left().length, 3, 'the run has begun');
  host.kill('SIGKILL');
  for (let turn = 0; turn < 100 && left().length > 0; turn++) await sleep(50);
  assert.deepEqual(left(), []);
});

test('cancel ends what forked twice, left the session or is deaf to TERM', linux, async () => {
  const [one, two, three] = [uniqueSleep(), uniqueSleep(), uniqueSleep()];
  const controller = new AbortController();
  const run = runCommand(
    request(
      `(setsid sh -c 'trap "" TERM HUP; sleep ${one} & wait' &); (sh -c 'sleep ${two} &' &); trap '' TERM; sleep ${three}`,
      { signal: controller.signal },
    ),
  );
  for (let turn = 0; turn < 100 && [one, two, three].some((text) => running(`sleep\0${text}`).length === 0); turn++)
    await sleep(50);
  controller.abort();
  assert.equal((await run).ended, 'cancelled');
  for (const text of [one, two, three]) assert.deepEqual(running(`sleep\0${text}`), []);
});

/** Processes that this one started and that still run. */
function children(): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      const [state, parent] = readFileSync(`/proc/${name}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .split(' ');
      return /^\d+$/.test(name) && state !== 'Z' && parent === String(process.pid);
    } catch {
      return false;
    }
  });
}

test('twenty runs in a row leave no process, none that guards them either', linux, async () => {
  const one = uniqueSleep();
  const before = children().length;
  for (let turn = 0; turn < 20; turn++) await runCommand(request(turn % 2 === 0 ? `sleep ${one} & exit 0` : 'exit 1'));
  for (let turn = 0; turn < 100 && children().length > before; turn++) await sleep(50);
  assert.deepEqual(running(`sleep\0${one}`), []);
  assert.equal(children().length, before);
});
