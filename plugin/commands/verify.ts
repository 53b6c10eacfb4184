// opl verify: what verify_change answers, from a shell.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Fault } from '../channel/fault.ts';
import type { Answer, Command } from '../command.ts';
import { renderVerify } from '../render/verify.ts';
import { sidecarOptions } from '../settings.ts';
import { sidecarSeams } from '../verify/sidecar-seams.ts';
import { DEFAULT_TIMEOUT_SECONDS, verify } from '../verify/verify.ts';

interface Input {
  diff?: string;
  command?: string;
  targetedOnly: boolean;
  baseline: boolean;
  noRerun: boolean;
  timeout: number;
}

export const verifyCommand: Command<Input> = {
  name: 'verify',
  summary: 'runs the tests that tell soonest about a change, then the rest',
  example: 'opl verify --command "npm test" --timeout 300',
  properties: {
    diff: {
      type: 'string',
      minLength: 1,
      description: 'a file with the diff, - for standard input (default: the working tree against HEAD)',
    },
    command: { type: 'string', minLength: 1, description: 'the test command (default: found from the project)' },
    targetedOnly: { type: 'boolean', default: false, description: 'leave the full suite out' },
    baseline: {
      type: 'boolean',
      default: false,
      description: 'run what failed without the change too, in a git worktree',
    },
    noRerun: { type: 'boolean', default: false, description: 'do not run failing tests once more alone' },
    timeout: {
      type: 'integer',
      minimum: 1,
      maximum: 86_400,
      default: DEFAULT_TIMEOUT_SECONDS,
      description: `seconds for everything (${DEFAULT_TIMEOUT_SECONDS})`,
    },
  },
  required: [],
  fromInput: 'diff',
  async run({ diff, command, targetedOnly, baseline, noRerun, timeout }, here): Promise<Answer> {
    const { indexFolder } = sidecarOptions(here.root, here.settings);
    const cancel = new AbortController();
    const abort = () => cancel.abort();
    process.once('SIGINT', abort);
    process.once('SIGTERM', abort);
    try {
      const answer = await verify({
        root: here.root,
        diff: diff === undefined ? undefined : diffText(diff),
        command,
        targetedOnly,
        baseline,
        rerun: !noRerun,
        timeoutSeconds: timeout,
        seams: sidecarSeams(here.sidecar, indexFolder),
        spoolFolder: path.join(indexFolder, 'verify'),
        signal: here.signal ? AbortSignal.any([cancel.signal, here.signal]) : cancel.signal,
        stopCommand: process.env.OPL_VERIFY_STOP,
        onProgress: (_command, { seconds, lastLine }) =>
          here.progress(lastLine || 'tests', Math.round(seconds), timeout),
      });
      return { json: answer, text: renderVerify(answer), status: answer.verdict === 'passed' ? 0 : 1 };
    } finally {
      process.removeListener('SIGINT', abort);
      process.removeListener('SIGTERM', abort);
    }
  },
};

/** The diff itself (standard input, a batch), or the file that holds it. */
function diffText(given: string): string {
  if (given.includes('\n')) return given;
  if (!existsSync(given))
    throw new Fault('not-found', `There is no file ${given}; --diff names a file, - reads standard input.`);
  return readFileSync(given, 'utf8');
}
