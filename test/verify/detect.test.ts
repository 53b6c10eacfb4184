import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Detected } from '../../plugin/verify/detect.ts';
import { commandFor, fullCommand } from '../../plugin/verify/select.ts';
import { showCommand } from '../../plugin/verify/words.ts';
import { manifest, project } from './projects.ts';

interface Row {
  readonly what: string;
  readonly files: Readonly<Record<string, string>>;
  readonly changed?: string;
  readonly tests?: readonly string[];
  readonly names?: readonly string[];
  readonly runner: string;
  readonly full: string;
  readonly selected?: string | undefined;
}

const ROWS: readonly Row[] = [
  {
    what: 'npm and vitest',
    files: { 'package.json': manifest({ test: 'vitest' }), 'package-lock.json': '{}' },
    changed: 'src/a.ts',
    tests: ['src/a.test.ts'],
    runner: 'vitest',
    full: 'npm test -- --run',
    selected: 'npm test -- --run src/a.test.ts',
  },
  {
    what: 'vitest run',
    files: { 'package.json': manifest({ test: 'vitest run --coverage' }), 'pnpm-lock.yaml': '' },
    changed: 'src/a.ts',
    tests: ['src/a.test.ts'],
    runner: 'vitest',
    full: 'pnpm run test',
    selected: 'pnpm run test src/a.test.ts',
  },
  {
    what: 'jest --watch runs once',
    files: { 'package.json': manifest({ test: 'jest --watch' }) },
    changed: 'a.js',
    tests: ['a.test.js'],
    runner: 'jest',
    full: 'npx --no-install jest',
    selected: 'npx --no-install jest --runTestsByPath a.test.js',
  },
  {
    what: 'jest behind cross-env',
    files: { 'package.json': manifest({ test: 'cross-env NODE_ENV=test jest' }), 'yarn.lock': '' },
    changed: 'a.js',
    tests: ['a.test.js'],
    runner: 'jest',
    full: 'yarn run test',
    selected: 'yarn run test --runTestsByPath a.test.js',
  },
  {
    what: 'react-scripts, not bare jest',
    files: { 'package.json': manifest({ test: 'react-scripts test' }) },
    changed: 'src/App.tsx',
    tests: ['src/App.test.tsx'],
    runner: 'jest',
    full: 'npm test',
    selected: 'npm test -- --runTestsByPath src/App.test.tsx',
  },
  {
    what: 'mocha with its own files',
    files: { 'package.json': manifest({ test: "NODE_ENV=test mocha --require ./setup.js 'test/**/*.js'" }) },
    changed: 'a.js',
    tests: ['test/a.js'],
    names: ['thing > adds 1+1'],
    runner: 'mocha',
    full: 'npm test',
    selected: "NODE_ENV=test npx --no-install mocha --require ./setup.js test/a.js -g 'thing adds 1\\+1$'",
  },
  {
    what: 'a script that calls scripts',
    files: {
      'package.json': manifest({
        test: 'npm run lint && npm run test:unit',
        lint: 'eslint .',
        'test:unit': 'jest --ci',
      }),
    },
    changed: 'a.js',
    tests: ['a.test.js'],
    runner: 'jest',
    full: 'npm test',
    selected: 'npm run test:unit -- --runTestsByPath a.test.js',
  },
  {
    what: 'node:test',
    files: { 'package.json': manifest({ test: 'node --import tsx --test test/*.test.ts' }) },
    changed: 'a.ts',
    tests: ['test/a.test.ts'],
    names: ['adds'],
    runner: 'node-test',
    full: 'npm test',
    selected: "node --import tsx --test '--test-name-pattern=^adds$' test/a.test.ts",
  },
  {
    what: 'ava',
    files: { 'package.json': manifest({ test: 'xo && ava' }) },
    changed: 'a.js',
    tests: ['test/a.js'],
    runner: 'ava',
    full: 'npm test',
    selected: 'npm test -- test/a.js',
  },
  {
    what: 'ng test',
    files: { 'package.json': manifest({ test: 'ng test' }) },
    changed: 'src/a.ts',
    tests: ['src/a.spec.ts'],
    runner: 'karma',
    full: 'npm test -- --watch=false',
    selected: 'npm test -- --watch=false --include=src/a.spec.ts',
  },
  {
    what: 'playwright by its configuration',
    files: { 'package.json': manifest({}), 'playwright.config.ts': '' },
    changed: 'e2e/a.ts',
    tests: ['e2e/a.spec.ts'],
    runner: 'playwright',
    full: 'npx --no-install playwright test',
    selected: "npx --no-install playwright test 'e2e/a\\.spec\\.ts'",
  },
  {
    what: 'bun by its lock file',
    files: { 'package.json': manifest({}), 'bun.lock': '' },
    changed: 'a.ts',
    tests: ['a.test.ts'],
    runner: 'bun',
    full: 'bun test',
    selected: 'bun test ./a.test.ts',
  },
  {
    what: 'deno',
    files: { 'deno.json': '{ "tasks": { "test": "deno test -A --watch" } } // x' },
    changed: 'a.ts',
    tests: ['a_test.ts'],
    runner: 'deno',
    full: 'deno task test',
    selected: 'deno test -A a_test.ts',
  },
  {
    what: 'the package of the change',
    files: {
      'package.json': manifest({ test: 'jest' }, { workspaces: ['packages/*'] }),
      'pnpm-lock.yaml': '',
      'packages/a/package.json': manifest({ test: 'vitest run' }),
    },
    changed: 'packages/a/src/x.ts',
    tests: ['packages/a/src/x.test.ts'],
    runner: 'vitest',
    full: 'cd packages/a && pnpm run test',
    selected: 'cd packages/a && pnpm run test src/x.test.ts',
  },
  {
    what: 'a package without tests is tested from above',
    files: { 'package.json': manifest({ test: 'vitest run' }), 'packages/a/package.json': manifest({}) },
    changed: 'packages/a/x.ts',
    tests: ['packages/a/x.test.ts'],
    runner: 'vitest',
    full: 'npm test',
    selected: 'npm test -- packages/a/x.test.ts',
  },
  {
    what: 'pytest with a virtual environment',
    files: { 'pyproject.toml': '[tool.pytest.ini_options]\n', '.venv/bin/python': '' },
    changed: 'a.py',
    tests: ['tests/test_a.py'],
    names: ['tests/test_a.py::T::test_x[1-2]'],
    runner: 'pytest',
    full: '.venv/bin/python -m pytest',
    selected: ".venv/bin/python -m pytest 'tests/test_a.py::T::test_x[1-2]'",
  },
  {
    what: 'uv',
    files: { 'pyproject.toml': 'dependencies = ["pytest"]', 'uv.lock': '' },
    changed: 'a.py',
    tests: ['tests/test_a.py'],
    runner: 'pytest',
    full: 'uv run pytest',
    selected: 'uv run pytest tests/test_a.py',
  },
  {
    what: 'poetry',
    files: { 'pyproject.toml': '[tool.poetry]\n[tool.pytest.ini_options]', 'poetry.lock': '' },
    changed: 'a.py',
    runner: 'pytest',
    full: 'poetry run pytest',
  },
  {
    what: 'unittest',
    files: { 'test_a.py': 'import unittest\n' },
    changed: 'a.py',
    tests: ['test_a.py'],
    runner: 'unittest',
    full: 'python3 -m unittest discover',
    selected: 'python3 -m unittest test_a.py',
  },
  {
    what: 'Django',
    files: { 'manage.py': 'import django' },
    changed: 'app/models.py',
    tests: ['app/tests/test_x.py'],
    runner: 'unittest',
    full: 'python3 manage.py test --noinput',
    selected: 'python3 manage.py test --noinput app.tests.test_x',
  },
  {
    what: 'tox alone',
    files: { 'tox.ini': '[testenv]\ncommands = python -m doctest' },
    changed: 'a.py',
    runner: 'tox',
    full: 'tox',
  },
  {
    what: 'go',
    files: { 'go.mod': 'module x' },
    changed: 'pkg/a/a.go',
    tests: ['pkg/a/a_test.go'],
    names: ['TestA/sub x'],
    runner: 'gotest',
    full: 'go test ./...',
    selected: "go test -run '^TestA$/^sub x$' ./pkg/a",
  },
  {
    what: 'cargo',
    files: { 'Cargo.toml': '[package]' },
    changed: 'src/a.rs',
    tests: ['tests/it.rs'],
    runner: 'cargo-test',
    full: 'cargo test',
    selected: 'cargo test --test it',
  },
  {
    what: 'nextest',
    files: { 'Cargo.toml': '[package]', '.config/nextest.toml': '' },
    changed: 'src/a.rs',
    tests: ['tests/it.rs'],
    runner: 'nextest',
    full: 'cargo nextest run',
    selected: "cargo nextest run -E 'binary(=it)'",
  },
  {
    what: 'maven with wrapper and modules',
    files: { 'pom.xml': '', mvnw: '', 'core/pom.xml': '' },
    changed: 'core/src/main/java/A.java',
    tests: ['core/src/test/java/p/ATest.java'],
    runner: 'maven-surefire',
    full: './mvnw -B test',
    selected: './mvnw -B test -Dtest=ATest -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false -pl core -am',
  },
  {
    what: 'gradle with projects of its own',
    files: {
      'settings.gradle': "include 'lib', 'app'\n",
      'lib/src/test/java/p/ATest.java': 'package p;\n',
      'app/src/test/java/q/BTest.java': 'package q;\n',
    },
    changed: 'lib/src/main/java/p/A.java',
    tests: ['lib/src/test/java/p/ATest.java', 'app/src/test/java/q/BTest.java'],
    runner: 'gradle',
    full: 'gradle test',
    selected: 'gradle :lib:test --tests p.ATest :app:test --tests q.BTest',
  },
  {
    what: 'gradle',
    files: { 'settings.gradle.kts': '', gradlew: '', 'src/test/java/p/ATest.java': 'package p;\n' },
    changed: 'src/main/java/p/A.java',
    tests: ['src/test/java/p/ATest.java'],
    runner: 'gradle',
    full: './gradlew test',
    selected: './gradlew test --tests p.ATest',
  },
  {
    what: 'dotnet',
    files: { 'App.sln': '' },
    changed: 'src/A.cs',
    tests: ['test/ATests.cs'],
    runner: 'dotnet-test',
    full: 'dotnet test',
    selected: "dotnet test --filter 'FullyQualifiedName~ATests'",
  },
  {
    what: 'rspec',
    files: { Gemfile: "gem 'rspec'", '.rspec': '' },
    changed: 'lib/a.rb',
    tests: ['spec/a_spec.rb'],
    runner: 'rspec',
    full: 'bundle exec rspec',
    selected: 'bundle exec rspec spec/a_spec.rb',
  },
  {
    what: 'rake',
    files: { Rakefile: 'Rake::TestTask.new' },
    changed: 'lib/a.rb',
    tests: ['test/a_test.rb'],
    names: ['ATest#test_x'],
    runner: 'minitest',
    full: 'rake test',
    selected: "rake test TEST=test/a_test.rb 'TESTOPTS=--name=/^test_x$/'",
  },
  {
    what: 'phpunit',
    files: { 'phpunit.xml': '', 'vendor/bin/phpunit': '' },
    changed: 'src/A.php',
    tests: ['tests/ATest.php', 'tests/BTest.php'],
    runner: 'phpunit',
    full: 'vendor/bin/phpunit',
    selected: "vendor/bin/phpunit --filter '/(^|\\\\)(ATest|BTest)::/'",
  },
  {
    what: 'pest',
    files: { 'composer.json': '{}', 'tests/Pest.php': '', 'vendor/bin/pest': '' },
    changed: 'src/A.php',
    tests: ['tests/ATest.php'],
    runner: 'pest',
    full: 'vendor/bin/pest',
    selected: 'vendor/bin/pest tests/ATest.php',
  },
  {
    what: 'ctest',
    files: { 'CMakeLists.txt': '', 'build/CTestTestfile.cmake': '' },
    changed: 'src/a.cpp',
    tests: ['test/a.cpp'],
    runner: 'ctest',
    full: 'ctest --test-dir build --output-on-failure',
    selected: undefined,
  },
  { what: 'make', files: { Makefile: 'test: all\n\t./run\n' }, changed: 'src/a.c', runner: 'make', full: 'make test' },
  {
    what: 'mix',
    files: { 'mix.exs': '' },
    changed: 'lib/a.ex',
    tests: ['test/a_test.exs'],
    runner: 'exunit',
    full: 'mix test',
    selected: 'mix test test/a_test.exs',
  },
  {
    what: 'swift',
    files: { 'Package.swift': '' },
    changed: 'Sources/A.swift',
    runner: 'swift-test',
    full: 'swift test',
  },
  {
    what: 'sbt',
    files: { 'build.sbt': '', 'src/test/scala/ASpec.scala': 'package p.q\n' },
    changed: 'src/main/scala/A.scala',
    tests: ['src/test/scala/ASpec.scala'],
    runner: 'scalatest',
    full: 'sbt -no-colors test',
    selected: "sbt -no-colors 'testOnly p.q.ASpec'",
  },
  {
    what: 'stack',
    files: { 'stack.yaml': '', 'x.cabal': '' },
    changed: 'src/A.hs',
    runner: 'stack',
    full: 'stack test',
  },
  {
    what: 'dune',
    files: { 'dune-project': '' },
    changed: 'lib/a.ml',
    tests: ['test/a.ml'],
    runner: 'dune',
    full: 'dune test',
    selected: 'dune test test',
  },
  {
    what: 'bats',
    files: { 'test/a.bats': '' },
    changed: 'run.sh',
    tests: ['test/a.bats'],
    runner: 'bats',
    full: 'bats -r test',
    selected: 'bats test/a.bats',
  },
  {
    what: 'prove',
    files: { 'Makefile.PL': '', 't/a.t': '' },
    changed: 'lib/A.pm',
    tests: ['t/a.t'],
    runner: 'prove',
    full: 'prove -lr t',
    selected: 'prove -lr t/a.t',
  },
  {
    what: 'flutter',
    files: { 'pubspec.yaml': 'dependencies:\n  flutter:\n    sdk: flutter\n' },
    changed: 'lib/a.dart',
    tests: ['test/a_test.dart'],
    runner: 'flutter',
    full: 'flutter test',
    selected: 'flutter test test/a_test.dart',
  },
  { what: 'zig', files: { 'build.zig': '' }, changed: 'src/a.zig', runner: 'zig', full: 'zig build test' },
  { what: 'gleam', files: { 'gleam.toml': '' }, changed: 'src/a.gleam', runner: 'gleam', full: 'gleam test' },
];

for (const row of ROWS) {
  test(`${row.what}: the full suite and a selection`, { skip: process.platform === 'win32' }, () => {
    const detected = new Detected(project(row.files), { changed: row.changed ? [row.changed] : [] });
    const [plan] = detected.plans(row.changed ? [row.changed] : []);
    assert.ok(plan, 'a plan is found');
    assert.equal(plan.runner, row.runner);
    assert.equal(showCommand(fullCommand(plan)), row.full);
    assert.notEqual(plan.reason, '');
    if (!row.tests) return;
    const tests = row.tests.map((path) => ({ path, ...(row.names ? { names: row.names } : {}) }));
    const chosen = detected.planFor(row.tests[0] as string);
    assert.ok(chosen, 'a plan for the test file');
    const command = commandFor(chosen, tests, detected.folder);
    assert.equal(command && showCommand(command), row.selected);
  });
}

test('build systems with their own graph are asked themselves', () => {
  const affected = (files: Record<string, string>, changed: readonly string[]) =>
    new Detected(project(files), { changed }).plans(changed)[0]?.affected;
  assert.match(
    affected({ 'MODULE.bazel': '' }, ['lib/a.cc'])?.query?.join(' ') ?? '',
    /^bazel query .*rdeps\(\/\/\.\.\., set\("lib\/a\.cc"\)\)/,
  );
  assert.equal(
    affected({ 'nx.json': '{}', 'package.json': '{}' }, ['a.ts', 'b.ts'])?.run.join(' '),
    'npx --no-install nx affected --target=test --output-style=stream --files=a.ts,b.ts',
  );
  assert.equal(
    affected({ 'turbo.json': '{"tasks":{"test":{}}}', 'pnpm-lock.yaml': '' }, ['a.ts'])?.run.join(' '),
    'pnpm exec turbo run test --filter=...[HEAD]',
  );
  assert.match(affected({ 'pants.toml': '' }, ['a.py'])?.run.join(' ') ?? '', /--changed-since=HEAD/);
  assert.match(affected({ '.buckconfig': '' }, ['a.c'])?.query?.join(' ') ?? '', /owner\("a\.c"\)/);
  const moon = affected({ '.moon/workspace.yml': '' }, ['a.ts']);
  assert.match(moon?.query?.join(' ') ?? '', /moon query projects --affected --downstream deep$/);
  assert.deepEqual(
    moon?.targets?.('{"projects":[{"id":"a","tasks":{"test":{}}},{"id":"docs","tasks":{"build":{}}}]}'),
    ['a:test'],
  );
  assert.deepEqual(moon?.targets?.('a | packages/a | node\nb | packages/b | node\n'), ['a:test', 'b:test']);
  for (const mark of ['MODULE.bazel', '.moon/workspace.yml', 'nx.json'])
    assert.equal(affected({ [mark]: '{}' }, []), undefined, 'nothing changed: there is nothing to ask for');
});

test('a package without a test command yields no plan, not a guess', () => {
  const root = project({
    'package.json': manifest({ test: 'echo "Error: no test specified" && exit 1' }),
    'README.md': '',
  });
  assert.deepEqual(new Detected(root).plans(['index.js']), []);
});
