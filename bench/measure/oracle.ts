// Definitions and calls against what compilers say: tsx bench/measure/oracle.ts --oracle DIR --checkouts DIR [--write]
// DIR of the oracle holds score.py and a folder for each repository; checkouts are named alike, each at its commit.
// Prints a table and compares it with bench/expected/oracle.tsv; --write replaces that file.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const EXPECTED = path.join(import.meta.dirname, '../expected/oracle.tsv');
const CLI = path.join(import.meta.dirname, '../../dist/cli.js');

/** Kinds of the oracle that are values, at top level and in classes and interfaces: their bar is 0.95, of the others 0.99. */
const VALUES = /^(const|var|field|attr|self-attr|iprop|member|enumerator|constant|property|var-top|imethod)$/;
/** Locals are bindings, and properties of object literals and of types written in place belong to no class: neither is listed. */
const LOCAL = /^(var-local|local-const|objprop|typeprop)$/;

interface Counts {
  n: number;
  found?: number;
  end_given?: number;
  end_exact?: number;
  ok?: number;
}

function run(command: string, args: string[], output?: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 30 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stderr.slice(-500)}`);
  if (output) writeFileSync(output, stdout);
  return stdout;
}

const share = (part: number, whole: number) => (whole === 0 ? '-' : (part / whole).toFixed(4));

function sum(rows: Record<string, Counts>, wanted: (kind: string) => boolean, key: keyof Counts): number {
  return Object.entries(rows)
    .filter(([name]) => wanted(name.split('|')[1] ?? ''))
    .reduce((total, [, counts]) => total + (counts[key] ?? 0), 0);
}

function scoreOf(oracle: string, checkouts: string, name: string, scratch: string): string[] {
  const file = path.join(scratch, name);
  const score = (what: string) =>
    JSON.parse(run('python3', [path.join(oracle, 'score.py'), what, name, file, '--scope', 'all', '--json']));
  run(process.execPath, [CLI, 'symbols', '--root', path.join(checkouts, name)], file);
  const defs = score('defs');
  const solid = (kind: string) => !VALUES.test(kind) && !LOCAL.test(kind);
  const value = (kind: string) => VALUES.test(kind);
  const any = () => true;
  const row = [
    name,
    share(sum(defs.recall, solid, 'found'), sum(defs.recall, solid, 'n')),
    share(sum(defs.recall, value, 'found'), sum(defs.recall, value, 'n')),
    share(sum(defs.precision, any, 'ok'), sum(defs.precision, any, 'n')),
    share(sum(defs.recall, solid, 'end_exact'), sum(defs.recall, solid, 'end_given')),
  ];
  run(process.execPath, [CLI, 'calls', '--root', path.join(checkouts, name)], file);
  const calls = score('calls');
  if (!calls.edges_hard) return [...row, '-', '-', '-'];
  return [...row, calls.prec.toFixed(4), calls.recall.toFixed(4), calls.caller_agree.toFixed(4)];
}

const { values } = parseArgs({
  options: { oracle: { type: 'string' }, checkouts: { type: 'string' }, write: { type: 'boolean' } },
});
if (!values.oracle || !values.checkouts) {
  process.stderr.write('oracle.ts wants --oracle DIR and --checkouts DIR; the first lines say what they hold.\n');
  process.exit(2);
}
const { oracle, checkouts } = values as { oracle: string; checkouts: string };
const scratch = mkdtempSync(path.join(tmpdir(), 'opl-oracle-'));
const head =
  'repository\tdefinitions recall\tvalues recall\tprecision\tends exact\tedges precision\tedges recall\tcaller right';
const lines = [head];
for (const name of readdirSync(oracle).sort()) {
  if (!existsSync(path.join(oracle, name, 'defs.tsv')) || !existsSync(path.join(checkouts, name))) continue;
  lines.push(scoreOf(oracle, checkouts, name, scratch).join('\t'));
  process.stdout.write(`${lines.at(-1)}\n`);
}
rmSync(scratch, { recursive: true });
const table = `${lines.join('\n')}\n`;
if (values.write) {
  mkdirSync(path.dirname(EXPECTED), { recursive: true });
  writeFileSync(EXPECTED, table);
} else if (!existsSync(EXPECTED) || readFileSync(EXPECTED, 'utf8') !== table) {
  process.stdout.write('differs from bench/expected/oracle.tsv; --write takes it over\n');
  process.exitCode = 1;
}
