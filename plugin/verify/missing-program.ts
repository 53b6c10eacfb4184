// A program that a test command needs and that is not there: its name, and the command that brings it.

import { existsSync } from 'node:fs';
import { interpreterOf } from './detect-python.ts';
import { type Folder, folderOf, isRecord, under } from './folder.ts';
import { packageManagerOf } from './package-managers.ts';

/** Packages of npm whose program has another name. */
const NPM_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  tsc: ['typescript'],
  playwright: ['@playwright/test', 'playwright'],
  ng: ['@angular/cli'],
  nest: ['@nestjs/cli'],
  wtr: ['@web/test-runner'],
  'web-test-runner': ['@web/test-runner'],
  'run-s': ['npm-run-all', 'npm-run-all2'],
  'run-p': ['npm-run-all', 'npm-run-all2'],
  'npm-run-all': ['npm-run-all', 'npm-run-all2'],
  'vue-cli-service': ['@vue/cli-service'],
  biome: ['@biomejs/biome'],
  'babel-node': ['@babel/node'],
};

/** What the package managers of systems call it; the others are called as the program. */
const SYSTEM_PACKAGES: Readonly<Record<string, { readonly apt: string; readonly brew: string }>> = {
  ctest: { apt: 'cmake', brew: 'cmake' },
  mvn: { apt: 'maven', brew: 'maven' },
  go: { apt: 'golang-go', brew: 'go' },
  cargo: { apt: 'cargo', brew: 'rust' },
  java: { apt: 'default-jdk', brew: 'openjdk' },
  javac: { apt: 'default-jdk', brew: 'openjdk' },
  ninja: { apt: 'ninja-build', brew: 'ninja' },
  php: { apt: 'php-cli', brew: 'php' },
  mix: { apt: 'elixir', brew: 'elixir' },
  prove: { apt: 'perl', brew: 'perl' },
  'g++': { apt: 'g++', brew: 'gcc' },
  busted: { apt: 'lua-busted', brew: 'luarocks' },
};
const AS_CALLED = [
  'cmake',
  'make',
  'gradle',
  'bats',
  'meson',
  'gcc',
  'clang',
  'ruby',
  'node',
  'npm',
  'bazel',
  'perl',
  'lua',
  'git',
  'docker',
];

/** Installed by another language's package manager, whatever the project. */
const INSTALLERS: Readonly<Record<string, string>> = {
  bundle: 'gem install bundler',
  rake: 'gem install rake',
  pnpm: 'npm install -g pnpm',
  yarn: 'npm install -g yarn',
  bun: 'npm install -g bun',
  deno: 'npm install -g deno',
  'cargo-nextest': 'cargo install cargo-nextest --locked',
  uv: 'python3 -m pip install uv',
  poetry: 'python3 -m pip install poetry',
  tox: 'python3 -m pip install tox',
  nox: 'python3 -m pip install nox',
  hatch: 'python3 -m pip install hatch',
};

const PYTHON_PROGRAMS = ['pytest', 'py.test', 'nose2', 'nosetests', 'coverage', 'trial', 'ward', 'mypy', 'ruff'];
const RUBY_PROGRAMS = ['rspec', 'rails', 'minitest', 'cucumber'];
const PHP_PROGRAMS = ['phpunit', 'pest', 'codecept', 'phpspec'];

/**
 * What to type so that PROGRAM, needed in the folder AT, is there. `npm install` (or its like) is only said where a package.json lists
 * what brings it.
 */
export function missingProgram(program: string, folder: Folder, at: string): string {
  const name = program.replace(/^.*[\\/]/, '').replace(/\.(?:cmd|exe|ps1)$/, '');
  return fromNode(name, folder, at) ?? fromProject(name, folder, at) ?? fromSystem(name);
}

function fromNode(name: string, folder: Folder, at: string): string | undefined {
  for (let path = at; ; path = folderOf(path)) {
    const manifest = folder.json(under(path, 'package.json'));
    if (manifest) {
      const wanted = [...(NPM_PACKAGES[name] ?? []), name];
      const listed = wanted.find((one) =>
        ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'].some(
          (key) => isRecord(manifest[key]) && Object.hasOwn(manifest[key] as object, one),
        ),
      );
      if (listed !== undefined)
        return `${name} is not installed: type: ${packageManagerOf(folder, path).manager.install} (package.json lists ${listed})`;
    }
    if (path === '') return undefined;
  }
}

function fromProject(name: string, folder: Folder, at: string): string | undefined {
  const has = (file: string) => folder.has(under(at, file)) || folder.has(file);
  if (PYTHON_PROGRAMS.includes(name)) {
    const { install, program } = interpreterOf(folder, at, process.platform === 'win32');
    const command = install.endsWith('pip install') ? `${install} ${name === 'py.test' ? 'pytest' : name}` : install;
    return `${name} is not installed: type: ${command}${install.endsWith('pip install') ? '' : ` (then ${program[0]} add ${name} if it is still missing)`}`;
  }
  if (RUBY_PROGRAMS.includes(name))
    return `${name} is not installed: type: ${has('Gemfile') ? 'bundle install' : `gem install ${name}`}`;
  if (PHP_PROGRAMS.includes(name) && has('composer.json')) return `${name} is not installed: type: composer install`;
  return undefined;
}

function fromSystem(name: string): string {
  const by = INSTALLERS[name];
  if (by !== undefined) return `${name} is not installed: type: ${by}`;
  const system = SYSTEM_PACKAGES[name] ?? (AS_CALLED.includes(name) ? { apt: name, brew: name } : undefined);
  if (system && process.platform === 'darwin') return `${name} is not installed: type: brew install ${system.brew}`;
  if (system && existsSync('/usr/bin/apt-get')) return `${name} is not installed: type: apt-get install ${system.apt}`;
  return `install ${name}, or give another command (test_command, --command): it is not on the path`;
}
