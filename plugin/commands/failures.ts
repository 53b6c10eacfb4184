// opl failures: what a captured test log says.

import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Fault } from '../channel/fault.ts';
import { statOf } from '../channel/files.ts';
import type { Answer, Command } from '../command.ts';
import { renderLog } from '../render/log.ts';
import { parseLog } from '../verify/parsed-log.ts';

/** Standard input as a file, which the sidecar can read in blocks. */
async function withSpool<T>(work: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'opl-log-'));
  try {
    const file = path.join(folder, 'log');
    await pipeline(process.stdin, createWriteStream(file));
    return await work(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const failuresCommand: Command<{ file: string; runner?: string }> = {
  name: 'failures',
  summary: 'what a captured test log or report says: verdict, counts, failures and where',
  example: 'npm test 2>&1 | opl failures -',
  properties: {
    file: { type: 'string', minLength: 1, description: 'the log; - reads standard input' },
    runner: { type: 'string', minLength: 1, description: 'the test runner that wrote it, when it is known' },
  },
  required: ['file'],
  positional: 'file',
  async run({ file, runner }, { root, sidecar, signal }): Promise<Answer> {
    const ask = async (log: string) => parseLog(await sidecar(), { log, runner, root }, signal);
    if (file !== '-' && !statOf(file)?.isFile())
      throw new Fault(
        'not-found',
        `There is no file ${file}; name the captured output of a test command, or - for standard input.`,
      );
    const answer = file === '-' ? await withSpool(ask) : await ask(path.resolve(file));
    return { json: answer, text: renderLog(answer) };
  },
};
