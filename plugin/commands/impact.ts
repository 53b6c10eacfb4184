// opl impact: what change_impact answers, from a shell.

import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Fault } from '../channel/fault.ts';
import type { Answer, Command } from '../command.ts';
import { renderImpact } from '../render/impact.ts';
import { renderImpactPage } from '../render/impact-page.ts';
import { commandsForTests } from '../verify/select.ts';
import { tellingTests } from '../verify/telling.ts';

interface Input {
  diff?: string;
  target?: string;
  limit: number;
  html?: string;
}

/** A terminal scrolls. */
const TERMINAL_CHARACTERS = 20_000;

/** A line on the wire has a limit; a diff beyond this many characters is passed as the path of its file. */
const LONGEST_DIFF = 1_000_000;

export const impactCommand: Command<Input> = {
  name: 'impact',
  summary: 'what a change touches, who depends on it, which tests would tell',
  example: 'git diff main | opl impact --diff -',
  properties: {
    diff: {
      type: 'string',
      minLength: 1,
      description: 'a file with the diff, - for standard input (default: the working tree against HEAD)',
    },
    target: {
      type: 'string',
      minLength: 1,
      description: 'instead of a diff: path:line, path:name, a name, a git revision or range, or a description',
    },
    limit: { type: 'integer', minimum: 1, maximum: 100_000, default: 200, description: 'callers at most (200)' },
    html: { type: 'string', minLength: 1, description: 'a file to write: the change drawn as one page for a browser' },
  },
  required: [],
  fromInput: 'diff',
  async run({ diff, target, limit, html }, { root, sidecar, progress, signal }): Promise<Answer> {
    const door = await sidecar();
    await door.call('ready', { saved: true }, { onProgress: progress, signal });
    const reply = await door.call('impact', { ...diffArguments(diff), target: target ?? null, limit }, { signal });
    const head = reply.impact[0];
    const tests = reply['affected-test'];
    const commands = commandsForTests(root, tellingTests(tests));
    const json = {
      complete: head?.complete ?? false,
      inspected: head?.inspected ?? root,
      incomplete: reply.reason.map(({ doubt, text }) => (doubt === 'full-suite' ? `full suite: ${text}` : text)),
      roots: reply.root,
      callers: reply.dependant,
      callersTotal: head?.callers ?? 0,
      tests,
      files: reply['changed-file'].map(({ path: changed }) => changed),
      command: commands.join(' && '),
      ...(html === undefined ? {} : { html: writePage(html, renderImpactPage(reply, commands)) }),
    };
    const text = renderImpact(reply, commands, TERMINAL_CHARACTERS);
    return { json, text: html === undefined ? text : `${text}\nDrawn in ${json.html}.` };
  },
};

/** The file that PAGE was written to. */
function writePage(file: string, page: string): string {
  const target = path.resolve(file);
  try {
    writeFileSync(target, page);
  } catch (error) {
    throw new Fault(
      'bad-argument',
      `${target} cannot be written (${(error as Error).message}); give another file with --html.`,
    );
  }
  return target;
}

/** The diff itself (standard input, a batch), or the file that holds it. */
function diffArguments(given: string | undefined): { diff: string | null; file: string | null } {
  if (given === undefined) return { diff: null, file: null };
  if (given.includes('\n') && given.length <= LONGEST_DIFF) return { diff: given, file: null };
  if (given.includes('\n')) {
    throw new Fault('bad-argument', 'The diff is too long for standard input; save it to a file and give --diff FILE.');
  }
  if (!existsSync(given)) {
    throw new Fault('not-found', `There is no file ${given}; --diff names a file, - reads standard input.`);
  }
  return { diff: null, file: path.resolve(given) };
}
