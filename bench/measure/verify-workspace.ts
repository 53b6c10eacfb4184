// Small workspaces under the build tools of monorepos: `lib` is used by `app`, `other` stands alone; each has one test.

import type { Files } from './verify-framework.ts';

/** What is done to a workspace before verify looks at it. */
export type Situation = 'passing' | 'failing' | 'apart' | 'documents' | 'broken' | 'hanging' | 'cancelled';
/** All of them, in the order in which they are run. */
export const SITUATIONS: readonly Situation[] = [
  'passing',
  'failing',
  'apart',
  'documents',
  'broken',
  'hanging',
  'cancelled',
];

/** One tool with its workspace. */
export interface Workspace {
  readonly name: string;
  readonly npm: readonly string[];
  readonly files: Files;
  /** Written over in the situation `broken`: the tool itself fails. */
  readonly broken: Files;
  /** Run in the folder once, before the first commit. */
  readonly prepare?: string;
  /** A part of the first command where `lib` changed. */
  readonly command: string;
}

const TEST_HEAD = "const assert = require('node:assert');\nconst { test } = require('node:test');\n";

/** A package with a test of its own. */
function packageFiles(name: string, uses: string | undefined, more: object): Files {
  const dependencies = uses === undefined ? {} : { dependencies: { [uses]: '1.0.0' } };
  return {
    [`packages/${name}/package.json`]: `${JSON.stringify({ name, version: '1.0.0', main: 'index.js', scripts: { test: 'node --test test/' }, ...dependencies, ...more }, null, 1)}\n`,
    [`packages/${name}/index.js`]: uses
      ? `const { add } = require('../${uses}');\nexports.twice = (n) => add(n, n);\n`
      : 'exports.add = (a, b) => a + b;\n',
    [`packages/${name}/test/${name}.test.js`]: `${TEST_HEAD}const { ${uses ? 'twice' : 'add'} } = require('..');\ntest('${name} counts', () => {\n  assert.equal(${uses ? 'twice(2)' : 'add(2, 2)'}, 4);\n});\n`,
  };
}

/** The files of all packages. */
function packages(more: (name: string) => object = () => ({})): Files {
  return {
    ...packageFiles('lib', undefined, more('lib')),
    ...packageFiles('app', 'lib', more('app')),
    ...packageFiles('other', undefined, more('other')),
    '.gitignore': 'node_modules\n.nx\n.turbo\n.moon/cache\n',
    'README.md': 'A workspace.\n',
  };
}

const root = (more: object = {}): string =>
  `${JSON.stringify({ name: 'workspace', version: '1.0.0', private: true, workspaces: ['packages/*'], ...more }, null, 1)}\n`;

/** What is written before verify is called, besides `broken`. */
export function changeOf(situation: Situation): Files {
  switch (situation) {
    case 'failing':
      return { 'packages/lib/index.js': 'exports.add = (a, b) => a * b + 1;\n' };
    case 'apart':
      return { 'packages/other/index.js': 'exports.add = (a, b) => b + a;\n' };
    case 'documents':
      return { 'README.md': 'A workspace of three packages.\n' };
    case 'hanging':
    case 'cancelled':
      return {
        'packages/lib/index.js': 'exports.add = (a, b) => b + a;\n',
        'packages/lib/test/lib.test.js': `${TEST_HEAD}test('waits', () => {\n  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600000);\n});\n`,
      };
    default:
      return { 'packages/lib/index.js': 'exports.add = (a, b) => b + a;\n' };
  }
}

const script = (test: string) => ({ scripts: { test } });

/** All tools, in the order of the table. */
export const WORKSPACES: readonly Workspace[] = [
  {
    name: 'nx',
    npm: ['nx@20'],
    files: {
      ...packages(),
      'package.json': root({ devDependencies: { nx: '20' } }),
      'nx.json': '{ "targetDefaults": { "test": { "cache": true } } }\n',
      'package-lock.json': '{ "name": "workspace", "lockfileVersion": 3, "packages": {} }\n',
    },
    broken: { 'nx.json': '{ "plugins": ["./no-such-plugin"] }\n' },
    command: 'nx affected --target=test',
  },
  {
    name: 'turbo',
    npm: ['turbo@2'],
    files: {
      ...packages(),
      'package.json': root({ packageManager: 'npm@10.0.0' }),
      'turbo.json': '{ "tasks": { "test": {} } }\n',
      'package-lock.json': `${JSON.stringify({
        name: 'workspace',
        version: '1.0.0',
        lockfileVersion: 3,
        packages: {
          '': { name: 'workspace', version: '1.0.0', workspaces: ['packages/*'] },
          'node_modules/lib': { resolved: 'packages/lib', link: true },
          'node_modules/app': { resolved: 'packages/app', link: true },
          'node_modules/other': { resolved: 'packages/other', link: true },
          'packages/lib': { version: '1.0.0' },
          'packages/app': { version: '1.0.0', dependencies: { lib: '1.0.0' } },
          'packages/other': { version: '1.0.0' },
        },
      })}\n`,
    },
    broken: { 'turbo.json': '{ "tasks": { "test": { "dependsOn": 7 } } }\n' },
    command: "turbo run test '--filter=...[HEAD]'",
  },
  {
    name: 'moon',
    npm: ['@moonrepo/cli'],
    files: {
      ...packages(),
      'package.json': root(),
      'package-lock.json': '{ "name": "workspace", "lockfileVersion": 3, "packages": {} }\n',
      '.moon/workspace.yml': "projects:\n  - 'packages/*'\nvcs:\n  defaultBranch: 'main'\n",
      'packages/lib/moon.yml': "tasks:\n  test:\n    command: 'node --test test/'\n",
      'packages/app/moon.yml': "dependsOn:\n  - 'lib'\ntasks:\n  test:\n    command: 'node --test test/'\n",
      'packages/other/moon.yml': "tasks:\n  test:\n    command: 'node --test test/'\n",
    },
    broken: { '.moon/workspace.yml': 'projects: 7\n' },
    command: 'moon run app:test lib:test',
  },
  {
    name: 'lerna',
    npm: ['lerna@8'],
    files: {
      ...packages(),
      'package.json': root(script('lerna run test')),
      'lerna.json': '{ "version": "1.0.0", "packages": ["packages/*"] }\n',
      'package-lock.json': '{ "name": "workspace", "lockfileVersion": 3, "packages": {} }\n',
    },
    broken: { 'packages/lib/package.json': '{ "name": "lib", "scripts": { "test": "no-such-runner" } }\n' },
    command: 'cd packages/lib && ',
  },
  {
    name: 'npm',
    npm: [],
    files: {
      ...packages(),
      'package.json': root(script('npm test --workspaces')),
      'package-lock.json': '{ "name": "workspace", "lockfileVersion": 3, "packages": {} }\n',
    },
    broken: { 'packages/lib/package.json': '{ "name": "lib", "scripts": { "test": "no-such-runner" } }\n' },
    command: 'cd packages/lib && ',
  },
  {
    name: 'pnpm',
    npm: ['pnpm@9'],
    files: {
      ...packages(),
      'package.json': root(script('pnpm -r run test')),
      'pnpm-workspace.yaml': "packages:\n  - 'packages/*'\n",
      'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
    },
    broken: { 'packages/lib/package.json': '{ "name": "lib", "scripts": { "test": "no-such-runner" } }\n' },
    command: 'cd packages/lib && ',
  },
  {
    name: 'yarn',
    npm: ['yarn@1'],
    files: {
      ...packages(),
      'package.json': root(script('yarn workspaces run test')),
      'yarn.lock': '# yarn lockfile v1\n',
    },
    broken: { 'packages/lib/package.json': '{ "name": "lib", "scripts": { "test": "no-such-runner" } }\n' },
    command: 'cd packages/lib && ',
  },
];
