// opl from a shell: what each command promises, and how it says what is wrong.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { git, scratchFolder, scratchRepository, writeFiles } from '../scratch.ts';
import { opl, oplJson } from './opl.ts';

const FILES = {
  'src/routes.ts':
    'import { handle } from "./handler.ts";\n\nexport function matchRoute(path: string): string {\n  return handle(path);\n}\n',
  'src/handler.ts': 'export function handle(path: string): string {\n  return "handled " + path;\n}\n',
  'tool.py': 'def main():\n    return parse_line("a")\n\n\ndef parse_line(text):\n    return text\n',
};

const repository = (t: TestContext) => scratchRepository(t, FILES);

test('index: what there is, then the same from the snapshot', async (t) => {
  const root = repository(t);
  const first = await oplJson(root, ['index']);
  assert.equal(first.root, root);
  assert.equal(first.files, 3);
  assert.ok(first.tags >= 4);
  assert.deepEqual(first.languages.Python, { files: 1, tags: 2 });
  assert.equal(first.complete, true);
  assert.equal(first.from, 'scratch');
  assert.ok(Array.isArray(first.skipped));
  const second = await oplJson(root, ['index']);
  assert.equal(second.from, 'snapshot');
  assert.equal(second.tags, first.tags);
  const { stdout, stderr } = await opl(root, ['index']);
  assert.match(stdout, /3 files, \d+ definitions/);
  assert.equal(stderr, '', 'no progress where there is no terminal');
});

test('the root is the git top level above, or the folder named', async (t) => {
  const root = repository(t);
  assert.equal((await oplJson(path.join(root, 'src'), ['index'])).root, root);
  assert.equal((await oplJson(root, ['index', '--root', 'src'])).root, path.join(root, 'src'));
  const { status, stderr } = await opl(root, ['index', '--root', 'nowhere']);
  assert.equal(status, 2);
  assert.equal(stderr, 'opl: There is no folder nowhere; --root names the top of a repository.\n');
});

test('search: a part of a name; nothing found is an answer', async (t) => {
  const root = repository(t);
  const { symbols } = await oplJson(root, ['search', 'ROUTE', '--limit', '10']);
  const found = symbols.find((one: { name: string }) => one.name === 'matchRoute');
  assert.equal(found.path, 'src/routes.ts');
  assert.equal(found.line, 3);
  assert.equal(found.end, 5);
  assert.equal(found.kind, 'function');
  const { status, stdout } = await opl(root, ['search', 'nosuchname']);
  assert.equal(status, 0);
  assert.match(stdout, /Nothing contains "nosuchname" in 3 indexed files/);
});

test('symbols: six columns, as TSV and as JSON', async (t) => {
  const root = repository(t);
  const { stdout } = await opl(root, ['symbols']);
  const rows = stdout
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.split('\t'));
  assert.ok(rows.every((row) => row.length === 6));
  assert.deepEqual(rows.find((row) => row[1] === 'parse_line')?.slice(0, 5), [
    'tool.py',
    'parse_line',
    'function',
    '5',
    '6',
  ]);
  const json = await oplJson(root, ['symbols']);
  assert.deepEqual(
    json.map((row: unknown[]) => row.map((one) => one ?? '').join('\t')),
    rows.map((row) => row.join('\t')),
  );
});

test('symbols: file names with a tab and a newline stay one field', {
  skip: process.platform === 'win32' && 'no such names there',
}, async (t) => {
  const root = repository(t);
  writeFileSync(path.join(root, 'a\tb\nc.py'), 'def odd():\n    pass\n');
  const { stdout } = await opl(root, ['symbols']);
  assert.ok(stdout.includes('a\\tb\\nc.py\todd\tfunction\t1\t'), stdout);
});

test('calls: eight columns', async (t) => {
  const { stdout } = await opl(repository(t), ['calls']);
  const rows = stdout
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.split('\t'));
  assert.ok(
    rows.every((row) => row.length === 8),
    stdout,
  );
  const call = rows.find((row) => row[4] === 'parse_line');
  assert.deepEqual(call?.slice(0, 7), ['tool.py', 'main', '2', 'tool.py', 'parse_line', '5', 'exact']);
});

test('context: the task as a word or from standard input', async (t) => {
  const root = repository(t);
  const answer = await oplJson(root, ['context', 'where are routes matched', '--limit', '2']);
  assert.equal(answer.complete, true);
  assert.equal(answer.files[0].path, 'src/routes.ts');
  assert.ok(answer.files.length <= 2);
  for (const key of ['path', 'score', 'role', 'hop', 'reasons']) assert.ok(key in answer.files[0], key);
  for (const key of ['path', 'line', 'end', 'kind', 'name', 'scope', 'signature', 'role', 'hop', 'score'])
    assert.ok(key in answer.symbols[0], key);
  assert.deepEqual(await oplJson(root, ['context', '-', '--limit', '2'], 'where are routes matched'), answer);
  const explained = await oplJson(root, ['context', 'where are routes matched', '--explain']);
  assert.ok(Object.keys(explained.files[0].channels).length > 0);
  assert.match((await opl(root, ['context', 'where are routes matched'])).stdout, /src\/routes\.ts {2}\(match\)/);
});

test('context: a channel that code added and kept shows in the explanation of a later process, and shares add up', async (t) => {
  const root = repository(t);
  const kept = await oplJson(root, [
    'eval',
    '(defchannel tooling 9 (path task) (if (search "tool" path) (length task) 0)) (keep (quote tooling)) (defweight title 0) (keep (quote title))',
  ]);
  assert.match(kept.value, /title/i);
  const { files } = await oplJson(root, ['context', 'where are routes matched line', '--explain']);
  assert.equal(files[0].path, 'tool.py');
  assert.equal(files[0].channels.tooling, 9);
  for (const { score, channels } of files.filter((file: { hop: number }) => file.hop === 0)) {
    assert.equal(channels.title, undefined);
    const sum = Object.values<number>(channels).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(Math.max(0.001, sum) - score) < 0.01, `${sum} ${score}`);
  }
});

test('eval: value, type and what it printed; what the code did wrong has status 1', async (t) => {
  const root = repository(t);
  const answer = await oplJson(root, ['eval', '(progn (format t "said~%") (+ 40 2))']);
  assert.equal(answer.value, '42');
  assert.match(answer.type, /^integer/i);
  assert.equal(answer.output, 'said\n');
  const { status, stdout } = await opl(root, ['eval', '(car 1)']);
  assert.equal(status, 1);
  assert.match(stdout, /type-error/i);
  assert.equal((await oplJson(root, ['eval', '-'], '(list 1\n  2)\n')).value, '(1 2)');
});

test('batch: lines in, lines out, and a bad line harms no other', async (t) => {
  const requests = [
    { id: 1, command: 'search', args: { name: 'parse' } },
    { id: 'two', command: 'eval', args: { code: '(+ 1 2)' } },
    { id: 3, command: 'nosuch' },
    { id: 4, command: 'search', args: { nam: 'x' } },
    { id: 5, command: 'symbols' },
  ];
  const lines = [...requests.map((one) => JSON.stringify(one)), 'no json', ''].join('\n');
  const { status, stdout } = await opl(repository(t), ['batch'], lines);
  assert.equal(status, 0);
  const replies = new Map(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map((reply) => [reply.id, reply]),
  );
  assert.equal(replies.get(1).symbols[0].name, 'parse_line');
  assert.equal(replies.get('two').value, '3');
  assert.match(replies.get(3).error.message, /no command nosuch/);
  assert.match(replies.get(4).error.message, /search: must have required property 'name'|additional/);
  assert.ok(replies.get(5).rows.length >= 4);
  assert.match(replies.get(null).error.message, /no JSON/);
});

test('doctor: everything there is status 0; something missing is status 1 with what to type', async (t) => {
  const root = repository(t);
  const good = await oplJson(root, ['doctor']);
  assert.equal(good.ok, true, JSON.stringify(good.checks));
  for (const name of ['sbcl', 'ctags', 'git', 'sidecar', 'caches'])
    assert.ok(
      good.checks.some((one: { name: string }) => one.name === name),
      name,
    );
  const { status, stdout } = await opl(root, ['doctor', '--json'], '', {
    OPL_CTAGS: '/nowhere/ctags',
    OPL_SBCL: '/nowhere/sbcl',
  });
  assert.equal(status, 1);
  const bad = JSON.parse(stdout);
  for (const name of ['sbcl', 'ctags']) {
    const check = bad.checks.find((one: { name: string }) => one.name === name);
    assert.equal(check.ok, false);
    assert.match(check.advice, /Type: |Install /);
  }
  const { stdout: text } = await opl(root, ['doctor'], '', { OPL_SBCL: '/nowhere/sbcl' });
  assert.equal(text.split('SBCL (Common Lisp) is missing').length, 2, 'one cause is explained once');
});

test('doctor says how much deleted repositories have left, and when it goes', async (t) => {
  const cache = scratchFolder(t);
  const folder = path.join(cache, 'opencode-plugin-lisp/roots/old-0123456789abcdef');
  writeFiles(folder, { root: path.join(cache, 'nowhere'), 'index.snapshot': 'x'.repeat(300_000) });
  const { stdout } = await opl(repository(t), ['doctor'], '', { XDG_CACHE_HOME: cache, OPL_SBCL: '/nowhere/sbcl' });
  assert.match(stdout, /0\.3 MB of 1 repository, 1 of them deleted \(what a deleted one left goes 30 days after/);
});

test('no universal-ctags, or another ctags, is said with the command that mends it, and what needs none goes on', async (t) => {
  const root = repository(t);
  const bsd = path.join(scratchFolder(t), 'ctags');
  const usage =
    'echo "ctags: illegal option -- -" >&2; echo "usage: ctags [-BFadtuwvx] [-f tagsfile] file ..." >&2; exit 1';
  writeFileSync(bsd, `#!/bin/sh\n${usage}\n`, { mode: 0o755 });
  for (const program of ['/nowhere/ctags', bsd]) {
    const { status, stdout } = await opl(root, ['search', 'parse'], '', { OPL_CTAGS: program });
    assert.equal(status, 0);
    assert.match(stdout, /The index is not complete: .*ctags.*install.*OPL_CTAGS/s);
    const { complete, reason } = await oplJson(root, ['index'], '', { OPL_CTAGS: program });
    assert.equal(complete, false);
    assert.match(reason, /ctags/);
    assert.equal((await oplJson(root, ['eval', '(+ 1 2)'], '', { OPL_CTAGS: program })).value, '3');
  }
});

test('a wrong call is one line on standard error and status 2', async (t) => {
  const root = scratchFolder(t);
  const wrong: [string[], RegExp][] = [
    [['nosuch'], /There is no command nosuch/],
    [['search'], /search: "NAME" is missing, as in: opl search createUser/],
    [['search', 'a', 'b'], /"b" is one word too many; put what belongs together in quotes/],
    [['impact', 'src/a.ts:3'], /"src\/a\.ts:3" is one word too many; .* as --target "src\/a\.ts:3"/],
    [['calls', 'trim'], /opl eval '\(callers "trim"\)'/],
    [['symbols', 'trim'], /opl search "trim"/],
    [['index', 'src'], /opl index takes options alone/],
    [['search', 'a', '--limit', 'x'], /search: limit must be integer/],
    [['search', 'a', '--nosuch'], /Unknown option '--nosuch'/],
    [['--root', '.'], /A command comes first/],
  ];
  for (const [words, message] of wrong) {
    const { status, stdout, stderr } = await opl(root, words);
    assert.equal(status, 2, words.join(' '));
    assert.equal(stdout, '');
    assert.match(stderr, message);
    assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
  }
  assert.match(
    (await opl(root, ['index'], '', { OPL_HEAP_MB: 'x' })).stderr,
    /settings: heapMegabytes must be integer/,
  );
});

test('a current folder that is gone is told with what to type', async (t) => {
  const folder = path.join(scratchFolder(t), 'gone');
  mkdirSync(folder);
  const { spawnSync } = await import('node:child_process');
  const loader = path.resolve(import.meta.dirname, '../../node_modules/tsx/dist/esm/index.mjs');
  const cli = path.resolve(import.meta.dirname, '../../plugin/command.ts');
  // opl as such does not start there under a loader, so what finds the root is asked itself
  const code = `process.cwd = () => { throw Object.assign(new Error('uv_cwd'), { code: 'ENOENT' }); };
    const { findRoot } = await import(${JSON.stringify(cli)});
    await findRoot(undefined).catch((error) => console.log(error.code, error.message));`;
  const { stdout } = spawnSync(process.execPath, ['--import', loader, '--input-type=module', '-e', code], {
    encoding: 'utf8',
  });
  assert.match(stdout, /^not-found The current folder is gone .*--root DIR/);
});

test('opl alone prints an example of each command', async (t) => {
  const { status, stdout } = await opl(scratchFolder(t), []);
  assert.equal(status, 0);
  for (const name of ['index', 'context', 'search', 'symbols', 'calls', 'eval', 'batch', 'doctor'])
    assert.match(stdout, new RegExp(`^ {2}${name} `, 'm'));
  assert.match((await opl(scratchFolder(t), ['context', '--help'])).stdout, /--limit N/);
  assert.match((await opl(scratchFolder(t), ['batch', '--help'])).stdout, /^opl batch: JSON lines in/);
  assert.match((await opl(scratchFolder(t), ['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
});

test('a reader that has seen enough is no failure', async (t) => {
  const root = repository(t);
  mkdirSync(path.join(root, 'many'));
  for (let file = 0; file < 20; file += 1) {
    const text = Array.from({ length: 300 }, (_, index) => `def function_${file}_${index}():\n    pass\n`).join('\n');
    writeFileSync(path.join(root, 'many', `f${file}.py`), text);
  }
  const { spawnSync } = await import('node:child_process');
  const loader = path.resolve(import.meta.dirname, '../../node_modules/tsx/dist/esm/index.mjs');
  const cli = path.resolve(import.meta.dirname, '../../plugin/cli.ts');
  const line = `set -o pipefail; "${process.execPath}" --import "${loader}" "${cli}" symbols | head -1`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', line], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env },
  });
  assert.equal(stdout.trimEnd().split('\n').length, 1);
  assert.equal(stderr, '');
  assert.equal(status, 0);
});

test('a folder that is no repository, and one with nothing in it, are answered', async (t) => {
  const folder = scratchFolder(t);
  assert.equal((await oplJson(folder, ['index'])).files, 0);
  git(folder, 'init', '-q');
  const answer = await oplJson(folder, ['search', 'a']);
  assert.deepEqual(answer.symbols, []);
});
