import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Folder } from '../../plugin/verify/folder.ts';
import { planOfCommand } from '../../plugin/verify/given.ts';
import { fullCommand } from '../../plugin/verify/select.ts';
import { quoteWord, showCommand, splitLine } from '../../plugin/verify/words.ts';
import { manifest, project } from './projects.ts';

const plan = (command: string, files: Record<string, string> = {}) =>
  planOfCommand(new Folder(project(files)), command, false);
const shown = (command: string, files: Record<string, string> = {}) =>
  showCommand(fullCommand(plan(command, files)), false);

test('a plain command needs no shell', () => {
  const found = plan('FOO="a b" python -m pytest -x tests');
  assert.equal(found.shell, undefined);
  assert.deepEqual(found.argv, ['python', '-m', 'pytest', '-x', 'tests']);
  assert.deepEqual(found.env, { FOO: 'a b' });
  assert.equal(found.runner, 'pytest');
});

test('operators, variables and globs are left to the shell', () => {
  for (const command of ['make && npm test', 'pytest $FILES', 'mocha test/*.js', 'pytest > log', '(cd x; make)'])
    assert.equal(plan(command).shell, command);
});

test('cd into a package is the package', () => {
  const found = plan('cd packages/a && npx vitest run');
  assert.deepEqual([found.cwd, found.shell, found.runner], ['packages/a', undefined, 'vitest']);
});

test('watch mode is left out and said', () => {
  assert.equal(shown('npx jest --watchAll -t x'), 'npx jest -t x');
  assert.equal(shown('npx vitest watch'), 'npx vitest run');
  assert.equal(shown('vitest'), 'vitest --run');
  assert.equal(shown('npm test', { 'package.json': manifest({ test: 'vitest' }) }), 'npm test -- --run');
  assert.equal(shown('npm test', { 'package.json': manifest({ test: 'jest --watch' }) }), 'npx --no-install jest');
  assert.equal(shown('npm run build && npx jest --watch'), 'npm run build && npx jest');
  assert.match(plan('npx jest --watchAll').notes.join(), /--watchAll left out/);
});

test('a pipe through head is noted', () => {
  assert.match(plan('npm test 2>&1 | head -50').notes.join(), /pipes through head/);
  assert.match(plan('npm test | tee log').notes.join(), /exit status is that of the last/);
});

test('the runner is found behind wrappers', () => {
  const runners = {
    'npx c8 mocha': 'mocha',
    'uv run pytest': 'pytest',
    'poetry run python -m unittest': 'unittest',
    'bundle exec rspec': 'rspec',
    'coverage run -m pytest': 'pytest',
    'node node_modules/jest/bin/jest.js': 'jest',
    'node --experimental-vm-modules node_modules/.bin/jest': 'jest',
    'timeout 60 go test ./...': 'gotest',
    'bun test': 'bun',
    'bunx vitest run': 'vitest',
    'php artisan test': 'phpunit',
    'python3.11 -m pytest': 'pytest',
    'cargo nextest run': 'nextest',
  };
  for (const [command, runner] of Object.entries(runners)) assert.equal(plan(command).runner, runner, command);
});

test('words are split as a shell would and quoted back', () => {
  assert.deepEqual(splitLine(`a 'b c' "d\\"e" f\\ g`).commands[0]?.argv, ['a', 'b c', 'd"e', 'f g']);
  assert.equal(quoteWord("it's", false), `'it'\\''s'`);
  assert.equal(quoteWord('a b', true), '"a b"');
  assert.deepEqual(splitLine('run C:\\x\\y.exe', true).commands[0]?.argv, ['run', 'C:\\x\\y.exe']);
});
