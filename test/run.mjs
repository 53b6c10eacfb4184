// `npm test`: everything, from a bare checkout. `npm test -- sidecar|graph|index|host` runs a part. Plain JavaScript, for it installs what is missing first.
// A test that is skipped because a part is missing fails the run: a green run means that everything was looked at.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensurePackages, FOLDER } from '../plugin/packages.mjs';

/** More than any test file takes on a busy machine; a hang must not outlast it. */
const LIMIT_MILLISECONDS = 540_000;

/** Compiled Lisp, for the Lisp tests and for the cores that other tests start: each file is compiled once. */
const FASLS = process.env.OPL_FASL_DIR ?? path.join(tmpdir(), 'opencode-plugin-lisp-test/opencode-plugin-lisp/fasl');

const TSX = ['--import', 'tsx'];
const results = [];

function run(name, program, words, env = {}) {
  process.stdout.write(`\n== ${name}\n`);
  const started = Date.now();
  const { status, signal } = spawnSync(program, words, {
    cwd: FOLDER,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
    timeout: LIMIT_MILLISECONDS,
    killSignal: 'SIGKILL',
    shell: process.platform === 'win32',
  });
  results.push({ name, good: status === 0, how: signal ?? status, seconds: (Date.now() - started) / 1000 });
  return status === 0;
}

/** The Lisp test files that look at the files of ROOMS; all without rooms. */
function lispTests(rooms) {
  const folder = path.join(FOLDER, 'test/sidecar');
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('-test.lisp'))
    .map((name) => name.slice(0, -'-test.lisp'.length));
  if (!rooms) return [];
  const files = rooms.flatMap((room) =>
    readdirSync(path.join(FOLDER, 'sidecar', room)).map((name) => path.basename(name, '.lisp')),
  );
  return names.filter((name) => rooms.some((room) => name.startsWith(`${room}-`)) || files.includes(name));
}

function runLisp(name, rooms) {
  const chosen = lispTests(rooms);
  if (rooms && chosen.length === 0) return results.push({ name, good: false, how: 'no tests', seconds: 0 });
  return run(name, process.env.OPL_SBCL ?? 'sbcl', ['--script', 'test/sidecar/run.lisp', ...chosen], {
    OPL_STRICT: '1',
    OPL_FASL_DIR: FASLS,
  });
}

function testFiles(folders) {
  return folders
    .filter((folder) => existsSync(path.join(FOLDER, 'test', folder)))
    .flatMap((folder) =>
      readdirSync(path.join(FOLDER, 'test', folder), { recursive: true }).map((name) =>
        path.join('test', folder, name),
      ),
    )
    .filter((name) => name.endsWith('.test.ts'))
    .sort();
}

function runNode(name, files) {
  const scratch = mkdtempSync(path.join(tmpdir(), 'opl-run-'));
  const report = path.join(scratch, 'report.tap');
  const reporters = ['spec', 'tap'].flatMap((kind) => [
    `--test-reporter=${kind}`,
    `--test-reporter-destination=${kind === 'spec' ? 'stdout' : report}`,
  ]);
  run(name, process.execPath, [...TSX, '--test', '--test-concurrency=2', ...reporters, ...files], {
    OPL_TEST_BUILT: '1',
    OPL_FASL_DIR: FASLS,
  });
  const counts = existsSync(report) ? readFileSync(report, 'utf8') : '';
  rmSync(scratch, { recursive: true, force: true });
  const count = (word) => Number(new RegExp(`^# ${word} (\\d+)$`, 'm').exec(counts)?.[1] ?? Number.NaN);
  const last = results.at(-1);
  if (last.good && (!(count('tests') > 0) || count('skipped') !== 0 || count('todo') !== 0)) {
    Object.assign(last, {
      good: false,
      how: `${count('skipped')} skipped, ${count('todo')} to do, ${count('tests')} in all`,
    });
  }
}

const OPENCODE = ['opencode'];
const HOST = readdirSync(path.join(FOLDER, 'test'), { withFileTypes: true })
  .filter((one) => one.isDirectory() && !['sidecar', ...OPENCODE].includes(one.name))
  .map((one) => one.name);

let build;
function built() {
  build ??= run('build', 'npm', ['run', 'build', '--loglevel=error']);
  return build;
}

const PARTS = {
  check: () => run('types, lint, generated files', 'npm', ['run', 'check', '--loglevel=error']),
  sidecar: () => runLisp('sidecar'),
  graph: () => runLisp('graph', ['graph']),
  index: () => runLisp('index', ['source', 'languages', 'index']),
  // opl from a shell and OpenCode are given what a user installs: the built package.
  host: () => built() && runNode('host', testFiles(HOST)),
  opencode: () => built() && runNode('opencode', testFiles(OPENCODE)),
};

const wanted = process.argv.slice(2);
const unknown = wanted.find((part) => !(part in PARTS));
if (unknown) {
  process.stderr.write(`There is no part ${unknown}; there are ${Object.keys(PARTS).join(', ')}.\n`);
  process.exit(2);
}
ensurePackages(['tsx', 'execa', 'split2', 'ajv', 'opencode-ai', '@opencode-ai/sdk', 'typescript', '@biomejs/biome']);
run('what is needed', process.execPath, [...TSX, 'plugin/install.ts']);
for (const part of wanted.length ? wanted : ['check', 'sidecar', 'host', 'opencode']) PARTS[part]();

process.stdout.write('\n');
for (const { name, good, how, seconds } of results)
  process.stdout.write(`${good ? 'ok  ' : 'FAIL'} ${name} (${seconds.toFixed(1)} s)${good ? '' : `: ${how}`}\n`);
process.exit(results.every(({ good }) => good) ? 0 : 1);
