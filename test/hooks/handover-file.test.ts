import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {
  ageText,
  archiveDocument,
  findDocument,
  newDocument,
  ownFile,
  stampLine,
} from '../../plugin/hooks/handover-file.ts';
import { foundText } from '../../plugin/hooks/handover-text.ts';

function scratch(t: { after(work: () => void): void }): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'opl-handover-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const HEAD = '0123456789abcdef0123456789abcdef01234567';
const body = 'Goal: to finish. '.repeat(20);

test('a document tells its session, commit and age', (t) => {
  const file = path.join(scratch(t), 'HANDOVER.md');
  writeFileSync(file, `${stampLine({ session: 'ses_1', head: HEAD }, new Date(0))}\n${body}`);
  assert.deepEqual(findDocument(file)?.stamp, { session: 'ses_1', head: HEAD.slice(0, 10) });
  const old = Date.now() / 1000 - 3 * 3600;
  utimesSync(file, old, old);
  const found = findDocument(file)!;
  assert.match(
    foundText('HANDOVER.md', found, HEAD),
    /written 3 h ago at commit 0123456789, which is still checked out/,
  );
  assert.match(foundText('HANDOVER.md', found, 'ffff'), /at commit 0123456789; now ffff is checked out/);
});

test('one written by hand has no stamp, one that is missing is nothing', (t) => {
  const folder = scratch(t);
  writeFileSync(path.join(folder, 'a.md'), body);
  assert.equal(findDocument(path.join(folder, 'a.md'))?.stamp, undefined);
  assert.equal(findDocument(path.join(folder, 'b.md')), undefined);
});

test('only what was written after it was asked for, and says something, counts', (t) => {
  const file = path.join(scratch(t), 'HANDOVER.md');
  const now = Date.now();
  assert.equal(newDocument(file, now), undefined);
  writeFileSync(file, 'too short');
  assert.equal(newDocument(file, now), undefined);
  writeFileSync(file, body);
  assert.ok(newDocument(file, now));
  utimesSync(file, now / 1000 - 60, now / 1000 - 60);
  assert.equal(newDocument(file, now), undefined);
});

test('an old one is archived under its time and commit', (t) => {
  const folder = scratch(t);
  const file = path.join(folder, 'HANDOVER.md');
  assert.equal(archiveDocument(file, path.join(folder, 'old')), undefined);
  writeFileSync(file, `${stampLine({ session: 'ses_1', head: HEAD }, new Date())}\n${body}`);
  const target = archiveDocument(file, path.join(folder, 'old'))!;
  assert.match(target, /-0123456789\.md$/);
  assert.match(readFileSync(target, 'utf8'), /Goal/);
  assert.ok(!existsSync(file));
});

test('each open session has a file of its own', () => {
  assert.equal(ownFile('/x/HANDOVER.md', 'ses_abcdef123456'), '/x/HANDOVER-123456.md');
});

test('ages', () => {
  assert.equal(ageText(0, 59 * 60_000), '59 min');
  assert.equal(ageText(0, 3 * 3600_000), '3 h');
  assert.equal(ageText(0, 72 * 3600_000), '3 days');
});
