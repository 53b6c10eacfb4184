// Folders and repositories that tests make and leave behind clean, and one cache for all of them: a core is built once per state of the sources.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';

export const REPOSITORY = path.resolve(import.meta.dirname, '..');

/** The user's cache folder for all tests: XDG_CACHE_HOME of what they start. Cores in it are keyed by what they are made of. */
export const CACHE = process.env.OPL_TEST_CACHE ?? path.join(tmpdir(), 'opencode-plugin-lisp-test');

/** A new folder, gone after the test. */
export function scratchFolder(test: Pick<TestContext, 'after'>): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'opl-test-')));
  test.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

const GIT = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'test',
  GIT_AUTHOR_EMAIL: 'test@example.invalid',
  GIT_COMMITTER_NAME: 'test',
  GIT_COMMITTER_EMAIL: 'test@example.invalid',
};

/** Runs git in FOLDER and returns what it prints. */
export function git(folder: string, ...words: string[]): string {
  return execFileSync('git', words, { cwd: folder, env: { ...process.env, ...GIT, HOME: folder }, encoding: 'utf8' });
}

export function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

/** A committed repository with FILES, gone after the test. */
export function scratchRepository(test: Pick<TestContext, 'after'>, files: Record<string, string>): string {
  const folder = scratchFolder(test);
  writeFiles(folder, files);
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-q', '-m', 'first', '--allow-empty');
  return folder;
}

/** The state letter of the process PID in /proc, or nothing when it is gone: a container's first process may leave zombies. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    const stat = execFileSync('cat', [`/proc/${pid}/stat`], { encoding: 'utf8' });
    return !/^\d+ \(.*\) [ZX]/s.test(stat);
  } catch {
    return false;
  }
}

/** Waits until CONDITION holds; throws with WHAT after MILLISECONDS. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  milliseconds: number,
): Promise<void> {
  const end = Date.now() + milliseconds;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what}: not within ${milliseconds / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
