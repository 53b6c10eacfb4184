// How well repo_context finds the files that an issue's fix changed, per language, beside plain ways of searching.
//   npx tsx bench/measure/ranking.ts --data INSTANCES.jsonl --mirrors DIR [--work DIR] [--opl CMD] [--only REPO] [--every N] [--keep]
// INSTANCES: JSON lines with id, repo, commit, lang, query, gold_files, gold_functions. DIR: clones as <owner>+<name>[/repo].
// Each instance is looked at in a clone checked out at its commit, so history is the ancestors' alone; one `opl batch` a checkout.
// --keep writes bench/expected/ranking.tsv, whose difference shows every change of quality.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { accuracy, type Context, DEPTHS, type Instance, median, type Outcome, score } from './ranking-score.ts';

const FILES = 30;
const EXPECTED = path.join(import.meta.dirname, '../expected/ranking.tsv');

/** Acc@1/3/5/10, Hit@5 of plain alternatives on the 409 instances of the core set, measured once with the same scorer. */
const ALTERNATIVES = [
  ['ripgrep, count of hits', 11.7, 30.6, 42.5, 52.8, 56.5],
  ['ripgrep, distinct words', 19.1, 38.9, 49.9, 60.4, 64.3],
  ['ctags names and paths', 22.5, 40.6, 47.9, 60.4, 63.6],
  ['SQLite FTS5 trigram over symbols, title', 24.4, 42.3, 50.6, 58.7, 67.7],
  ['BM25 over bodies', 30.6, 49.4, 58.7, 70.2, 73.3],
] as const;

/** A fork that holds the same commits, for a repository that is too large to be had whole. */
const FORKS: Readonly<Record<string, string>> = { 'django/django': 'felixxm/django' };

const { values: given } = parseArgs({
  options: {
    data: { type: 'string' },
    mirrors: { type: 'string' },
    work: { type: 'string', default: path.join(tmpdir(), 'opl-ranking') },
    opl: { type: 'string', default: `node --import tsx ${path.join(import.meta.dirname, '../../plugin/cli.ts')}` },
    only: { type: 'string' },
    every: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
  },
});

function git(folder: string, ...words: string[]): string {
  return execFileSync('git', ['-C', folder, '-c', 'advice.detachedHead=false', ...words], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

function checkout(mirrors: string, instance: Instance): string | undefined {
  const folder = path.join(given.work!, instance.repo.replace('/', '+'));
  if (!existsSync(path.join(folder, '.git'))) {
    const name = (FORKS[instance.repo] ?? instance.repo).replace('/', '+');
    const mirror = [path.join(mirrors, name, 'repo'), path.join(mirrors, name)].find((one) => existsSync(one));
    if (!mirror) return undefined;
    mkdirSync(given.work!, { recursive: true });
    execFileSync('git', ['clone', '-q', '-s', '-n', mirror, folder]);
  }
  git(folder, 'checkout', '-q', '-f', instance.commit);
  git(folder, 'clean', '-q', '-f', '-d');
  return folder;
}

function ask(folder: string, instance: Instance): Context | undefined {
  const [program, ...words] = given.opl!.split(' ');
  const request = { id: instance.id, command: 'context', args: { task: instance.query, limit: FILES } };
  const done = spawnSync(program!, [...words, 'batch', '--root', folder], {
    input: `${JSON.stringify(request)}\n`,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const reply = done.stdout.split('\n').find((line) => line.startsWith('{'));
  const answer = reply ? JSON.parse(reply) : undefined;
  if (!answer?.files) process.stderr.write(`${instance.id}: ${reply ?? done.stderr.slice(-300)}\n`);
  return answer?.files ? answer : undefined;
}

/** Characters of whole files read, in the order of how many of the task's longer words git grep finds in each, until a gold one is read. */
function grepThenRead(folder: string, instance: Instance): number {
  const words = [...new Set(instance.query.match(/[A-Za-z_]\w{3,}/g) ?? [])].slice(0, 40);
  const counts = new Map<string, number>();
  for (const word of words) {
    const found = spawnSync('git', ['-C', folder, 'grep', '-l', '-i', '-w', '-I', '-F', '-e', word], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    for (const file of found.stdout.split('\n')) if (file) counts.set(file, (counts.get(file) ?? 0) + 1);
  }
  const order = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 10);
  let read = 0;
  for (const [file] of order) {
    read += file.length + statSync(path.join(folder, file)).size;
    if (instance.gold_files.includes(file)) return read;
  }
  return 0;
}

function line(name: string, ranks: readonly (readonly number[])[]): string {
  const figures = DEPTHS.map((depth) => accuracy(ranks, depth).all.toFixed(1));
  return `| ${name} | ${ranks.length} | ${figures.join(' | ')} | ${accuracy(ranks, 5).any.toFixed(1)} |`;
}

function report(outcomes: readonly Outcome[], grepped: readonly number[]): string {
  const languages = [...new Set(outcomes.map(({ instance }) => instance.lang))].sort();
  const ranks = (some: readonly Outcome[]) => some.map((one) => one.ranks);
  const functions = outcomes.flatMap((one) => (one.functionRanks ? [one.functionRanks] : []));
  const shown = outcomes.map((one) => one.charactersToFile).filter(Boolean);
  const shownFunctions = outcomes.map((one) => one.charactersToFunction).filter(Boolean);
  const read = grepped.filter(Boolean);
  return [
    '| | instances | all gold @1 | @3 | @5 | @10 | any @5 |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    line('repo_context', ranks(outcomes)),
    ...languages.map((lang) => line(lang, ranks(outcomes.filter(({ instance }) => instance.lang === lang)))),
    line('functions', functions),
    ...ALTERNATIVES.map(
      ([name, ...figures]) => `| ${name} (core set) | 409 | ${figures.map((one) => one.toFixed(1)).join(' | ')} |`,
    ),
    '',
    `Characters until the first gold file is on the screen, median: ${median(shown)} (shown in ${shown.length} of ${outcomes.length});`,
    `until a gold function's name is: ${median(shownFunctions)} (${shownFunctions.length}).`,
    `Grep for the task's words, then read whole files, ten at most: ${median(read)} (reached in ${read.length}).`,
  ].join('\n');
}

function main(): void {
  if (!given.data || !given.mirrors) throw new Error('--data and --mirrors are needed; see the head of this file.');
  const all = readFileSync(given.data, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((one): Instance => JSON.parse(one));
  const instances = all
    .filter(({ repo }) => !given.only || repo === given.only)
    .sort((a, b) => (a.repo === b.repo ? (a.id < b.id ? -1 : 1) : a.repo < b.repo ? -1 : 1))
    .filter((_, place) => place % Number(given.every) === 0);
  const outcomes: Outcome[] = [];
  const grepped: number[] = [];
  for (const instance of instances) {
    const folder = checkout(given.mirrors, instance);
    const context = folder && ask(folder, instance);
    if (!folder || !context) continue;
    outcomes.push(score(instance, context));
    grepped.push(grepThenRead(folder, instance));
    process.stderr.write(`${outcomes.length}/${instances.length} ${instance.id} ${outcomes.at(-1)?.ranks.join(' ')}\n`);
  }
  const rows = outcomes.map(({ instance, ranks }) => `${instance.id}\t${ranks.join(' ')}`);
  if (given.keep) mkdirSync(path.dirname(EXPECTED), { recursive: true });
  if (given.keep) writeFileSync(EXPECTED, `id\tranks of the gold files\n${rows.join('\n')}\n`);
  process.stdout.write(
    `${report(outcomes, grepped)}\n\nNode ${process.version}, ${cpus().length} cores (${cpus()[0]?.model}), ${Math.round(totalmem() / 2 ** 30)} GB.\n`,
  );
}

main();
