// What a command of `opl` is. One file per command in commands/; its schema gives the options of the shell and the arguments of a batch alike.

import { realpathSync } from 'node:fs';
import path from 'node:path';
import { runProgram } from './channel/child.ts';
import { Fault } from './channel/fault.ts';
import { statOf } from './channel/files.ts';
import type { CallOptions, Sidecar } from './channel/sidecar.ts';
import type { Settings } from './settings.ts';
import type { Property } from './tool.ts';

export interface Answer {
  /** What --json prints. */
  json: unknown;
  /** What a person reads. */
  text: string;
  /** 1 when the thing asked about failed. */
  status?: 0 | 1;
}

export interface Surroundings {
  root: string;
  settings: Settings;
  /** Whether the answer is wanted as JSON. */
  asJson: boolean;
  /** Shows progress on a terminal; nothing elsewhere. */
  progress: NonNullable<CallOptions['onProgress']>;
  signal: AbortSignal | undefined;
  sidecar(): Promise<Sidecar>;
  /** Writes a part of a long answer to standard output; resolves when more may come. A command that used it answers nothing else. */
  write(text: string): Promise<void>;
}

export interface Command<Input = Record<string, unknown>> {
  name: string;
  summary: string;
  /** A line to try. */
  example: string;
  properties: Record<string, Property>;
  required: string[];
  /** The property a bare word gives; `-` reads it from standard input. */
  positional?: string;
  /** The property that holds text from standard input when its value is `-`. */
  fromInput?: string;
  /** Answers, or has written its answer itself and returns nothing. */
  run(input: Input, here: Surroundings): Promise<Answer | undefined>;
}

/** The folder a command is about: the one named, else the git top level above the current folder, else the current folder; a real path. */
export async function findRoot(named: string | undefined): Promise<string> {
  if (named !== undefined) {
    const folder = path.resolve(named);
    if (!statOf(folder)?.isDirectory()) {
      throw new Fault('not-found', `There is no folder ${named}; --root names the top of a repository.`);
    }
    return realpathSync(folder);
  }
  try {
    const here = realpathSync(process.cwd());
    const { exitCode, stdout } = await runProgram('git', ['rev-parse', '--show-toplevel'], { milliseconds: 10_000 });
    const top = stdout.replace(/\n$/, '');
    return exitCode === 0 && top ? realpathSync(top) : here;
  } catch {
    // deleted under the shell, or of a name that is no UTF-8
    throw new Fault('not-found', 'The current folder is gone or cannot be named; give another with --root DIR.');
  }
}
