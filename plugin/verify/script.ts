import { isRecord } from './folder.ts';
import { type Identified, identify, programOf } from './runners.ts';
import { type SimpleCommand, splitLine } from './words.ts';

/** What a package.json script comes down to, other scripts it calls included. */
export interface ResolvedScript {
  /** The script that holds the runner as its last command: arguments behind it reach the runner. */
  readonly innermost: string;
  /** Nothing but `innermost` is run by the script asked for. */
  readonly alone: boolean;
  /** Arguments behind `innermost` reach the runner. */
  readonly appendable: boolean;
  readonly found: Identified;
  /** Other runners that the script starts too. */
  readonly others: readonly string[];
}

/** Scripts that call scripts deeper than this go round in a circle. */
const DEEPEST_SCRIPT = 5;

/** The scripts of a package.json by name; what is no text among them is left out. */
export function scriptsOf(manifest: Record<string, unknown> | undefined): Record<string, string> {
  const scripts = manifest?.scripts;
  if (!isRecord(scripts)) return {};
  return Object.fromEntries(
    Object.entries(scripts).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** What `npm init` writes: it says that there are no tests. */
export function isPlaceholder(script: string | undefined): boolean {
  return script === undefined || script.trim() === '' || /no test specified/.test(script);
}

/** The runner behind a script, undefined where no known one is. */
export function resolveScript(scripts: Record<string, string>, name: string, depth = 0): ResolvedScript | undefined {
  const line = scripts[name];
  if (line === undefined || depth > DEEPEST_SCRIPT) return undefined;
  const { commands } = splitLine(line);
  const results: ResolvedScript[] = [];
  commands.forEach((command, at) => {
    const last = at === commands.length - 1;
    const found = identify(command);
    if (found) {
      results.push({ innermost: name, alone: true, appendable: last && command.after === '', found, others: [] });
      return;
    }
    for (const inner of calledScripts(command, scripts)) {
      const resolved = resolveScript(scripts, inner, depth + 1);
      if (resolved)
        results.push({ ...resolved, alone: resolved.alone && commands.length === 1 && command.argv.length <= 3 });
    }
  });
  const first = results[0];
  if (!first) return undefined;
  const others = results.slice(1).flatMap((result) => [result.found.runner.name, ...result.others]);
  return { ...first, alone: first.alone && results.length === 1, others: [...first.others, ...others] };
}

/** The scripts of the same manifest that a command runs: `npm run x`, `yarn x`, `run-s x y`, `npm-run-all x:*`. */
function calledScripts(command: SimpleCommand, scripts: Record<string, string>): readonly string[] {
  const [first = '', ...rest] = command.argv;
  const program = programOf(first);
  const words = rest.filter((word) => !word.startsWith('-'));
  if (['run-s', 'run-p', 'npm-run-all', 'npm-run-all2', 'concurrently', 'wsrun'].includes(program)) {
    return words.flatMap((word) => matchScripts(word.replace(/^(npm|yarn|pnpm|bun)( run)? |^npm:/, ''), scripts));
  }
  if (!['npm', 'yarn', 'pnpm', 'bun', 'node'].includes(program)) return [];
  const name =
    words[0] === 'run' || words[0] === 'run-script'
      ? words[1]
      : words[0] === 't' || words[0] === 'tst'
        ? 'test'
        : words[0];
  if (program === 'npm' && name !== 'test' && words[0] !== 'run' && words[0] !== 'run-script') return [];
  return name !== undefined && scripts[name] !== undefined ? [name] : [];
}

function matchScripts(pattern: string, scripts: Record<string, string>): readonly string[] {
  if (!pattern.includes('*')) return scripts[pattern] === undefined ? [] : [pattern];
  const start = pattern.slice(0, pattern.indexOf('*'));
  return Object.keys(scripts).filter((name) => name.startsWith(start));
}
