// Short questions to programs beside the tests: git for the state of the tree, a build system for what is affected.

import { execa } from 'execa';

export interface CaptureOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal | undefined;
  /** An exit status besides 0 whose output counts. */
  readonly partial?: number | undefined;
}

/** A question that takes longer is not short; a status of linux-source-6.1 on a cold disk stays below. */
const LONGEST_SECONDS = 60;

/** Standard output, or undefined when the program is missing, fails or takes too long. */
export async function capture(
  program: string,
  args: readonly string[],
  { cwd, env = {}, input, timeoutSeconds = LONGEST_SECONDS, signal, partial }: CaptureOptions,
): Promise<string | undefined> {
  const result = await execa(program, args, {
    cwd,
    env: { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C', ...env },
    ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
    stderr: 'ignore',
    reject: false,
    stripFinalNewline: false,
    maxBuffer: 256 * 1024 * 1024,
    timeout: timeoutSeconds * 1000,
    windowsHide: true,
    ...(signal ? { cancelSignal: signal } : {}),
  });
  const good = !result.failed || (partial !== undefined && result.exitCode === partial);
  return good ? result.stdout : undefined;
}
