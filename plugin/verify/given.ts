import { planOfScript } from './detect-javascript.ts';
import { type Folder, isRecord, under } from './folder.ts';
import { isWatcher, runOnce } from './once.ts';
import { PACKAGE_MANAGERS, packageManagerOf } from './package-managers.ts';
import type { Plan } from './plan.ts';
import { identify, programOf } from './runners.ts';
import { scriptsOf } from './script.ts';
import { type CommandLine, type SimpleCommand, splitLine } from './words.ts';

/** Programs that pass on a part of what they read: the rest of the output is lost before it is captured. */
const CUTTERS = new Set(['head', 'tail', 'grep', 'egrep', 'rg', 'sed', 'awk', 'cut', 'less', 'more']);

/** The plan of a command that the user gave: it wins over everything the project says. */
export function planOfCommand(folder: Folder, text: string, windows: boolean): Plan {
  const line = splitLine(text.trim(), windows);
  const entered = enterFolder(line);
  const notes = pipeNotes(line);
  const [only] = entered.commands;
  if (!only || entered.commands.length !== 1 || (line.needsShell && entered.commands.length === line.commands.length))
    return shellPlan(text.trim(), line, notes);
  if (/[$`*?[<>(){}~]/.test(only.argv.join(' ')) && entered.cwd !== '') return shellPlan(text.trim(), line, notes);
  return simplePlan(folder, only, entered.cwd, notes);
}

/** `cd folder && command` is the command in that folder: no shell is needed for it. */
function enterFolder(line: CommandLine): { readonly cwd: string; readonly commands: readonly SimpleCommand[] } {
  const [first, ...rest] = line.commands;
  const target = first?.argv[1];
  if (
    first?.argv[0] !== 'cd' ||
    first.after !== '&&' ||
    first.argv.length !== 2 ||
    target === undefined ||
    /^[/~-]|\.\.|\$|^[A-Za-z]:/.test(target)
  )
    return { cwd: '', commands: line.commands };
  return { cwd: target.replace(/^\.\//, '').replace(/\/+$/, '').replace(/^\.$/, ''), commands: rest };
}

function pipeNotes(line: CommandLine): readonly string[] {
  const notes: string[] = [];
  line.commands.forEach((command, at) => {
    if (!command.after.startsWith('|') || command.after === '||') return;
    const reader = programOf(line.commands[at + 1]?.argv[0] ?? '');
    if (CUTTERS.has(reader))
      notes.push(
        `the command pipes through ${reader}: output that it drops cannot be read, and its exit status hides the runner's; leave it out, the whole output is kept in a file anyway`,
      );
    else notes.push(`the command pipes into ${reader || 'nothing'}: the exit status is that of the last program`);
  });
  return notes;
}

function shellPlan(text: string, line: CommandLine, notes: readonly string[]): Plan {
  const found = line.commands.map(identify).filter((one) => one !== undefined);
  const main = found.at(-1);
  const removed: string[] = [];
  let shell = text;
  for (const one of found) {
    for (const word of one.options.filter((option) => one.runner.watching?.includes(option))) {
      shell = shell.replace(new RegExp(`\\s${word.replace(/[-]/g, '\\-')}(?=\\s|$)`), '');
      removed.push(word);
    }
  }
  const watcher = line.commands.some(({ argv }) => isWatcher(argv))
    ? ['the command starts a watcher: it is ended by the time limit']
    : [];
  return {
    runner: main?.runner.name ?? 'unknown',
    ecosystem: 'any',
    cwd: '',
    argv: [],
    shell,
    env: {},
    certainty: 'exact',
    reason: 'the command given, read by a shell',
    notes: [...notes, ...watcher, ...(removed.length > 0 ? [`runs once: ${removed.join(' ')} left out`] : [])],
  };
}

function simplePlan(folder: Folder, command: SimpleCommand, cwd: string, notes: readonly string[]): Plan {
  const shared = { ecosystem: 'any', cwd, env: command.env, certainty: 'exact' as const, reason: 'the command given' };
  const found = identify(command);
  if (found) {
    const once = runOnce(found);
    const words = runOnce({ ...found, positionals: [] }).argv;
    const argv = once.removed.length > 0 || once.argv.length > command.argv.length ? once.argv : command.argv;
    return {
      ...shared,
      runner: found.runner.name,
      argv,
      extend: argv,
      openEnded: argv,
      ...(found.positionals.length > 0 ? { named: true, direct: words } : {}),
      notes: [...notes, ...(once.removed.length > 0 ? [`runs once: ${once.removed.join(' ')} left out`] : [])],
    };
  }
  const script = scriptCall(folder, command, cwd);
  if (script)
    return { ...script, ...shared, env: { ...script.env, ...command.env }, notes: [...notes, ...script.notes] };
  return { ...shared, runner: 'unknown', argv: command.argv, notes };
}

/** `npm test`, `yarn test:unit`, `pnpm run x`, `composer test`: the script behind it tells the runner. */
function scriptCall(folder: Folder, command: SimpleCommand, cwd: string): Plan | undefined {
  const [first = '', ...rest] = command.argv;
  const program = programOf(first);
  const words = rest[0] === 'run' || rest[0] === 'run-script' ? rest.slice(1) : rest;
  const name = words[0] === 't' && program === 'npm' ? 'test' : words[0];
  if (name === undefined || name.startsWith('-')) return undefined;
  if (program === 'composer') return composerCall(folder, command, cwd, name);
  const manager = PACKAGE_MANAGERS.find((one) => one.name === program);
  const scripts = scriptsOf(folder.json(under(cwd, 'package.json')));
  if (!manager || scripts[name] === undefined || (program === 'bun' && rest[0] !== 'run')) return undefined;
  const plan = planOfScript(scripts, name, cwd, manager, packageManagerOf(folder, cwd).why);
  const extra = words.slice(1);
  if (extra.length === 0)
    return plan.notes.some((note) => note.startsWith('runs once'))
      ? plan
      : { ...plan, argv: plan.extend && plan.argv.length > command.argv.length ? plan.argv : command.argv };
  const given = [...command.argv, ...plan.argv.slice(manager.script(name).length).filter((word) => word !== '--')];
  const passed = given.includes('--') || manager.dashes.length === 0 ? given : [...given, ...manager.dashes];
  return {
    ...plan,
    argv: given,
    extend: passed,
    openEnded: passed,
    named: extra.some((word) => !word.startsWith('-')),
  };
}

function composerCall(folder: Folder, command: SimpleCommand, cwd: string, name: string): Plan | undefined {
  const scripts = folder.json(under(cwd, 'composer.json'))?.scripts;
  const script = isRecord(scripts) ? scripts[name] : undefined;
  const last: unknown = Array.isArray(script) ? script.at(-1) : script;
  if (typeof last !== 'string') return undefined;
  const found = splitLine(last)
    .commands.map(identify)
    .find((one) => one !== undefined);
  return {
    runner: found?.runner.name ?? 'unknown',
    ecosystem: 'php',
    cwd,
    argv: command.argv,
    env: {},
    ...(found ? { extend: [...command.argv, '--'], openEnded: [...command.argv, '--'] } : {}),
    ...(found && found.positionals.length > 0 ? { named: true, direct: [...found.head, ...found.options] } : {}),
    certainty: 'exact',
    reason: `scripts.${name} of composer.json`,
    notes: [],
  };
}
