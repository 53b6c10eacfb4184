// opl as a shell runs it, with the caches of the tests.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { CACHE, REPOSITORY } from '../scratch.ts';

export interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `opl WORDS` in FOLDER with INPUT on standard input. */
export async function opl(folder: string, words: string[], input = '', env: Record<string, string> = {}): Promise<Ran> {
  // The run of all tests has built the package; a single test file needs no build.
  const entry = process.env.OPL_TEST_BUILT
    ? [path.join(REPOSITORY, 'dist/cli.js')]
    : [
        '--import',
        path.join(REPOSITORY, 'node_modules/tsx/dist/esm/index.mjs'),
        path.join(REPOSITORY, 'plugin/cli.ts'),
      ];
  const child = spawn(process.execPath, [...entry, ...words], {
    cwd: folder,
    env: { ...process.env, XDG_CACHE_HOME: CACHE, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [status] = await once(child, 'close');
  return { status, stdout, stderr };
}

/** The JSON that `opl WORDS --json` prints, which must be all it prints. */
export async function oplJson(
  folder: string,
  words: string[],
  input = '',
  env: Record<string, string> = {},
  // biome-ignore lint/suspicious/noExplicitAny: the tests look at what commands promise
): Promise<any> {
  const { status, stdout, stderr } = await opl(folder, [...words, '--json'], input, env);
  if (status === 2) throw new Error(stderr);
  return JSON.parse(stdout);
}
