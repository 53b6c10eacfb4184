import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {
  ageText,
  archiveDocument,
  documentPlace,
  findDocument,
  newDocument,
  ownFile,
  stampLine,
} from '../../plugin/hooks/handover-file.ts';
import { foundText, withinTokens } from '../../plugin/hooks/handover-text.ts';

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

test('only what says something else than before counts, whatever the clock says', (t) => {
  const file = path.join(scratch(t), 'HANDOVER.md');
  assert.equal(newDocument(file, undefined), undefined);
  writeFileSync(file, 'too short');
  assert.equal(newDocument(file, undefined), undefined);
  writeFileSync(file, body);
  assert.ok(newDocument(file, undefined));
  assert.equal(newDocument(file, body), undefined);
  for (const time of [0, Date.now() / 1000 - 7200, Date.now() / 1000 + 7200]) {
    utimesSync(file, time, time);
    assert.ok(newDocument(file, 'what stood there'));
  }
});

test('what is no document is not taken for one, and not waited for', (t) => {
  const folder = scratch(t);
  const at = (name: string) => path.join(folder, name);
  mkdirSync(at('folder'));
  execFileSync('mkfifo', [at('pipe')]);
  writeFileSync(at('huge'), 'x'.repeat(1_100_000));
  for (const name of ['folder', 'pipe', 'huge', 'nowhere']) assert.equal(findDocument(at(name)), undefined, name);
});

test('a document goes where nothing else has its name', (t) => {
  const folder = realpathSync(scratch(t));
  const outside = scratch(t);
  const at = (name: string) => path.join(folder, name);
  const place = (name: string) => documentPlace(folder, at(name));
  assert.equal(place('HANDOVER.md'), at('HANDOVER.md'));
  writeFileSync(at('HANDOVER.md'), body);
  assert.equal(place('HANDOVER.md'), at('HANDOVER.md'), 'one by hand makes room');
  writeFileSync(at('README.md'), body);
  assert.equal(place('README.md'), undefined, 'a text that is no handover stays');
  writeFileSync(at('notes.md'), `${stampLine({ session: 'ses_1', head: HEAD }, new Date())}\n${body}`);
  assert.equal(place('notes.md'), at('notes.md'));
  mkdirSync(at('folder'));
  assert.equal(place('folder'), undefined);
  symlinkSync(at('HANDOVER.md'), at('inside.md'));
  assert.equal(place('inside.md'), undefined, 'its name says nothing of a handover, nor does its text');
  symlinkSync('notes.md', at('handoff.md'));
  assert.equal(place('handoff.md'), at('notes.md'), 'a link inside the root is followed');
  writeFileSync(path.join(outside, 'handover.md'), body);
  symlinkSync(path.join(outside, 'handover.md'), at('HANDOVER-out.md'));
  assert.equal(place('HANDOVER-out.md'), undefined, 'one that leads out is not');
  symlinkSync('nowhere', at('HANDOVER-broken.md'));
  assert.equal(place('HANDOVER-broken.md'), undefined);
  execFileSync('mkfifo', [at('handover.pipe')]);
  assert.equal(place('handover.pipe'), undefined);
});

test('a document that would fill the context is cut', () => {
  assert.equal(withinTokens('short', 4096), 'short');
  const cut = withinTokens('word '.repeat(40_000), 4096);
  assert.ok(cut.length < 25_000);
  assert.match(cut, /The rest is in the file/);
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
