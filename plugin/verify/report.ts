// Asks a run for its machine-readable report, and finds what it left. The sidecar reads it, as it reads the text.

import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../channel/files.ts';
import { BUILD_REPORTS } from './detect-builds.ts';
import type { ParsedLog, Reported } from './outcome-types.ts';
import type { Command, Plan } from './plan.ts';
import { MOCHA_REPORTER } from './report-mocha.ts';
import { rowOf } from './select.ts';

export interface Asked {
  /** The command as it will be run. */
  readonly command: Command;
  /** Files and folders that should hold a report afterwards. */
  readonly files: readonly string[];
  /** Patterns of reports that the runner writes anyway, below the folder of the command. */
  readonly written: readonly string[];
}

/** Folders that hold no reports of this project, and many files. */
const NOT_ENTERED = new Set(['node_modules', '.git', '.hg', '.venv', 'venv', 'src']);
/** A file system keeps times in steps of up to two seconds. */
const TIME_STEP_MILLISECONDS = 2000;

/**
 * The same command, with the report asked for where that leaves it otherwise as it is: by options when they can stand behind it, by
 * variables that are not the user's own. INTO is the folder of the run.
 */
export function askForReport(plan: Plan, command: Command, into: string, full: boolean): Asked {
  const row = rowOf(plan);
  const written = [...(row?.written ?? []), ...(BUILD_REPORTS[plan.runner] ?? [])];
  const base = full ? plan.openEnded : command.argv;
  const streamed = command.shell === undefined ? row?.streams?.(command.argv) : undefined;
  if (streamed) return { command: { ...command, argv: streamed }, files: [], written };
  const report = row?.report?.(into, command.argv);
  if (!report || (report.args && report.args.length > 0 && (base === undefined || command.shell !== undefined)))
    return { command, files: [], written };
  makeFolder(into);
  if (row?.name === 'mocha') writeFileSync(join(into, 'mocha-report.cjs'), MOCHA_REPORTER);
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(report.env ?? {})) {
    const own = command.env[name] ?? process.env[name];
    env[name] = own === undefined || own === '' ? value : `${own} ${value}`;
  }
  const argv = report.args && report.args.length > 0 && base ? [...base, ...report.args] : command.argv;
  return { command: { ...command, argv, env: { ...env, ...command.env, ...env } }, files: report.files, written };
}

/** The reports that the run left, as absolute paths; none where none was written. */
export function reportFiles(asked: Asked, root: string, beganAt: number): readonly string[] {
  const folder = join(root, asked.command.cwd);
  const inside = (file: string) =>
    statSync(file).isDirectory() ? readdirSync(file).map((name) => join(file, name)) : [file];
  return [
    ...asked.files.filter((file) => existsSync(file)).flatMap(inside),
    ...asked.written
      .flatMap((pattern) => matchFiles(folder, pattern))
      .filter((file) => statSync(file).mtimeMs >= beganAt - TIME_STEP_MILLISECONDS),
  ].filter((file) => statSync(file).size > 0);
}

/** What several reports say together; undefined when none was read. */
export function together(reports: readonly (ParsedLog | undefined)[]): Reported | undefined {
  const read = reports.filter((report) => report !== undefined);
  if (read.length === 0) return undefined;
  const sum = (key: 'passed' | 'failed' | 'skipped') => read.reduce((total, report) => total + (report[key] ?? 0), 0);
  return {
    passed: sum('passed'),
    failed: sum('failed'),
    skipped: sum('skipped'),
    failures: read.flatMap(({ failures }) => failures),
  };
}

/** Files below FOLDER that match PATTERN: `*` within a name, `**` for any folders. Sorted. */
function matchFiles(folder: string, pattern: string): readonly string[] {
  const found: string[] = [];
  const walk = (at: string, parts: readonly string[], depth: number): void => {
    const [part, ...rest] = parts;
    if (part === undefined || depth > 12) return;
    if (part === '**') walk(at, rest, depth);
    let entries: readonly import('node:fs').Dirent[];
    try {
      entries = readdirSync(at, { withFileTypes: true });
    } catch {
      return;
    }
    const name =
      part === '**'
        ? undefined
        : new RegExp(
            `^${part
              .split('*')
              .map((piece) => piece.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
              .join('.*')}$`,
          );
    for (const entry of entries) {
      const path = join(at, entry.name);
      if (part === '**' && entry.isDirectory() && !NOT_ENTERED.has(entry.name)) walk(path, parts, depth + 1);
      else if (name?.test(entry.name)) {
        if (rest.length === 0 && !entry.isDirectory()) found.push(path);
        else if (entry.isDirectory() || entry.isSymbolicLink()) walk(path, rest, depth + 1);
      }
    }
  };
  walk(folder, pattern.split('/'), 0);
  return [...new Set(found)].sort();
}
