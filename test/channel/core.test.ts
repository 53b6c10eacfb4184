// The core in the user's cache: built once, whoever asks; rebuilt when it cannot be used; done without when there is nowhere to keep it.

import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { prepareLaunch, sbclVersion } from '../../plugin/channel/core.ts';
import { Fault } from '../../plugin/channel/fault.ts';
import { Sidecar } from '../../plugin/channel/sidecar.ts';
import { scratchFolder } from '../scratch.ts';
import { realOptions, SBCL } from '../sidecar-core.ts';

const options = (cacheFolder: string, sbcl = path.join(import.meta.dirname, 'false/quick-sbcl')) => ({
  sbcl,
  cacheFolder,
  heapMegabytes: 512,
  stackMegabytes: 4,
});

/** The one core under CACHE-FOLDER. */
function coreIn(cacheFolder: string): string {
  const [name] = readdirSync(path.join(cacheFolder, 'cores')).filter((one) => !one.endsWith('.lock'));
  return path.join(cacheFolder, 'cores', name!, 'sidecar.core');
}

test('a core is compiled, with word of how far it is, and nothing else is left beside it', async (t) => {
  const cache = scratchFolder(t);
  const stages: string[] = [];
  const report = (stage: string, done: number, total: number) => stages.push(`${stage} ${done}/${total}`);
  const launch = await prepareLaunch({ ...options(cache, SBCL), onProgress: report });
  assert.equal(launch.core, coreIn(cache));
  const files = stages.length;
  assert.equal(stages.at(-1), `compiling ${files - 1}/${files}`);
  assert.deepEqual(readdirSync(path.dirname(coreIn(cache))), ['sidecar.core']);
});

test('several that start at once build one core', async (t) => {
  const cache = scratchFolder(t);
  const launches = await Promise.all([1, 2, 3, 4, 5].map(() => prepareLaunch(options(cache))));
  assert.equal(new Set(launches.map(({ core }) => core)).size, 1);
  assert.equal(readFileSync(coreIn(cache), 'utf8'), 'built\n', 'once');
  assert.deepEqual(
    readdirSync(path.join(cache, 'cores')).filter((name) => name.endsWith('.lock')),
    [],
  );
});

test('a lock whose owner was killed is taken over', async (t) => {
  const cache = scratchFolder(t);
  await prepareLaunch(options(cache));
  const folder = path.dirname(coreIn(cache));
  rmSync(coreIn(cache));
  // No process has this number: Linux and macOS end far below.
  writeFileSync(`${folder}.lock`, '99999999');
  const launch = await prepareLaunch(options(cache));
  assert.ok(existsSync(launch.core!));
});

test('a lock that nobody signed is taken over once it is old', async (t) => {
  const cache = scratchFolder(t);
  await prepareLaunch(options(cache));
  const folder = path.dirname(coreIn(cache));
  rmSync(coreIn(cache));
  writeFileSync(`${folder}.lock`, '');
  const old = new Date(Date.now() - 3_600_000);
  utimesSync(`${folder}.lock`, old, old);
  assert.ok(existsSync((await prepareLaunch(options(cache))).core!));
});

test('a cache folder that cannot be made: the sidecar starts from its sources and says so', async (t) => {
  const folder = scratchFolder(t);
  writeFileSync(path.join(folder, 'file'), '');
  const cacheFolder = path.join(folder, 'file', 'cache');
  const notes: string[] = [];
  const sidecar = new Sidecar({
    ...realOptions(folder, folder),
    ...options(cacheFolder, SBCL),
    log: (text) => notes.push(text),
  });
  t.after(() => sidecar.stop());
  const described = await sidecar.describe();
  assert.equal(described.core, null);
  assert.match(described.note!, /Nothing can be written under .* Make it writable, or set XDG_CACHE_HOME/);
  assert.ok(notes.includes(described.note!));
  assert.equal((await sidecar.call('evaluate', { code: '(+ 1 1)', deadline: 10, session: null })).value[0]?.value, '2');
});

test('a read-only cache that holds the core serves', async (t) => {
  const cache = scratchFolder(t);
  await prepareLaunch(options(cache));
  const folder = path.dirname(coreIn(cache));
  for (const one of [folder, path.dirname(folder), cache]) chmodSync(one, 0o555);
  try {
    assert.ok((await prepareLaunch(options(cache))).core);
  } finally {
    for (const one of [cache, path.dirname(folder), folder]) chmodSync(one, 0o755);
  }
});

test('cores that were not used for longest are deleted', async (t) => {
  const cache = scratchFolder(t);
  for (const [index, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
    const folder = path.join(cache, 'cores', name);
    mkdirSync(folder, { recursive: true });
    const used = new Date(Date.now() - (index + 1) * 86_400_000);
    utimesSync(folder, used, used);
  }
  await prepareLaunch(options(cache));
  const left = readdirSync(path.join(cache, 'cores'));
  assert.deepEqual(
    left.filter((name) => name.length === 1),
    ['a', 'b', 'c'],
  );
});

test('no sbcl, or another program under its name, is said to be missing', async (t) => {
  const folder = scratchFolder(t);
  const other = path.join(folder, 'sbcl');
  writeFileSync(other, '#!/bin/sh\necho something else; exit 3\n');
  chmodSync(other, 0o755);
  for (const program of ['/nowhere/sbcl', other]) {
    await assert.rejects(sbclVersion(program), (error) => error instanceof Fault && error.code === 'sbcl-missing');
  }
});
