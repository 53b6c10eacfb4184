// Is an index that followed a working tree the same as one made anew? Commits are checked out at random, files edited, moved, copied and deleted;
// after each step one `opl batch` that has been there all along and one with an empty cache have to say the same.
//   npm run build && npx tsx bench/measure/refreshed.ts REPOSITORY [--steps 12] [--seed 1]
// REPOSITORY, a clone with history, is cloned first. Prints what differed; ends with 1 when anything did. What it found is in the tests of the index.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, copyFileSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const CLI = path.join(import.meta.dirname, '../../dist/cli.js');
const COMMITS = 400;

const { values, positionals } = parseArgs({
  options: { steps: { type: 'string', default: '12' }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
});
if (!positionals[0]) {
  process.stderr.write('refreshed.ts wants a repository; its first lines say more.\n');
  process.exit(2);
}

const QUESTIONS: readonly { command: string; args: Record<string, unknown> }[] = [
  { command: 'symbols', args: {} },
  { command: 'calls', args: {} },
  { command: 'context', args: { task: 'parsing fails when the header is empty', limit: 200, explain: true } },
  { command: 'search', args: { name: 'parse', limit: 200 } },
];

const scratch = mkdtempSync(path.join(tmpdir(), 'opl-refreshed-'));
const folder = path.join(scratch, 'tree');
const git = (...words: string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'advice.detachedHead=false', ...words], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** The same numbers in every run of a seed: a linear congruential generator. */
let state = Number(values.seed);
function draw(limit: number): number {
  state = (1103515245 * state + 12345) % 2147483648;
  return Math.floor((state / 2147483648) * limit);
}

/** One `opl batch` over the tree, its cache in CACHE. */
function start(cache: string) {
  const child = spawn(process.execPath, [CLI, 'batch', '--root', folder], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, XDG_CACHE_HOME: cache },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(question: (typeof QUESTIONS)[number]): Promise<string> {
      child.stdin.write(`${JSON.stringify({ id: 0, ...question })}\n`);
      return String((await lines.next()).value);
    },
    async end(): Promise<void> {
      const gone = new Promise((resolve) => (child as ChildProcess).once('exit', resolve));
      child.stdin.end();
      await gone;
    },
  };
}

/** Does something to one file that a person or an agent would. */
function change(file: string, step: number): void {
  const whole = path.join(folder, file);
  if (!lstatSync(whole, { throwIfNoEntry: false })?.isFile()) return;
  const beside = (word: string) => path.join(path.dirname(whole), `${word}${step}_${path.basename(whole)}`);
  const kinds = [
    () => rmSync(whole),
    () => appendFileSync(whole, '\nx = parse(get(1))\n'),
    () => renameSync(whole, beside('moved')),
    () => copyFileSync(whole, beside('copy')),
  ];
  kinds[draw(kinds.length)]!();
}

let different = 0;
try {
  execFileSync('git', ['clone', '-q', '-s', positionals[0], folder]);
  const commits = git('log', '--format=%H', '-n', String(COMMITS)).trim().split('\n');
  const cache = path.join(scratch, 'cache');
  let follower = start(cache);
  for (let step = 0; step < Number(values.steps); step += 1) {
    if (draw(5) < 3) git('checkout', '-q', '-f', commits[draw(commits.length)]!);
    const files = git('ls-files').trim().split('\n');
    for (let n = [0, 1, 3, 30][draw(4)]!; n > 0; n -= 1) change(files[draw(files.length)]!, step);
    if (draw(5) === 0) git('clean', '-q', '-f', '-d');
    const fresh = path.join(scratch, 'fresh');
    rmSync(path.join(fresh, 'opencode-plugin-lisp/roots'), { recursive: true, force: true });
    const newcomer = start(fresh);
    for (const question of QUESTIONS) {
      const [one, other] = [await follower.ask(question), await newcomer.ask(question)];
      if (one === other) continue;
      different += 1;
      const at = [...one].findIndex((letter, place) => letter !== other[place]);
      process.stdout.write(
        `step ${step}, ${question.command}: …${one.slice(Math.max(0, at - 100), at + 100)}…\n  anew: …${other.slice(Math.max(0, at - 100), at + 100)}…\n`,
      );
    }
    await newcomer.end();
    if (draw(6) === 0) {
      await follower.end();
      follower = start(cache);
    }
  }
  await follower.end();
  process.stdout.write(`${values.steps} steps, ${different} answers differed\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = different > 0 ? 1 : 0;
