import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { readHead, shortHead } from '../../plugin/hooks/head.ts';
import { git, scratchFolder, scratchRepository, writeFiles } from '../scratch.ts';

test('the commit that git says is checked out, in worktrees and packed too', (t) => {
  const folder = scratchRepository(t, { 'a.py': 'x = 1\n' });
  const head = git(folder, 'rev-parse', 'HEAD').trim();
  assert.equal(readHead(folder), head);
  git(folder, 'pack-refs', '--all');
  assert.equal(readHead(folder), head);
  const tree = path.join(scratchFolder(t), 'tree');
  git(folder, 'worktree', 'add', '-q', tree, '-b', 'other');
  assert.equal(readHead(tree), head);
  git(folder, 'checkout', '-q', '--detach');
  assert.equal(readHead(folder), head);
});

test('no repository, no commit, or a HEAD that names something else: nothing', (t) => {
  const folder = scratchFolder(t);
  assert.equal(readHead(folder), '');
  git(folder, 'init', '-q');
  assert.equal(readHead(folder), '');
  writeFiles(folder, { 'secret.txt': 'hunter2', '.git/HEAD': 'ref: ../secret.txt\n' });
  assert.equal(readHead(folder), '', 'what a repository made by others points at is not read out');
  assert.equal(shortHead(''), 'no commit');
});
