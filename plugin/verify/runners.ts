import type { Runner } from './runner.ts';
import { BROWSER_RUNNERS } from './runners-browser.ts';
import { COMPILED_RUNNERS } from './runners-compiled.ts';
import { JAVASCRIPT_RUNNERS } from './runners-javascript.ts';
import { JVM_RUNNERS } from './runners-jvm.ts';
import { PYTHON_RUNNERS } from './runners-python.ts';
import { SCRIPTED_RUNNERS } from './runners-scripted.ts';
import type { SimpleCommand } from './words.ts';

const RUNNERS: readonly Runner[] = [
  ...JAVASCRIPT_RUNNERS,
  ...BROWSER_RUNNERS,
  ...PYTHON_RUNNERS,
  ...JVM_RUNNERS,
  ...COMPILED_RUNNERS,
  ...SCRIPTED_RUNNERS,
];

/** The row of that name; the first where several programs share one format (unittest: `unittest`, Django). */
export function runnerNamed(name: string): Runner | undefined {
  return RUNNERS.find((runner) => runner.name === name);
}

/** A simple command, taken apart by what verify knows of runners. */
export interface Identified {
  readonly runner: Runner;
  /** Words up to and with the runner's program and subcommand, wrappers included. */
  readonly head: readonly string[];
  /** Options, with their values. */
  readonly options: readonly string[];
  /** Files, patterns and names: what says which tests. */
  readonly positionals: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The program of a word: no folder, no suffix of scripts and Windows' shims. */
export function programOf(word: string): string {
  const name = word.replaceAll('\\', '/').split('/').at(-1) ?? word;
  return name.replace(/\.(cmd|exe|bat|ps1|phar|[cm]?js|sh)$/i, '');
}

/**
 * Wrappers that run the command behind them; the value is how many words belong to the wrapper itself.
 * undefined: this command is no wrapper.
 */
const WRAPPERS: Readonly<Record<string, (argv: readonly string[]) => number | undefined>> = {
  'cross-env': skipAssignments,
  'cross-env-shell': skipAssignments,
  env: skipAssignments,
  npx: skipOptions,
  pnpx: skipOptions,
  bunx: skipOptions,
  c8: skipOptions,
  nyc: skipOptions,
  time: skipOptions,
  nice: skipOptions,
  nohup: skipOptions,
  'xvfb-run': skipOptions,
  stdbuf: skipOptions,
  'dotenv-run-script': skipOptions,
  timeout: (argv) => skipOptions(argv) + 1,
  dotenv: afterDashes,
  'env-cmd': afterDashes,
  direnv: (argv) => (argv[1] === 'exec' ? 3 : undefined),
  pnpm: (argv) => (argv[1] === 'exec' || argv[1] === 'dlx' ? 2 : undefined),
  npm: (argv) => (argv[1] === 'exec' || argv[1] === 'x' ? skipOptions(argv.slice(1)) + 1 : undefined),
  yarn: (argv) =>
    argv[1] === 'exec' || argv[1] === 'dlx' || argv[1] === 'node' ? 2 : argv[1] === undefined ? undefined : 1,
  bun: (argv) => (argv[1] === 'x' || argv[1] === 'run' ? 2 : argv[1] === '--bun' ? 2 : undefined),
  node: (argv) =>
    argv.some((word) => word === '--test')
      ? undefined
      : skipOptions(argv, ['-r', '--require', '--import', '--loader', '--experimental-loader']),
  tsx: (argv) => (argv.includes('--test') ? undefined : skipOptions(argv)),
  'ts-node': skipOptions,
  python: skipPython,
  python3: skipPython,
  py: skipPython,
  coverage: (argv) => (argv[1] === 'run' ? skipPython(argv.slice(1)) + 1 : undefined),
  uv: (argv) =>
    argv[1] === 'run'
      ? skipOptions(argv.slice(1), [
          '--extra',
          '--group',
          '--with',
          '--python',
          '-p',
          '--package',
          '--directory',
          '--env-file',
        ]) + 1
      : undefined,
  poetry: runWord,
  pipenv: runWord,
  pdm: runWord,
  hatch: runWord,
  rye: runWord,
  bundle: (argv) => (argv[1] === 'exec' ? 2 : undefined),
  php: (argv) => skipOptions(argv, ['-d', '-c']),
  composer: (argv) => (argv[1] === 'exec' ? skipOptions(argv.slice(1)) + 1 : undefined),
  sudo: skipOptions,
};

function skipAssignments(argv: readonly string[]): number {
  let at = 1;
  while (/^[A-Za-z_]\w*=/.test(argv[at] ?? '') || (argv[at] ?? '').startsWith('-')) at++;
  return at;
}

function skipOptions(argv: readonly string[], valued: readonly string[] = []): number {
  let at = 1;
  while ((argv[at] ?? '').startsWith('-')) {
    const word = argv[at] as string;
    at += valued.includes(word) ? 2 : 1;
    if (word === '--') break;
  }
  return at;
}

/** `-m module` counts as the program `module`. */
function skipPython(argv: readonly string[]): number {
  let at = 1;
  while ((argv[at] ?? '').startsWith('-') && argv[at] !== '-m') at += argv[at] === '-W' || argv[at] === '-X' ? 2 : 1;
  return argv[at] === '-m' ? at + 1 : at;
}

function afterDashes(argv: readonly string[]): number {
  const at = argv.indexOf('--');
  return at > 0 ? at + 1 : skipOptions(argv, ['-e', '-f', '-v', '-c', '-p']);
}

function runWord(argv: readonly string[]): number | undefined {
  return argv[1] === 'run' ? 2 : undefined;
}

/** More wrappers around one command than this is a loop. */
const DEEPEST_WRAPPING = 6;

/**
 * The runner a simple command starts, behind any wrappers; undefined where none is known. Assignments of
 * `env` and `cross-env` are kept in the head, where they stand.
 */
export function identify(command: SimpleCommand): Identified | undefined {
  let start = 0;
  for (let depth = 0; depth < DEEPEST_WRAPPING && start < command.argv.length; depth++) {
    const rest = command.argv.slice(start);
    const found = matchRunner(rest);
    if (found) return takeApart(command, start, found.runner, found.length);
    const program = programOf(rest[0] as string).replace(/^(python|py)[\d.]*$/, 'python');
    const skip = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program]?.(rest) : undefined;
    if (skip === undefined || skip <= 0) return undefined;
    start += skip;
  }
  return undefined;
}

/** Longest pattern first. Options between program and subcommand (`node --import x --test`) are let pass. */
function matchRunner(words: readonly string[]): { runner: Runner; length: number } | undefined {
  let best: { runner: Runner; length: number; depth: number } | undefined;
  for (const runner of RUNNERS) {
    for (const pattern of runner.programs) {
      const length = matchPattern(words, pattern, runner.valued ?? []);
      if (length !== undefined && pattern.length > (best?.depth ?? 0)) best = { runner, length, depth: pattern.length };
    }
  }
  return best;
}

function matchPattern(
  words: readonly string[],
  pattern: readonly string[],
  valued: readonly string[],
): number | undefined {
  if (programOf(words[0] ?? '') !== programOf(pattern[0] as string)) return undefined;
  let at = 1;
  for (const part of pattern.slice(1)) {
    while ((words[at] ?? '').startsWith('-') && words[at] !== part) at += valued.includes(words[at] as string) ? 2 : 1;
    if (words[at] !== part) return undefined;
    at += 1;
  }
  return at;
}

function takeApart(command: SimpleCommand, start: number, runner: Runner, length: number): Identified {
  const options: string[] = [];
  const positionals: string[] = [];
  const words = command.argv.slice(start + length);
  const kept: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (word === '--') {
      options.push(...words.slice(at));
      break;
    }
    if (word.startsWith('-') && word !== '-') {
      options.push(word);
      if (runner.valued?.includes(word) && at + 1 < words.length) options.push(words[++at] as string);
    } else if (runner.keeps?.includes(word)) kept.push(word);
    else positionals.push(word);
  }
  return { runner, head: [...command.argv.slice(0, start + length), ...kept], options, positionals, env: command.env };
}
