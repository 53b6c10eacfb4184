import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { createHost, type Host } from '../../plugin/host.ts';
import { renderVerify } from '../../plugin/render/verify.ts';
import { sidecarOptions } from '../../plugin/settings.ts';
import { sidecarSeams } from '../../plugin/verify/sidecar-seams.ts';
import { type VerifyRequest, verify } from '../../plugin/verify/verify.ts';
import { CACHE } from '../scratch.ts';
import { manifest, project } from './projects.ts';

process.env.XDG_CACHE_HOME = CACHE;

const hosts: { readonly host: Host; readonly cache: string }[] = [];

after(async () => {
  for (const { host, cache } of hosts) {
    await host.dispose();
    rmSync(cache, { recursive: true, force: true });
  }
});

const git = (root: string, ...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
    cwd: root,
    encoding: 'utf8',
  });

/** A repository with one commit, and verify over its own sidecar. */
async function repository(files: Readonly<Record<string, string>>) {
  const root = project(files);
  git(root, 'init', '-q');
  git(root, 'add', '-A');
  git(root, 'commit', '-q', '-m', 'first');
  const host = createHost(root);
  const { indexFolder } = sidecarOptions(root, await host.settings());
  hosts.push({ host, cache: indexFolder });
  const spoolFolder = join(project({}), 'spool');
  const seams = sidecarSeams(() => host.sidecar(), indexFolder);
  return {
    root,
    write(name: string, text: string) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    },
    verify: (more: Partial<VerifyRequest> = {}) => verify({ root, seams, spoolFolder, timeoutSeconds: 60, ...more }),
  };
}

const HEAD =
  "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { add } from '../src/add.js';\n";
const NODE = {
  'package.json': manifest({ test: 'node --test test/' }, { type: 'module' }),
  'src/add.js': 'export function add(a, b) {\n  return a + b;\n}\n',
  'test/add.test.js': `${HEAD}test('adds', () => {\n  assert.equal(add(1, 1), 2);\n});\n`,
};
const BROKEN_ADD = 'export function add(a, b) {\n  return a - b;\n}\n';

test('node:test passes: the tests of the change, then the suite', async () => {
  const repo = await repository(NODE);
  repo.write('test/more.test.js', `${HEAD}test('adds more', () => {\n  assert.equal(add(2, 2), 4);\n});\n`);
  const answer = await repo.verify();
  assert.equal(answer.verdict, 'passed');
  assert.deepEqual(
    answer.ran.map(({ scope, passed }) => [scope, passed]),
    [
      ['targeted', 1],
      ['full', 2],
    ],
  );
  assert.match(answer.ran[0]?.command ?? '', /more\.test\.js/);
  assert.match(renderVerify(answer), /^PASSED: 2 tests/);
});

test('node:test fails: name, place, message, whose it is, what to type', async () => {
  const repo = await repository(NODE);
  repo.write('src/add.js', BROKEN_ADD);
  const answer = await repo.verify({ rerun: false });
  assert.equal(answer.verdict, 'failed');
  const [failure] = answer.failures;
  assert.equal(failure?.test, 'adds');
  assert.deepEqual([failure?.path, failure?.line], ['test/add.test.js', 5]);
  assert.equal(failure?.category, 'assertion');
  assert.ok(
    answer.actions.some((action) => /add\.test\.js/.test(action)),
    answer.actions.join('\n'),
  );
  assert.ok(renderVerify(answer).length < 2500, 'a few hundred tokens');
});

test('what failed last runs first, and what failed before is not the change’s', async () => {
  const repo = await repository(NODE);
  repo.write('test/old.test.js', `${HEAD}test('never', () => {\n  assert.equal(add(1, 1), 3);\n});\n`);
  git(repo.root, 'add', '-A');
  git(repo.root, 'commit', '-q', '-m', 'a failing test');
  assert.equal((await repo.verify({ rerun: false })).verdict, 'failed');
  repo.write('src/add.js', 'export function add(a, b) {\n  const sum = a + b;\n  return sum;\n}\n');
  const answer = await repo.verify({ rerun: false });
  assert.match(answer.ran[0]?.command ?? '', /old\.test\.js/);
  assert.equal(answer.failures[0]?.before, 'failed');
  assert.match(answer.notes.join(), /failed before the change too/);
  repo.write('test/old.test.js', `${HEAD}test('never', () => {\n  assert.equal(add(1, 1), 2);\n});\n`);
  assert.equal((await repo.verify()).verdict, 'passed');
});

test('what only the record knows to fail runs first, whatever the graph says of it', async () => {
  const repo = await repository(NODE);
  repo.write('src/other.js', 'export function twice(n) {\n  return n * 3;\n}\n');
  repo.write(
    'test/zz-other.test.js',
    `${HEAD.replace('add', 'twice').replace('add.js', 'other.js')}test('doubles', () => {\n  assert.equal(twice(2), 4);\n});\n`,
  );
  git(repo.root, 'add', '-A');
  git(repo.root, 'commit', '-q', '-m', 'a failing test of something else');
  repo.write('src/add.js', 'export function add(a, b) {\n  return b + a;\n}\n');
  const first = await repo.verify({ rerun: false });
  assert.equal(first.verdict, 'failed');
  assert.equal(first.failures[0]?.relation, 'unrelated', first.failures[0]?.why);
  repo.write('src/add.js', 'export function add(a, b) {\n  const sum = a + b;\n  return sum;\n}\n');
  const again = await repo.verify({ rerun: false });
  assert.match(again.ran[0]?.command ?? '', /zz-other\.test\.js.*add\.test\.js/);
  assert.equal(again.ran[0]?.scope, 'targeted');
});

test('passing tests with too little coverage have failed, and the thresholds are what failed', async () => {
  const repo = await repository(NODE);
  const log = join(import.meta.dirname, '../sidecar/logs/jest/coverage-threshold.txt');
  const answer = await repo.verify({ command: `sh -c 'cat "${log}"; exit 1'`, rerun: false });
  assert.equal(answer.verdict, 'failed');
  assert.deepEqual(
    answer.failures.map((failure) => failure.test),
    ['coverage threshold: global statements', 'coverage threshold: ./src/sum.js functions'],
  );
  assert.match(renderVerify(answer), /statements \(80%\) not met: 50%/);
});

test('more failures than are kept are counted, and the answer says so', async () => {
  const repo = await repository(NODE);
  const script =
    'for (let i = 1; i <= 3000; i++) console.log("=== RUN   Test" + i + "\\n    a_test.go:5: got\\n--- FAIL: Test" + i + " (0.00s)"); console.log("FAIL\\nFAIL\\texample.com/a\\t0.1s"); process.exit(1)';
  repo.write('many.mjs', script);
  const answer = await repo.verify({ command: 'node many.mjs', rerun: false });
  assert.equal(answer.ran[0]?.failed, 3000);
  assert.equal(answer.failures.length, 2000);
  assert.match(answer.notes.join(), /1000 more failures are counted but not listed/);
});

test('baseline runs the same tests without the change', async () => {
  const repo = await repository(NODE);
  repo.write('src/add.js', BROKEN_ADD);
  const answer = await repo.verify({ baseline: true, rerun: false });
  assert.equal(answer.failures[0]?.before, 'passed');
  assert.equal(git(repo.root, 'worktree', 'list').trim().split('\n').length, 1, 'the worktree is gone');
});

test('baseline: a submodule is there without the change too, a test of a new file was nowhere', async () => {
  const module = await repository({ 'one.js': 'export const one = 1;\n' });
  const sub = `${HEAD}import { one } from '../sub/one.js';\ntest('adds one', () => {\n  assert.equal(add(one, 1), 2);\n});\n`;
  const repo = await repository({ ...NODE, 'test/sub.test.js': sub });
  git(repo.root, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', module.root, 'sub');
  git(repo.root, 'commit', '-q', '-m', 'a submodule');
  repo.write('src/add.js', BROKEN_ADD);
  repo.write('test/new.test.js', `${HEAD}test('new', () => {\n  assert.equal(add(1, 1), 2);\n});\n`);
  repo.write('test/sub.test.js', `// changed\n${sub}`);
  const answer = await repo.verify({ baseline: true, rerun: false });
  const before = Object.fromEntries(answer.failures.map(({ test: name, before: state }) => [name, state]));
  assert.deepEqual(before, { adds: 'passed', 'adds one': 'passed', new: 'unknown' });
});

test('a failure that passes alone is flaky', async () => {
  const repo = await repository({ ...NODE, '.gitignore': 'tried\n' });
  repo.write(
    'test/chance.test.js',
    `import fs from 'node:fs';\n${HEAD}test('by chance', () => {\n  const tried = fs.existsSync('tried');\n  fs.writeFileSync('tried', '');\n  assert.equal(tried, true);\n});\n`,
  );
  const answer = await repo.verify({ targetedOnly: true });
  assert.equal(answer.failures[0]?.flaky, true);
});

test('a lock file sends everything to the full suite, with why', async () => {
  const repo = await repository(NODE);
  repo.write('package-lock.json', '{}');
  const answer = await repo.verify();
  assert.deepEqual(
    answer.ran.map(({ scope }) => scope),
    ['full'],
  );
  assert.match(answer.notes.join(), /package-lock\.json \(a lock file/);
});

test('what failed last runs first where everything has to run: a lock file, nothing changed', async () => {
  const repo = await repository(NODE);
  repo.write('test/old.test.js', `${HEAD}test('never', () => {\n  assert.equal(add(1, 1), 3);\n});\n`);
  assert.equal((await repo.verify({ rerun: false })).verdict, 'failed');
  repo.write('package-lock.json', '{}');
  const stopped = await repo.verify({ rerun: false });
  assert.deepEqual(
    stopped.ran.map(({ scope }) => scope),
    ['targeted'],
  );
  assert.match(stopped.ran[0]?.command ?? '', /old\.test\.js/);
  repo.write('test/old.test.js', `${HEAD}test('never', () => {\n  assert.equal(add(1, 1), 2);\n});\n`);
  git(repo.root, 'add', '-A');
  git(repo.root, 'commit', '-q', '-m', 'mended');
  const mended = await repo.verify();
  assert.match(mended.notes.join(), /nothing changed/);
  assert.deepEqual(
    mended.ran.map(({ scope, passed }) => [scope, passed]),
    [
      ['targeted', 1],
      ['full', 2],
    ],
  );
});

test('what failed last runs first where more files are affected than are chosen', async () => {
  const repo = await repository(NODE);
  repo.write('test/zz.test.js', `${HEAD}test('never', () => {\n  assert.equal(add(1, 1), 3);\n});\n`);
  assert.equal((await repo.verify({ rerun: false })).verdict, 'failed');
  repo.write('test/zz.test.js', `${HEAD}test('never', () => {\n  assert.equal(add(1, 1), 2);\n});\n`);
  for (let number = 0; number < 41; number++)
    repo.write(`test/a${number}.test.js`, "import { test } from 'node:test';\ntest('passes', () => {});\n");
  const answer = await repo.verify({ targetedOnly: true });
  assert.deepEqual(
    answer.ran.map(({ scope, passed }) => [scope, passed]),
    [['targeted', 1]],
  );
  assert.match(answer.notes.join(), /42 test files exercise the change: the full suite tells/);
});

test('old failures alone do not keep the full suite from running', async () => {
  const repo = await repository(NODE);
  repo.write('test/old.test.js', `${HEAD}test('never', () => {\n  assert.equal(add(1, 1), 3);\n});\n`);
  git(repo.root, 'add', '-A');
  git(repo.root, 'commit', '-q', '-m', 'a failing test');
  assert.equal((await repo.verify({ rerun: false })).verdict, 'failed');
  repo.write('package-lock.json', '{}');
  repo.write('test/new.test.js', `${HEAD}test('new', () => {\n  assert.equal(add(1, 1), 4);\n});\n`);
  const answer = await repo.verify({ rerun: false });
  assert.deepEqual(
    answer.ran.map(({ scope, failed }) => [scope, failed]),
    [
      ['targeted', 1],
      ['full', 2],
    ],
  );
  assert.deepEqual(
    answer.failures.map(({ test: name, before }) => [name, before]),
    [
      ['new', 'unknown'],
      ['never', 'failed'],
    ],
  );
});

test('zero tests are never passed', async () => {
  const repo = await repository({ 'package.json': manifest({ test: 'node --test' }), 'index.js': '' });
  assert.equal((await repo.verify()).verdict, 'no-tests-ran');
  const silent = await repo.verify({ command: 'node index.js' });
  assert.notEqual(silent.verdict, 'passed');
});

test('one endless line is output that is not understood, a word is nothing', async () => {
  const repo = await repository({ 'a.txt': 'a\n' });
  const said = async (command: string) => (await repo.verify({ command })).verdict;
  assert.equal(await said("head -c 2000000 /dev/zero | tr '\\0' x"), 'unparsed');
  assert.equal(await said('echo done'), 'no-tests-ran');
});

test('an import that is missing is no failing test', async () => {
  const repo = await repository({
    ...NODE,
    'test/add.test.js': `import 'no-such-package-here';\n${NODE['test/add.test.js']}`,
  });
  const answer = await repo.verify({ rerun: false });
  assert.ok(['setup-error', 'failed'].includes(answer.verdict), answer.verdict);
  assert.ok(
    answer.actions.some((action) => /npm install .*no-such-package-here/.test(action)),
    answer.actions.join('\n'),
  );
});

test('watch mode ends', async () => {
  const repo = await repository({
    ...NODE,
    'package.json': manifest({ test: 'node --test --watch test/' }, { type: 'module' }),
  });
  const answer = await repo.verify();
  assert.equal(answer.verdict, 'passed');
  assert.match(answer.notes.join(), /--watch of scripts\.test left out/);
});

test('a run that hangs is a timeout with its last line, a cancelled one is cancelled', async () => {
  const repo = await repository({
    'package.json': manifest({ test: 'node hang.js' }),
    'hang.js': "console.log('waiting for the moon');\nprocess.on('SIGTERM', () => {});\nsetInterval(() => {}, 1000);\n",
  });
  const answer = await repo.verify({ timeoutSeconds: 8 });
  assert.equal(answer.verdict, 'timeout');
  assert.match(answer.actions.join(), /waiting for the moon/);
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 800);
  assert.equal((await repo.verify({ signal: controller.signal })).verdict, 'cancelled');
});

test('a failing command that names no test is unparsed, with the end of its output', async () => {
  const repo = await repository({ 'a.txt': '' });
  const answer = await repo.verify({ command: "echo 'all is well' && exit 4" });
  assert.equal(answer.verdict, 'unparsed');
  assert.match(answer.tail ?? '', /all is well/);
  const missing = await repo.verify({ command: 'no-such-runner-here --all' });
  assert.equal(missing.verdict, 'setup-error');
  assert.match(missing.actions.join(), /install no-such-runner-here/);
});

test('the package of the change runs in its own folder', async () => {
  const repo = await repository({
    'package.json': manifest({}, { workspaces: ['packages/*'] }),
    ...Object.fromEntries(Object.entries(NODE).map(([name, text]) => [`packages/a/${name}`, text])),
  });
  repo.write('packages/a/src/add.js', 'export function add(a, b) {\n  return b + a;\n}\n');
  const answer = await repo.verify();
  assert.equal(answer.verdict, 'passed');
  assert.ok(answer.ran.every(({ command }) => command.startsWith('cd packages/a && ')));
});

test('nothing that is known tests this: what to give is said', async () => {
  const repo = await repository({ 'notes.txt': 'a' });
  const answer = await repo.verify();
  assert.equal(answer.verdict, 'no-tests-ran');
  assert.match(answer.actions.join(), /--command/);
});

const python = { skip: !hasPython() };

function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test('unittest: passing, failing, an import that fails, nothing to run', python, async () => {
  const head = 'import unittest\n\n\nclass T(unittest.TestCase):\n    def test_adds(self):\n';
  const repo = await repository({
    'test_sample.py': `${head}        self.assertEqual(1 + 1, 2)\n`,
    '.gitignore': '__pycache__\n',
  });
  assert.equal((await repo.verify()).verdict, 'passed');
  repo.write('test_sample.py', `${head}        self.assertEqual(1 + 1, 3)\n`);
  const failed = await repo.verify({ rerun: false });
  assert.equal(failed.verdict, 'failed');
  assert.deepEqual([failed.failures[0]?.path, failed.failures[0]?.line], ['test_sample.py', 6]);
  repo.write('test_sample.py', `import no_such_module_here\n${head}        pass\n`);
  const broken = await repo.verify({ rerun: false });
  assert.equal(broken.verdict, 'setup-error');
  assert.match(broken.actions.join(), /pip install no_such_module_here/);
  repo.write('test_sample.py', 'import unittest\n');
  assert.equal((await repo.verify()).verdict, 'no-tests-ran');
});

const CART = {
  'package.json': manifest({ test: 'node --test test/' }, { type: 'module' }),
  'src/price.js': 'export function price(item) {\n  return item.cost;\n}\n',
  'src/cart.js':
    "import { price } from './price.js';\n\nexport function sum(items) {\n  let all = 0;\n  for (const item of items) all += price(item);\n  return all;\n}\n\nexport function total(items) {\n  return sum(items);\n}\n",
  'test/cart.test.js':
    "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { total } from '../src/cart.js';\n\ntest('adds up', () => {\n  assert.equal(total([{ cost: 2 }, { cost: 3 }]), 5);\n});\n",
};

test('a failure is traced to the change by the calls between: node:test', async () => {
  const repo = await repository(CART);
  repo.write('src/price.js', 'export function price(item) {\n  return item.cost + 1;\n}\n');
  const answer = await repo.verify({ rerun: false });
  const [wrong] = answer.failures;
  assert.equal(wrong?.relation, 'reached');
  assert.match(wrong?.why ?? '', /^src\/price\.js:2, changed, reached from test adds up by total -> sum -> price/);
  repo.write('src/price.js', 'export function price(item) {\n  return item.nothing.cost;\n}\n');
  const [thrown] = (await repo.verify({ rerun: false })).failures;
  assert.equal(thrown?.relation, 'changed');
  assert.deepEqual([thrown?.path, thrown?.line], ['src/price.js', 2]);
  assert.match(
    thrown?.why ?? '',
    /^src\/price\.js:2, in price, changed, reached from test adds up by total -> sum -> price/,
  );
});

test('a failure is traced to the change by the calls between: unittest', python, async () => {
  const repo = await repository({
    '.gitignore': '__pycache__\n',
    'price.py': 'def price(item):\n    return item["cost"]\n',
    'cart.py': 'from price import price\n\n\ndef total(items):\n    return sum(price(item) for item in items)\n',
    'test_cart.py':
      'import unittest\nfrom cart import total\n\n\nclass CartTest(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([{"cost": 2}]), 2)\n',
  });
  repo.write('price.py', 'def price(item):\n    return item["cost"] + 1\n');
  const [failure] = (await repo.verify({ rerun: false })).failures;
  assert.match(failure?.why ?? '', /^price\.py:2, changed, reached from test .*test_total by .*total -> price/);
});

test('a program that is missing is named, with what brings it', async () => {
  const repo = await repository({
    'package.json': manifest({ test: 'vitest run' }, { devDependencies: { vitest: '2' } }),
    'src/a.js': 'export const a = 1;\n',
  });
  const script = await repo.verify({ rerun: false });
  assert.equal(script.verdict, 'setup-error');
  assert.match(script.actions.join('\n'), /vitest is not installed: type: npm install \(package\.json lists vitest\)/);
  const other = await repo.verify({ command: 'no-such-runner --all', rerun: false });
  assert.equal(other.verdict, 'setup-error');
  assert.match(other.actions.join('\n'), /install no-such-runner/);
  assert.doesNotMatch(other.actions.join('\n'), /npm install/);
});
