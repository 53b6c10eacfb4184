// One `opl batch` kept open over a checkout that moves from commit to commit.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import type { Context, Instance } from './ranking-score.ts';

/** One `opl batch` over FOLDER, asked one task after the other. */
export class Batch {
  readonly folder: string;
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #replies: AsyncIterator<string>;

  constructor(opl: string, folder: string) {
    const [program, ...words] = opl.split(' ');
    this.folder = folder;
    this.#child = spawn(program!, [...words, 'batch', '--root', folder], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout! });
    this.#replies = this.#lines[Symbol.asyncIterator]();
  }

  /** What it says to INSTANCE's task, LIMIT files at most; nothing when it fails, which is told on standard error. */
  async ask(instance: Instance, limit: number): Promise<Context | undefined> {
    const request = { id: instance.id, command: 'context', args: { task: instance.query, limit } };
    this.#child.stdin!.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await this.#replies.next();
    const answer = done ? undefined : JSON.parse(value);
    if (!answer?.files) process.stderr.write(`${instance.id}: ${value ?? 'no reply'}\n`);
    return answer?.files ? answer : undefined;
  }

  async end(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin!.end();
    if (this.#child.exitCode === null) await gone;
  }
}
