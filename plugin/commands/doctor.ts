// opl doctor: what is installed, in which versions, where caches lie, what is missing and what mends it.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { CTAGS_VERSION, explain, installAdvice } from '../advice.ts';
import { GONE_DAYS, rootFolders, UNUSED_DAYS } from '../channel/caches.ts';
import { runProgram } from '../channel/child.ts';
import { packageVersion, sbclVersion } from '../channel/core.ts';
import { statOf } from '../channel/files.ts';
import type { Answer, Command, Surroundings } from '../command.ts';
import { table } from '../render/table.ts';
import { cacheFolder } from '../settings.ts';

interface Check {
  name: string;
  ok: boolean;
  found: string;
  advice: string | null;
}

/** Debian 12's; older ones lack what the sidecar uses. */
const OLDEST_SBCL = [2, 2, 9];

const MEGABYTE = 2 ** 20;

function olderThan(version: string, oldest: readonly number[]): boolean {
  const numbers = version.split('.').map(Number);
  for (const [index, least] of oldest.entries()) {
    const number = numbers[index] ?? 0;
    if (number !== least) return number < least;
  }
  return false;
}

async function checkSbcl({ settings }: Surroundings): Promise<Check> {
  try {
    const version = await sbclVersion(settings.sbcl);
    const old = olderThan(version, OLDEST_SBCL);
    return {
      name: 'sbcl',
      ok: !old,
      found: version,
      advice: old ? `SBCL ${OLDEST_SBCL.join('.')} or newer is wanted. ${installAdvice(['sbcl'])}` : null,
    };
  } catch (error) {
    return { name: 'sbcl', ok: false, found: 'nothing', advice: explain(error) };
  }
}

async function checkCtags({ settings }: Surroundings): Promise<Check> {
  const { stdout, missing } = await runProgram(settings.ctags, CTAGS_VERSION, { milliseconds: 10_000 });
  const version = /^Universal Ctags ([\w.]+)/.exec(stdout)?.[1];
  if (version) return { name: 'ctags', ok: true, found: `universal-ctags ${version}`, advice: null };
  const found = missing
    ? 'nothing'
    : `a ctags that is not universal-ctags (${stdout.split('\n')[0]?.slice(0, 60) || 'it knows no --version'})`;
  return {
    name: 'ctags',
    ok: false,
    found,
    advice: `${installAdvice(['universal-ctags'])} Or name the program with OPL_CTAGS.`,
  };
}

async function checkGit(): Promise<Check> {
  const { stdout, missing } = await runProgram('git', ['--version'], { milliseconds: 10_000 });
  return {
    name: 'git',
    ok: !missing,
    found: missing ? 'nothing' : stdout.trim(),
    advice: missing ? installAdvice(['git']) : null,
  };
}

async function checkSidecar(here: Surroundings): Promise<Check[]> {
  try {
    const door = await here.sidecar();
    const { version, lisp, core, note } = await door.describe();
    const own: Check = {
      name: 'sidecar',
      ok: version === packageVersion(),
      found: `${version} on SBCL ${lisp}, from ${core ?? 'its sources'}`,
      advice: note,
    };
    const asked = await door.call('doctor', { ctags: here.settings.ctags }).catch(() => ({ check: [] as Check[] }));
    return [own, ...asked.check];
  } catch (error) {
    return [{ name: 'sidecar', ok: false, found: 'it does not start', advice: explain(error) }];
  }
}

function folderSize(folder: string): number {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => {
      const file = statOf(path.join(folder, name));
      return sum + (file?.isFile() ? file.size : 0);
    }, 0);
  } catch {
    return 0;
  }
}

function checkCaches(): Check {
  const folder = cacheFolder();
  const size = (name: string) => `${(folderSize(path.join(folder, name)) / MEGABYTE).toFixed(1)} MB`;
  if (!existsSync(folder)) return { name: 'caches', ok: true, found: `${folder}, not made yet`, advice: null };
  const roots = rootFolders(path.join(folder, 'roots'));
  const gone = roots.filter((one) => one.gone).length;
  const of = `${roots.length} ${roots.length === 1 ? 'repository' : 'repositories'}${gone ? `, ${gone} of them deleted` : ''}`;
  const kept = `what a deleted one left goes ${GONE_DAYS} days after its last use, an index not used for ${UNUSED_DAYS} days too`;
  const found = `${folder}, ${size('.')}: ${size('roots')} of ${of} (${kept}), ${size('cores')} of compiled sidecars, ${size('fasl')} of what they are made from`;
  return { name: 'caches', ok: true, found, advice: null };
}

export const doctorCommand: Command<Record<string, never>> = {
  name: 'doctor',
  summary: 'what is installed, what is missing and what to type to mend it',
  example: 'opl doctor',
  properties: {},
  required: [],
  async run(_, here): Promise<Answer> {
    const node: Check = { name: 'node', ok: true, found: process.version, advice: null };
    const plugin: Check = { name: 'plugin', ok: true, found: packageVersion(), advice: null };
    const parts = await Promise.all([checkSbcl(here), checkCtags(here), checkGit(), checkSidecar(here)]);
    const all = [plugin, node, ...parts.flat(), checkCaches()];
    // The sidecar looks at some of the same things; what the host saw of them comes first and says it once.
    const checks = all.filter(
      (one, index) => all.findIndex(({ name, ok }) => name === one.name && ok === one.ok) === index,
    );
    const ok = checks.every((one) => one.ok);
    const lines = table(checks.map((one) => [one.ok ? 'ok' : 'FAULT', one.name, one.found]));
    // One cause shows in several checks; what to type is said once.
    const words = [...new Set(checks.flatMap((one) => one.advice ?? []))];
    const named = (advice: string) => checks.filter((one) => one.advice === advice).map((one) => one.name);
    const advice = words.map((one) => `${named(one).join(', ')}: ${one}`);
    return {
      json: { ok, checks },
      text: [lines, ...(advice.length ? ['', ...advice] : [])].join('\n'),
      status: ok ? 0 : 1,
    };
  },
};
