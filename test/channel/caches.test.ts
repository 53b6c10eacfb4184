import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { noteUse, pruneRoots, rootFolders } from '../../plugin/channel/caches.ts';
import { scratchFolder, writeFiles } from '../scratch.ts';

const DAY = 24 * 3600 * 1000;
const NOW = Date.now();

/** A root's folder in ROOTS, last used DAYS ago. */
function make(roots: string, name: string, root: string | undefined, days: number): string {
  const folder = path.join(roots, name);
  writeFiles(folder, {
    'index.snapshot': 'x',
    'edge-count': '1',
    'sessions/a.journal': 'n',
    'handovers/old.md': 'h',
    ...(root === undefined ? {} : { root }),
  });
  const then = (NOW - days * DAY) / 1000;
  for (const one of ['', ...readdirSync(folder)]) utimesSync(path.join(folder, one), then, then);
  return folder;
}

test('what deleted roots left goes after a month, what is there keeps its memory, and nobody is robbed of what is in use', (t) => {
  const roots = scratchFolder(t);
  const there = scratchFolder(t);
  const goneLong = make(roots, 'gone-0000000000000001', '/nowhere/at/all', 40);
  const goneLately = make(roots, 'gone-0000000000000002', '/nowhere/at/all', 10);
  const unused = make(roots, 'unused-0000000000000003', there, 100);
  const used = make(roots, 'used-0000000000000004', there, 80);
  const older = make(roots, 'older-0000000000000005', undefined, 100);
  const own = make(roots, 'own-0000000000000006', '/nowhere/at/all', 400);
  const foreign = make(roots, 'something else', '/nowhere/at/all', 400);
  assert.deepEqual(pruneRoots(roots, own, NOW).sort(), [goneLong, older, unused].sort());
  assert.ok(!existsSync(goneLong));
  for (const folder of [unused, older]) {
    assert.ok(!existsSync(path.join(folder, 'index.snapshot')));
    assert.ok(existsSync(path.join(folder, 'sessions/a.journal')), 'memory cannot be made anew');
    assert.ok(existsSync(path.join(folder, 'handovers/old.md')));
  }
  for (const folder of [goneLately, used, own, foreign]) assert.ok(existsSync(path.join(folder, 'index.snapshot')));
});

test('it is looked once a day, and a clock that jumps back does not stop it', (t) => {
  const roots = scratchFolder(t);
  assert.deepEqual(pruneRoots(roots, ''), []);
  const folder = make(roots, 'gone-0000000000000001', '/nowhere/at/all', 40);
  assert.deepEqual(pruneRoots(roots, '', NOW), []);
  assert.deepEqual(pruneRoots(roots, '', NOW + 2 * DAY), [folder]);
  const second = make(roots, 'gone-0000000000000002', '/nowhere/at/all', 40);
  assert.deepEqual(pruneRoots(roots, '', NOW), [second]);
});

test('a use is noted with its root, and a folder that cannot be written is no reason to fail', (t) => {
  const roots = scratchFolder(t);
  const folder = path.join(roots, 'name-0000000000000001');
  noteUse(folder, '/some/root');
  assert.equal(readFileSync(path.join(folder, 'root'), 'utf8'), '/some/root');
  noteUse(folder, '/some/root', new Date(NOW + DAY));
  assert.ok(rootFolders(roots)[0]!.used > NOW + DAY / 2);
  noteUse(path.join(folder, 'root/below a file'), '/some/root');
  const locked = path.join(roots, 'locked');
  mkdirSync(locked);
  chmodSync(locked, 0o500);
  noteUse(path.join(locked, 'x'), '/some/root');
  assert.deepEqual(rootFolders(path.join(roots, 'nowhere')), []);
  assert.deepEqual(pruneRoots(path.join(roots, 'nowhere'), ''), []);
});
