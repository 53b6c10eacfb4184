import { type Identified, programOf } from './runners.ts';

/** The words with every way to watch taken out, and what was taken. */
export interface OnceWords {
  readonly argv: readonly string[];
  readonly removed: readonly string[];
}

/**
 * The same command, run once: watching options dropped, watching subcommands replaced, and the runner's own
 * "once" added where nothing else would end it.
 */
export function runOnce(found: Identified): OnceWords {
  const removed: string[] = [];
  const keep = (word: string): boolean => {
    if (!found.runner.watching?.includes(word)) return true;
    removed.push(word);
    return false;
  };
  const head = found.head.flatMap((word, at) => {
    const instead = at > 0 ? found.runner.onceInstead?.[word] : undefined;
    if (instead === undefined) return keep(word) || at === 0 ? [word] : [];
    removed.push(word);
    return instead === '' ? [] : [instead];
  });
  const options = found.options.filter(keep);
  const words = [...head, ...options, ...found.positionals];
  const alreadyOnce = words.some((word) => word === 'run' || found.runner.once?.includes(word));
  const once = alreadyOnce ? [] : (found.runner.once ?? []);
  return { argv: [...head, ...options, ...once, ...found.positionals], removed };
}

/** Programs that exist to watch: nothing can be run once through them but what they wrap. */
const WATCHERS = new Set([
  'nodemon',
  'chokidar',
  'watchexec',
  'entr',
  'watchman-make',
  'onchange',
  'tsc-watch',
  'wr',
  'gow',
  'air',
  'cargo-watch',
]);

/** Whether ARGV starts a program that runs until it is stopped; a word may stand before it (`npx nodemon`). */
export function isWatcher(argv: readonly string[]): boolean {
  return argv.some((word, at) => at < 2 && WATCHERS.has(programOf(word)));
}
