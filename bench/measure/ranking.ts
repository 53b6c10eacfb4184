// How well repo_context finds the files that an issue's fix changed, per language, beside plain ways of searching.
//   npx tsx bench/measure/ranking.ts --data INSTANCES.jsonl --mirrors DIR [--work DIR] [--opl CMD] [--only REPO] [--every N]
//     [--done FILE] [--keep]
// INSTANCES: JSON lines with id, repo, commit, lang, query, gold_files, gold_functions. DIR: clones as <owner>+<name>[/repo].
// Each instance is looked at in a clone checked out at its commit, so history is the ancestors' alone; one `opl batch` a repository,
// which is moved from commit to commit as a developer's checkout is: what is measured is an index refreshed, not one built anew.
// --done keeps each outcome in FILE as it comes; what it holds is not measured again, so a run can be ended and gone on with.
// --keep writes bench/expected/ranking.tsv, whose difference shows every change of quality.

import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Batch } from './ranking-batch.ts';
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
    done: { type: 'string' },
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

function mirrorOf(mirrors: string, repo: string): string | undefined {
  const name = (FORKS[repo] ?? repo).replace('/', '+');
  return [path.join(mirrors, name, 'repo'), path.join(mirrors, name)].find((one) => existsSync(one));
}

function checkout(mirrors: string, instance: Instance): string | undefined {
  const folder = path.join(given.work!, instance.repo.replace('/', '+'));
  if (!existsSync(path.join(folder, '.git'))) {
    const mirror = mirrorOf(mirrors, instance.repo);
    if (!mirror) return undefined;
    mkdirSync(given.work!, { recursive: true });
    execFileSync('git', ['clone', '-q', '-s', '-n', mirror, folder]);
  }
  try {
    git(folder, 'checkout', '-q', '-f', instance.commit);
    git(folder, 'clean', '-q', '-f', '-d');
    return folder;
  } catch {
    // a mirror may lack an object of some commit
    process.stderr.write(`${instance.id}: its commit cannot be checked out\n`);
    return undefined;
  }
}

const LARGEST = 1_000_000;

/** The words of a tracked text file, in lower case; none of what is no regular file, large or binary. */
function wordsOf(file: string): Set<string> {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  const text = stat?.isFile() && stat.size < LARGEST ? readFileSync(file, 'latin1') : '';
  return new Set(text.includes('\0') ? [] : text.toLowerCase().match(/\w+/g));
}

/** Characters of whole files read, in the order of how many of the task's longer words each holds (grep -i -w), until a gold one is read. */
function grepThenRead(folder: string, instance: Instance): number {
  const words = [...new Set(instance.query.toLowerCase().match(/[a-z_]\w{3,}/g) ?? [])].slice(0, 40);
  const counts = new Map<string, number>();
  for (const file of git(folder, 'ls-files').split('\n').filter(Boolean)) {
    const held = wordsOf(path.join(folder, file));
    const count = words.filter((word) => held.has(word)).length;
    if (count > 0) counts.set(file, count);
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
    `| functions, any @10 | ${functions.length} | | | | ${accuracy(functions, 10).any.toFixed(1)} | |`,
    ...ALTERNATIVES.map(
      ([name, ...figures]) => `| ${name} (core set) | 409 | ${figures.map((one) => one.toFixed(1)).join(' | ')} |`,
    ),
    '',
    `Characters until the first gold file is on the screen, median: ${median(shown)} (shown in ${shown.length} of ${outcomes.length});`,
    `until a gold function's name is: ${median(shownFunctions)} (${shownFunctions.length}).`,
    `Grep for the task's words, then read whole files, ten at most: ${median(read)} (reached in ${read.length}).`,
  ].join('\n');
}

interface Measured {
  readonly outcome: Outcome;
  /** Characters that grepping and then reading takes until a gold file; 0 when it reaches none. */
  readonly grepped: number;
}

/** What an earlier run left in FILE, by instance. */
function earlier(file: string | undefined): Map<string, Measured> {
  const lines = file && existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  return new Map(lines.map((one): [string, Measured] => [JSON.parse(one).outcome.instance.id, JSON.parse(one)]));
}

/** Instances of one repository stand together, older commits first, so that a checkout changes few files. */
function inOrder(mirrors: string, instances: readonly Instance[]): Instance[] {
  const times = new Map<string, number>();
  for (const repo of new Set(instances.map((one) => one.repo))) {
    const mirror = mirrorOf(mirrors, repo);
    const commits = instances.filter((one) => one.repo === repo).map(({ commit }) => commit);
    const lines = mirror ? git(mirror, 'log', '--no-walk', '--format=%H %ct', ...commits).split('\n') : [];
    for (const [commit, seconds] of lines.map((line) => line.split(' '))) times.set(commit!, Number(seconds));
  }
  const time = ({ commit }: Instance) => times.get(commit) ?? 0;
  return [...instances].sort((a, b) => (a.repo === b.repo ? time(a) - time(b) : a.repo < b.repo ? -1 : 1));
}

/** The batch of INSTANCE's repository: the one that is OPEN, or another after that has ended. */
async function batchFor(folder: string, open: Batch | undefined): Promise<Batch> {
  if (open?.folder === folder) return open;
  await open?.end();
  return new Batch(given.opl!, folder);
}

function note(instance: Instance, context: Context, folder: string): Measured {
  const measured = { outcome: score(instance, context), grepped: grepThenRead(folder, instance) };
  if (given.done) appendFileSync(given.done, `${JSON.stringify(measured)}\n`);
  return measured;
}

/** What is known or measured of each of INSTANCES; those of no mirror, and those that fail, are left out. */
async function measureAll(mirrors: string, instances: readonly Instance[]): Promise<Measured[]> {
  const known = earlier(given.done);
  const measured: Measured[] = [];
  let batch: Batch | undefined;
  for (const instance of instances) {
    let one = known.get(instance.id);
    if (!one) {
      const began = Date.now();
      const folder = checkout(mirrors, instance);
      if (!folder) continue;
      batch = await batchFor(folder, batch);
      const context = await batch.ask(instance, FILES);
      if (!context) continue;
      const asked = Date.now();
      one = note(instance, context, folder);
      const seconds = [asked - began, Date.now() - asked].map((ms) => (ms / 1000).toFixed(1)).join(' + ');
      process.stderr.write(
        `${measured.length + 1}/${instances.length} ${instance.id} ${one.outcome.ranks.join(' ')} (${seconds} s)\n`,
      );
    }
    measured.push(one);
  }
  await batch?.end();
  return measured;
}

function keep(outcomes: readonly Outcome[]): void {
  const table = [...new Set(outcomes.map(({ instance }) => instance.lang))].sort().map((lang) => {
    const ranks = outcomes.filter(({ instance }) => instance.lang === lang).map((one) => one.ranks);
    return [
      lang,
      ranks.length,
      ...DEPTHS.map((depth) => accuracy(ranks, depth).all.toFixed(1)),
      accuracy(ranks, 5).any.toFixed(1),
    ].join('\t');
  });
  const rows = outcomes.map(({ instance, ranks }) => `${instance.id}\t${ranks.join(' ')}`).sort();
  mkdirSync(path.dirname(EXPECTED), { recursive: true });
  writeFileSync(
    EXPECTED,
    ['language\tinstances\tall @1\t@3\t@5\t@10\tany @5', ...table, '', 'id\tranks of the gold files', ...rows, ''].join(
      '\n',
    ),
  );
}

async function main(): Promise<void> {
  const { data, mirrors } = given;
  if (!data || !mirrors) throw new Error('--data and --mirrors are needed; see the head of this file.');
  const all = readFileSync(data, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((one): Instance => JSON.parse(one))
    .filter(({ repo }) => !given.only || repo === given.only);
  const instances = inOrder(mirrors, all).filter((_, place) => place % Number(given.every) === 0);
  const measured = await measureAll(mirrors, instances);
  const outcomes = measured.map(({ outcome }) => outcome);
  if (given.keep) keep(outcomes);
  const machine = `Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model}), ${Math.round(totalmem() / 2 ** 30)} GB.`;
  process.stdout.write(
    `${report(
      outcomes,
      measured.map(({ grepped }) => grepped),
    )}\n\n${machine}\n`,
  );
}

await main();
