// plugin/settings.ts

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { cacheFolder, openLog, readSettings, sidecarOptions } from '../../plugin/settings.ts';
import { scratchFolder } from '../scratch.ts';

test('the environment wins over options, options over defaults', async () => {
  const settings = await readSettings(
    { sbcl: '/a/sbcl', evalSeconds: 5 },
    { OPL_SBCL: '/b/sbcl', OPL_CTAGS_EXCLUDES: '*.min.js, dist\nvendor' },
  );
  assert.equal(settings.sbcl, '/b/sbcl');
  assert.equal(settings.evalSeconds, 5);
  assert.equal(settings.ctags, 'ctags');
  assert.deepEqual(settings.excludes, ['*.min.js', 'dist', 'vendor']);
  assert.equal(settings.debug, null);
});

test('what is wrong is named', async () => {
  await assert.rejects(readSettings({ heapMegabytes: 'much' }, {}), /settings: heapMegabytes must be integer/);
  await assert.rejects(readSettings({}, { OPL_HEAP_MB: '12' }), /heapMegabytes must be >= 256/);
  await assert.rejects(readSettings({}, { OPL_HEAP_MB: 'x' }), /heapMegabytes must be integer/);
  await assert.rejects(readSettings({ colour: 'red' }, {}), /additional properties: colour/);
});

test('the cache folder follows the platform, and a relative XDG folder counts for nothing', () => {
  assert.equal(cacheFolder({ XDG_CACHE_HOME: '/x', HOME: '/h' }), path.join('/x', 'opencode-plugin-lisp'));
  assert.ok(cacheFolder({ XDG_CACHE_HOME: 'x', HOME: '/h' }).startsWith('/h'));
});

test('each root has a folder of its own, outside the root', async () => {
  const settings = await readSettings({}, {});
  const [one, two] = ['/r/a b', '/q/a b'].map((root) => sidecarOptions(root, settings).indexFolder);
  assert.notEqual(one, two);
  assert.match(path.basename(one!), /^a_b-[0-9a-f]{16}$/);
  assert.ok(!one!.startsWith('/r/'));
});

test('the log is a file or nothing, and never throws', (t) => {
  const folder = scratchFolder(t);
  openLog(path.join(folder, 'deep/opl.log'))('word');
  assert.match(readFileSync(path.join(folder, 'deep/opl.log'), 'utf8'), /^\S+Z \d+ word\n$/);
  openLog(path.join(folder, 'deep/opl.log/below'))('word');
  openLog(null)('word');
});

test('a log file that is a pipe, a folder, a device or below a file costs nothing and is not waited for', (t) => {
  const folder = scratchFolder(t);
  const pipe = path.join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  writeFileSync(path.join(folder, 'file'), '');
  for (const file of [pipe, folder, '/dev/stdout', path.join(folder, 'file/below')]) openLog(file)('text');
  openLog(path.join(folder, 'new/opl.log'))('text\nof two lines');
  assert.match(readFileSync(path.join(folder, 'new/opl.log'), 'utf8'), /^\S+Z \d+ text\nof two lines\n$/);
});

test('nothing names the home folder: an absolute cache folder all the same', () => {
  for (const env of [{}, { HOME: '' }, { LOCALAPPDATA: '', HOME: '/h' }])
    assert.ok(path.isAbsolute(cacheFolder(env)), JSON.stringify(env));
});
