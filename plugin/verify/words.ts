/** A command line as a shell would split it, without running one. */

/** One simple command of a line: its assignments, its words, and the operator that follows it. */
export interface SimpleCommand {
  readonly env: Readonly<Record<string, string>>;
  readonly argv: readonly string[];
  /** "&&", "||", ";", "|", "&", "newline" or "" at the end. */
  readonly after: string;
}

export interface CommandLine {
  readonly commands: readonly SimpleCommand[];
  /** Variables, globs, redirections, groups or more than one command: only a shell can run it. */
  readonly needsShell: boolean;
}

const OPERATORS = ['&&', '||', ';;', '|&', ';', '|', '&', '\n'];
/** Outside quotes these mean something to a shell that splitting into words would lose. */
const SHELL_ONLY = new Set(['$', '`', '*', '?', '[', '<', '>', '(', ')', '{', '!', '~', '#']);
const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/;

interface Scan {
  word: string;
  started: boolean;
  words: string[];
  commands: SimpleCommand[];
  needsShell: boolean;
}

/**
 * Splits `line` into simple commands. Quotes and backslashes are read as POSIX shells do; on Windows a
 * backslash is part of a path, not an escape. An unclosed quote makes the line one that needs a shell,
 * whose own message is then the clearest.
 */
export function splitLine(line: string, windows = false): CommandLine {
  const scan: Scan = { word: '', started: false, words: [], commands: [], needsShell: false };
  let at = 0;
  while (at < line.length) {
    const char = line[at] as string;
    if (char === "'" || char === '"') {
      at = readQuoted(scan, line, at, windows);
      continue;
    }
    if (char === '\\' && !windows) {
      if (line[at + 1] === '\n') at += 2;
      else {
        scan.word += line[at + 1] ?? '';
        scan.started = true;
        at += 2;
      }
      continue;
    }
    const operator = OPERATORS.find((known) => line.startsWith(known, at));
    if (operator !== undefined && !isRedirection(line, at)) {
      endCommand(scan, operator === '\n' ? 'newline' : operator);
      at += operator.length;
    } else if (char === ' ' || char === '\t' || char === '\r') {
      endWord(scan);
      at += 1;
    } else {
      if (isForShell(char, scan, windows)) scan.needsShell = true;
      scan.word += char;
      scan.started = true;
      at += 1;
    }
  }
  endCommand(scan, '');
  return { commands: scan.commands, needsShell: scan.needsShell || scan.commands.length > 1 };
}

/** `2>&1` and `&>file` hold an `&` that ends no command. */
function isRedirection(line: string, at: number): boolean {
  return line[at] === '&' && (line[at - 1] === '>' || line[at + 1] === '>');
}

function isForShell(char: string, scan: Scan, windows: boolean): boolean {
  if (windows) return char === '%' || char === '<' || char === '>' || char === '^';
  if (char === '#' || char === '~') return !scan.started;
  return SHELL_ONLY.has(char);
}

function readQuoted(scan: Scan, line: string, from: number, windows: boolean): number {
  const quote = line[from] as string;
  scan.started = true;
  let at = from + 1;
  while (at < line.length && line[at] !== quote) {
    const char = line[at] as string;
    if (quote === '"' && char === '\\' && !windows && /["\\$`\n]/.test(line[at + 1] ?? '')) at += 1;
    else if (quote === '"' && (char === '$' || char === '`')) scan.needsShell = true;
    scan.word += line[at] as string;
    at += 1;
  }
  if (at >= line.length) scan.needsShell = true;
  return at + 1;
}

function endWord(scan: Scan): void {
  if (scan.started) scan.words.push(scan.word);
  scan.word = '';
  scan.started = false;
}

function endCommand(scan: Scan, after: string): void {
  endWord(scan);
  if (scan.words.length === 0) return;
  const env: Record<string, string> = {};
  const argv = [...scan.words];
  for (let found = ASSIGNMENT.exec(argv[0] ?? ''); found; found = ASSIGNMENT.exec(argv[0] ?? '')) {
    env[found[1] as string] = found[2] as string;
    argv.shift();
  }
  scan.commands.push({ env, argv, after });
  scan.words = [];
}

const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./^-]+$/;

/** One word as a shell must be given it: POSIX shells, or cmd and PowerShell alike on Windows. */
export function quoteWord(word: string, windows = process.platform === 'win32'): string {
  if (windows) return /^[A-Za-z0-9_@+=:,./\\-]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`;
  if (PLAIN_WORD.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** A command ready to type: `cd` where it is not the root, assignments, quoted words. */
export function showCommand(
  command: {
    readonly argv: readonly string[];
    readonly shell?: string;
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
  },
  windows = process.platform === 'win32',
): string {
  const line = command.shell ?? command.argv.map((word) => quoteWord(word, windows)).join(' ');
  const assigned = Object.entries(command.env).map(([name, value]) =>
    windows ? `set ${name}=${value}&& ` : `${name}=${quoteWord(value, false)} `,
  );
  const enter = command.cwd === '' ? '' : `cd ${quoteWord(command.cwd, windows)} && `;
  return enter + assigned.join('') + line;
}

/** Stands for lines that a terminal would take for orders: more than a twentieth of them are control characters. */
export const NO_TEXT = '(octets that are no text)';

/** LINE, or NO_TEXT in its place. */
export function shown(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is counted
  const controls = line.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffd]/g)?.length ?? 0;
  return controls * 20 > line.length ? NO_TEXT : line;
}
