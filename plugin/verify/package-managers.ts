import { type Folder, folderOf, under } from './folder.ts';

/** How a package manager runs a script, passes arguments to it, and runs an installed program. */
export interface PackageManager {
  readonly name: string;
  readonly lock: readonly string[];
  readonly script: (name: string) => readonly string[];
  /** Between the script and its arguments. */
  readonly dashes: readonly string[];
  readonly program: readonly string[];
  readonly install: string;
}

export const PACKAGE_MANAGERS: readonly PackageManager[] = [
  {
    name: 'pnpm',
    lock: ['pnpm-lock.yaml'],
    script: (name) => ['pnpm', 'run', name],
    dashes: [],
    program: ['pnpm', 'exec'],
    install: 'pnpm install',
  },
  {
    name: 'yarn',
    lock: ['yarn.lock'],
    script: (name) => ['yarn', 'run', name],
    dashes: [],
    program: ['yarn', 'run'],
    install: 'yarn install',
  },
  {
    name: 'bun',
    lock: ['bun.lock', 'bun.lockb'],
    script: (name) => ['bun', 'run', name],
    dashes: [],
    program: ['bun', 'x'],
    install: 'bun install',
  },
  {
    name: 'npm',
    lock: ['package-lock.json', 'npm-shrinkwrap.json'],
    script: (name) => (name === 'test' ? ['npm', 'test'] : ['npm', 'run', name]),
    dashes: ['--'],
    program: ['npx', '--no-install'],
    install: 'npm install',
  },
];

const NPM = PACKAGE_MANAGERS.find(({ name }) => name === 'npm') as PackageManager;

/** By the `packageManager` field, then by lock file, each from the package upwards; npm where nothing says. */
export function packageManagerOf(
  folder: Folder,
  at: string,
): { readonly manager: PackageManager; readonly why: string } {
  for (let path = at; ; path = folderOf(path)) {
    const named = folder.json(under(path, 'package.json'))?.packageManager;
    const byField =
      typeof named === 'string' ? PACKAGE_MANAGERS.find(({ name }) => named.startsWith(`${name}@`)) : undefined;
    if (byField) return { manager: byField, why: `packageManager ${String(named)}` };
    for (const manager of PACKAGE_MANAGERS) {
      const lock = manager.lock.find((file) => folder.has(under(path, file)));
      if (lock !== undefined) return { manager, why: lock };
    }
    if (path === '') return { manager: NPM, why: 'no lock file' };
  }
}
