import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { changeOfDiff, changeOfWorkingTree } from '../../plugin/verify/changes.ts';
import { isTestPath, onlyDocuments, outsideOf } from '../../plugin/verify/outside.ts';
import { treeState } from '../../plugin/verify/state.ts';
import { project } from './projects.ts';

function git(root: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
    cwd: root,
    encoding: 'utf8',
  });
}

function repository(files: Readonly<Record<string, string>>): string {
  const root = project(files);
  git(root, 'init', '-q');
  git(root, 'add', '-A');
  git(root, 'commit', '-q', '-m', 'first');
  return root;
}

test('places of a diff in every form', () => {
  const root = repository({ 'src/a.js': 'one\ntwo\nthree\n', 'b/c.txt': 'x\n', 'naïve ü.txt': 'x\n' });
  writeFileSync(join(root, 'src/a.js'), 'one\n2\nthree\n-- four\n');
  writeFileSync(join(root, 'b/c.txt'), 'y\n');
  writeFileSync(join(root, 'naïve ü.txt'), 'y\n');
  for (const options of [[], ['--no-prefix'], ['-c diff.mnemonicPrefix']]) {
    const words = options[0]?.startsWith('-c') ? ['-c', 'diff.mnemonicPrefix=true', 'diff'] : ['diff', ...options];
    const change = changeOfDiff(root, git(root, ...words, '-U0'));
    assert.deepEqual(change.paths, ['b/c.txt', 'naïve ü.txt', 'src/a.js'], words.join(' '));
    assert.deepEqual(change.lines.get('src/a.js'), [
      [2, 2],
      [4, 4],
    ]);
  }
  assert.deepEqual(
    changeOfDiff(
      root,
      '*** Begin Patch\n*** Update File: src/a.js\n@@\n-two\n+2\n*** Add File: new.js\n+x\n*** End Patch\n',
    ).paths,
    ['new.js', 'src/a.js'],
  );
  assert.deepEqual(
    changeOfDiff(root, 'diff --git a/old.js b/new.js\nsimilarity index 100%\nrename from old.js\nrename to new.js\n')
      .paths,
    ['new.js', 'old.js'],
  );
  assert.deepEqual(
    changeOfDiff(
      root,
      'diff --git a/logo.png b/logo.png\nindex 1..2 100644\nBinary files a/logo.png and b/logo.png differ\n',
    ).paths,
    ['logo.png'],
  );
  assert.deepEqual(changeOfDiff(root, '--- a/gone.js\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n').paths, ['gone.js']);
  assert.deepEqual(changeOfDiff(root, 'nothing of a diff').paths, []);
});

test('lines around a change are not changed, and a line that looks like a header is none', () => {
  const root = repository({ 'a.sql': 'one\ntwo\n-- three\nfour\nfive\n-- six\n' });
  writeFileSync(join(root, 'a.sql'), 'one\n2\nfour\nfive\n');
  for (const context of ['-U0', '-U1', '-U3']) {
    const change = changeOfDiff(root, git(root, 'diff', context));
    assert.deepEqual(change.paths, ['a.sql'], context);
    assert.deepEqual(
      change.lines.get('a.sql'),
      [
        [2, 2],
        [5, 5],
      ],
      context,
    );
  }
});

test('the working tree, untracked files included', async () => {
  const root = repository({ 'a.js': '1\n', '.gitignore': 'out/\n' });
  writeFileSync(join(root, 'a.js'), '2\n');
  writeFileSync(join(root, 'new.test.js'), '');
  mkdirSync(join(root, 'out'));
  writeFileSync(join(root, 'out/x'), '');
  assert.deepEqual((await changeOfWorkingTree(root)).paths, ['a.js', 'new.test.js']);
  assert.deepEqual((await changeOfWorkingTree(project({}))).paths, []);
});

test('the state of a tree is its content, whatever the branch', async () => {
  const root = repository({ 'a.js': '1\n' });
  const first = await treeState(root);
  assert.equal(first.now, first.before);
  writeFileSync(join(root, 'a.js'), '2\n');
  writeFileSync(join(root, 'b.js'), '');
  const changed = await treeState(root);
  assert.notEqual(changed.now, first.now);
  assert.equal(changed.before, first.before);
  assert.equal(git(root, 'status', '--porcelain'), ' M a.js\n?? b.js\n', 'the index is as it was');
  git(root, 'add', '-A');
  git(root, 'commit', '-q', '-m', 'second');
  assert.equal((await treeState(root)).before, changed.now);
  writeFileSync(join(root, 'a.js'), '1\n');
  rmSync(join(root, 'b.js'));
  assert.equal((await treeState(root)).now, first.now);
  assert.deepEqual(await treeState(project({})), { now: undefined, before: undefined });
});

test('a repository without a commit inside does not keep the state from having a name', async () => {
  const root = repository({ 'a.js': '1\n' });
  const { before } = await treeState(root);
  mkdirSync(join(root, 'nested'));
  git(join(root, 'nested'), 'init', '-q');
  writeFileSync(join(root, 'nested/x.js'), '');
  assert.equal((await treeState(root)).now, before);
  writeFileSync(join(root, 'b.js'), '');
  const { now } = await treeState(root);
  assert.ok(now !== undefined && now !== before);
});

test('changes that no graph follows say why', () => {
  const rows = readFileSync(new URL('../../protocol/vectors/outside.tsv', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('\t') as [string, string]);
  assert.ok(rows.length > 20);
  for (const [path, word] of rows) {
    const why = outsideOf([path])[0]?.why ?? (onlyDocuments([path]) ? 'unread' : '');
    assert.ok(word === '' ? why === '' : why.includes(word), `${path}: ${why}, not ${word}`);
  }
  assert.equal(onlyDocuments(['README.md', 'docs/a.md']), true);
  assert.equal(onlyDocuments(['README.md', 'a.js']), false);
});

test('test files by the conventions of their languages', () => {
  for (const path of [
    'src/a.test.ts',
    'test/a.js',
    'src/__tests__/a.tsx',
    'tests/test_a.py',
    'pkg/a_test.go',
    'spec/a_spec.rb',
    'src/test/java/p/ATest.java',
    'tests/ATest.php',
    'test/a.bats',
    't/a.t',
    'tests/it.rs',
  ])
    assert.ok(isTestPath(path), path);
  for (const path of [
    'src/a.ts',
    'tests/conftest.py',
    'tests/__init__.py',
    'test/fixtures/a.js',
    'src/latest.js',
    'spec/spec_helper.rb',
    'lib/contest.py',
  ])
    assert.ok(!isTestPath(path), path);
});
