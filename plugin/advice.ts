// What to type when something is missing: the exact command for this machine.

import { findProgram } from './channel/core.ts';
import { Fault } from './channel/fault.ts';

export type Package = 'sbcl' | 'universal-ctags' | 'git';

interface Manager {
  program: string;
  command: readonly string[];
  /** Run first: a fresh machine has no list of packages. */
  refresh?: readonly string[];
  names: Record<Package, string>;
  /** Whether it wants root. */
  root: boolean;
}

const same = { sbcl: 'sbcl', 'universal-ctags': 'universal-ctags', git: 'git' };

const MANAGERS: readonly Manager[] = [
  {
    program: 'apt-get',
    command: ['apt-get', 'install', '-y', '--no-install-recommends'],
    refresh: ['apt-get', 'update'],
    names: same,
    root: true,
  },
  { program: 'dnf', command: ['dnf', 'install', '-y'], names: { ...same, 'universal-ctags': 'ctags' }, root: true },
  { program: 'apk', command: ['apk', 'add'], names: { ...same, 'universal-ctags': 'ctags' }, root: true },
  {
    program: 'pacman',
    command: ['pacman', '-S', '--noconfirm'],
    names: { ...same, 'universal-ctags': 'ctags' },
    root: true,
  },
  {
    program: 'zypper',
    command: ['zypper', 'install', '-y'],
    names: { ...same, 'universal-ctags': 'ctags' },
    root: true,
  },
  { program: 'brew', command: ['brew', 'install'], names: same, root: false },
  {
    program: 'winget',
    command: ['winget', 'install', '-e', '--id'],
    names: { sbcl: 'SBCL.SBCL', 'universal-ctags': 'UniversalCtags.Ctags', git: 'Git.Git' },
    root: false,
  },
  { program: 'choco', command: ['choco', 'install', '-y'], names: same, root: true },
];

/** What makes ctags say its version whatever options the user keeps for it: one it does not know would end it first. */
export const CTAGS_VERSION = ['--options=NONE', '--version'];

/** Shown where no package manager is found: one for each system. */
const EXAMPLES = new Set(['apt-get', 'brew', 'winget']);

/** The package manager of this machine, or nothing. */
export function findManager(): Manager | null {
  const onMac = process.platform === 'darwin';
  return MANAGERS.find(({ program }) => (!onMac || program === 'brew') && findProgram(program)) ?? null;
}

/** The commands that install PACKAGES here, each a list of words; nothing without a known package manager. */
export function installCommands(packages: readonly Package[]): string[][] {
  const manager = findManager();
  return manager ? [...(manager.refresh ? [[...manager.refresh]] : []), ...commandsOf(manager, packages)] : [];
}

function commandsOf(manager: Manager, packages: readonly Package[]): string[][] {
  const names = packages.map((one) => manager.names[one]);
  // winget takes one package at a time.
  if (manager.program === 'winget') return names.map((name) => [...manager.command, name]);
  return [[...manager.command, ...names]];
}

/** Whether the package manager may be run as we are. */
export function mayInstall(): boolean {
  const manager = findManager();
  return manager !== null && (!manager.root || process.getuid?.() === 0);
}

/** One sentence that says how to install PACKAGES here. */
export function installAdvice(packages: readonly Package[]): string {
  const commands = installCommands(packages);
  if (commands.length === 0) {
    const ways = MANAGERS.filter(({ program }) => EXAMPLES.has(program)).map((one) =>
      commandsOf(one, packages)
        .map((words) => words.join(' '))
        .join(' && '),
    );
    return `Install ${packages.join(' and ')}: ${ways.slice(0, -1).join(', ')}, or ${ways.at(-1)}.`;
  }
  const sudo = findManager()!.root && process.platform !== 'win32' && process.getuid?.() !== 0 ? 'sudo ' : '';
  return `Type: ${commands.map((words) => sudo + words.join(' ')).join(' && ')}`;
}

/** The message of ERROR with what to type, for a person or a model. */
export function explain(error: unknown): string {
  if (!(error instanceof Fault))
    return `A fault of the plugin: ${error instanceof Error ? error.message : String(error)}`;
  switch (error.code) {
    case 'sbcl-missing':
      return `SBCL (Common Lisp) is missing: ${error.message} ${installAdvice(['sbcl'])} Or name the program with OPL_SBCL.`;
    case 'ctags-missing':
    case 'ctags-wrong':
      return `${error.message} ${installAdvice(['universal-ctags'])} Or name the program with OPL_CTAGS.`;
    default:
      return error.message;
  }
}
