// Tiny projects of every framework in five states, and what verify should say of each.

import type { Verdict } from '../../plugin/verify/plan.ts';

export type State = 'passing' | 'failing' | 'broken' | 'empty' | 'hanging';
export const STATES: readonly State[] = ['passing', 'failing', 'broken', 'empty', 'hanging'];

export type Files = Readonly<Record<string, string>>;

export interface Framework {
  readonly name: string;
  /** Programs that must be on the path. */
  readonly needs: readonly string[];
  readonly apt?: readonly string[];
  readonly npm?: readonly string[];
  /** Files of all states. */
  readonly shared: Files;
  readonly states: Readonly<Record<State, Files>>;
  /** Verdicts of the broken and the empty state; the others are the same for all. */
  readonly broken: readonly Verdict[];
  readonly empty: readonly Verdict[];
  /** Of the failing state: a part of the test's name, and its place where the runner says one. */
  readonly failure: { readonly test: string; readonly path?: string; readonly line?: number };
  /** The command, where nothing in the project says it. */
  readonly command?: string;
  /** Run in the folder once before, as a build. */
  readonly prepare?: string;
}

const script = (test: string, more: object = {}) =>
  JSON.stringify({ name: 'sample', version: '1.0.0', private: true, scripts: { test }, ...more });
const HANG = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600000);';

/** describe/test/expect runners differ by the import alone. */
function expecting(head: string, file: string): Framework['states'] {
  return {
    passing: { [file]: `${head}test('adds', () => {\n  expect(1 + 1).toBe(2);\n});\n` },
    failing: {
      [file]: `${head}test('adds', () => {\n  expect(1 + 1).toBe(2);\n});\ntest('subtracts', () => {\n  expect(3 - 1).toBe(1);\n});\n`,
    },
    broken: { [file]: `${head}test('adds', () => {\n  expect(1 + 1).toBe(2;\n});\n` },
    empty: { 'index.js': 'exports.one = 1;\n' },
    hanging: { [file]: `${head}test('waits', () => {\n  ${HANG}\n});\n` },
  };
}

function asserting(head: string, file: string, test = 'test'): Framework['states'] {
  return {
    passing: { [file]: `${head}${test}('adds', () => {\n  assert.equal(1 + 1, 2);\n});\n` },
    failing: {
      [file]: `${head}${test}('adds', () => {\n  assert.equal(1 + 1, 2);\n});\n${test}('subtracts', () => {\n  assert.equal(3 - 1, 1);\n});\n`,
    },
    broken: {
      [file]: `${head}const missing = require('./no-such-module');\n${test}('adds', () => {\n  assert.equal(missing, 2);\n});\n`,
    },
    empty: { 'index.js': 'exports.one = 1;\n' },
    hanging: { [file]: `${head}${test}('waits', () => {\n  ${HANG}\n});\n` },
  };
}

const python = (head: string, failing: string, line: string): Framework['states'] => ({
  passing: { 'test_sample.py': `${head}${line}` },
  failing: { 'test_sample.py': `${head}${line}${failing}` },
  broken: { 'test_sample.py': `import no_such_module_here\n${head}${line}` },
  empty: { 'sample.py': 'one = 1\n' },
  hanging: {
    'test_sample.py': `import time\n${head}${line.replace(/(self\.)?assert.*\n/, 'time.sleep(600)\n')}`,
  },
});

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>p</groupId><artifactId>sample</artifactId><version>1</version>
<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency></dependencies>
<build><plugins>${[
  ['resources', '3.3.0'],
  ['compiler', '3.10.1'],
  ['surefire', '2.22.3'],
]
  .map(
    ([name, version]) => `<plugin><artifactId>maven-${name}-plugin</artifactId><version>${version}</version></plugin>`,
  )
  .join('')}</plugins></build></project>`;

const java = (body: string) =>
  `package p;\n\nimport static org.junit.Assert.assertEquals;\n\nimport org.junit.Test;\n\npublic class SampleTest {\n${body}}\n`;
const JAVA_PASS = '  @Test\n  public void adds() {\n    assertEquals(2, 1 + 1);\n  }\n';

export const FRAMEWORKS: readonly Framework[] = [
  {
    name: 'jest',
    needs: ['npm'],
    npm: ['jest'],
    shared: { 'package.json': script('jest') },
    states: expecting('', 'sample.test.js'),
    broken: ['compile-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts', path: 'sample.test.js', line: 5 },
  },
  {
    name: 'vitest',
    needs: ['npm'],
    npm: ['vitest@2'],
    shared: { 'package.json': script('vitest', { type: 'module' }) },
    states: expecting("import { expect, test } from 'vitest';\n", 'sample.test.js'),
    broken: ['compile-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts', path: 'sample.test.js', line: 6 },
  },
  {
    name: 'mocha',
    needs: ['npm'],
    npm: ['mocha'],
    shared: { 'package.json': script('mocha') },
    states: asserting("const assert = require('node:assert');\n", 'test/sample.js', 'it'),
    broken: ['setup-error'],
    empty: ['no-tests-ran', 'setup-error'],
    failure: { test: 'subtracts', path: 'test/sample.js', line: 6 },
  },
  {
    name: 'node-test',
    needs: ['npm'],
    shared: { 'package.json': script('node --test') },
    states: asserting("const assert = require('node:assert');\nconst test = require('node:test');\n", 'sample.test.js'),
    broken: ['setup-error', 'failed'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts', path: 'sample.test.js', line: 7 },
  },
  {
    name: 'ava',
    needs: ['npm'],
    npm: ['ava@6'],
    shared: { 'package.json': script('ava', { type: 'module' }) },
    states: {
      passing: { 'test.js': "import test from 'ava';\ntest('adds', (t) => {\n  t.is(1 + 1, 2);\n});\n" },
      failing: {
        'test.js':
          "import test from 'ava';\ntest('adds', (t) => {\n  t.is(1 + 1, 2);\n});\ntest('subtracts', (t) => {\n  t.is(3 - 1, 1);\n});\n",
      },
      broken: {
        'test.js':
          "import test from 'ava';\nimport './no-such-module.js';\ntest('adds', (t) => {\n  t.is(1 + 1, 2);\n});\n",
      },
      empty: { 'index.js': 'export const one = 1;\n' },
      hanging: { 'test.js': `import test from 'ava';\ntest('waits', (t) => {\n  ${HANG}\n  t.pass();\n});\n` },
    },
    broken: ['setup-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts', path: 'test.js', line: 6 },
  },
  {
    name: 'bun',
    needs: ['npm'],
    npm: ['bun'],
    shared: { 'package.json': script('bun test') },
    states: expecting("import { expect, test } from 'bun:test';\n", 'sample.test.js'),
    broken: ['compile-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts', path: 'sample.test.js', line: 6 },
  },
  {
    name: 'playwright',
    needs: ['npm', 'chromium'],
    apt: ['chromium'],
    npm: ['@playwright/test'],
    shared: {
      'package.json': script('playwright test'),
      'playwright.config.js':
        "module.exports = { timeout: 300000, use: { launchOptions: { executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] } } };\n",
    },
    states: {
      passing: {
        'sample.spec.js':
          "const { expect, test } = require('@playwright/test');\ntest('shows', async ({ page }) => {\n  await page.setContent('<p>one</p>');\n  await expect(page.locator('p')).toHaveText('one');\n});\n",
      },
      failing: {
        'sample.spec.js':
          "const { expect, test } = require('@playwright/test');\ntest('shows', async ({ page }) => {\n  await page.setContent('<p>one</p>');\n  expect(await page.locator('p').textContent()).toBe('two');\n});\n",
      },
      broken: {
        'sample.spec.js':
          "const { expect, test } = require('@playwright/test');\nrequire('./no-such-module');\ntest('shows', async () => {\n  expect(1).toBe(1);\n});\n",
      },
      empty: { 'index.js': 'exports.one = 1;\n' },
      hanging: {
        'sample.spec.js':
          "const { test } = require('@playwright/test');\ntest('waits', async () => {\n  await new Promise(() => setInterval(() => {}, 1000));\n});\n",
      },
    },
    broken: ['setup-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'shows', path: 'sample.spec.js', line: 4 },
  },
  {
    name: 'pytest',
    needs: ['python3'],
    apt: ['python3-pytest'],
    shared: { 'pytest.ini': '[pytest]\n' },
    states: python(
      '',
      '\n\ndef test_subtracts():\n    assert 3 - 1 == 1\n',
      'def test_adds():\n    assert 1 + 1 == 2\n',
    ),
    broken: ['setup-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'test_subtracts', path: 'test_sample.py', line: 6 },
  },
  {
    name: 'unittest',
    needs: ['python3'],
    shared: { 'setup.py': '' },
    states: python(
      'import unittest\n\n\nclass T(unittest.TestCase):\n',
      '\n    def test_subtracts(self):\n        self.assertEqual(3 - 1, 1)\n',
      '    def test_adds(self):\n        self.assertEqual(1 + 1, 2)\n',
    ),
    broken: ['setup-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'test_subtracts', path: 'test_sample.py', line: 9 },
  },
  {
    name: 'go',
    needs: ['go'],
    apt: ['golang-go'],
    shared: {
      'go.mod': 'module sample\n\ngo 1.19\n',
      'sample.go': 'package sample\n\nfunc Add(a, b int) int { return a + b }\n',
    },
    states: {
      passing: {
        'sample_test.go':
          'package sample\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 1) != 2 {\n\t\tt.Error("no")\n\t}\n}\n',
      },
      failing: {
        'sample_test.go':
          'package sample\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(1, 1); got != 3 {\n\t\tt.Errorf("got %d, want 3", got)\n\t}\n}\n',
      },
      broken: {
        'sample_test.go': 'package sample\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tundefined(1)\n}\n',
      },
      empty: {},
      hanging: {
        'sample_test.go':
          'package sample\n\nimport (\n\t"testing"\n\t"time"\n)\n\nfunc TestWait(t *testing.T) {\n\ttime.Sleep(600 * time.Second)\n}\n',
      },
    },
    broken: ['compile-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'TestAdd', path: 'sample_test.go', line: 7 },
  },
  {
    name: 'cargo',
    needs: ['cargo'],
    shared: { 'Cargo.toml': '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n' },
    states: {
      passing: { 'src/lib.rs': '#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n' },
      failing: {
        'src/lib.rs':
          '#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n\n#[test]\nfn subtracts() {\n    assert_eq!(3 - 1, 1);\n}\n',
      },
      broken: { 'src/lib.rs': '#[test]\nfn adds() {\n    assert_eq!(missing(), 2);\n}\n' },
      empty: { 'src/lib.rs': 'pub fn one() -> i32 {\n    1\n}\n' },
      hanging: {
        'src/lib.rs': '#[test]\nfn waits() {\n    std::thread::sleep(std::time::Duration::from_secs(600));\n}\n',
      },
    },
    broken: ['compile-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts', path: 'src/lib.rs', line: 8 },
  },
  {
    name: 'maven',
    needs: ['mvn'],
    apt: [
      'maven',
      'junit4',
      'libsurefire-java',
      'libmaven-resources-plugin-java',
      'libmaven-compiler-plugin-java',
      'libmaven-jar-plugin-java',
    ],
    shared: { 'pom.xml': POM, '.mvn/maven.config': '-o\n-Dmaven.repo.local=/usr/share/maven-repo\n' },
    states: {
      passing: { 'src/test/java/p/SampleTest.java': java(JAVA_PASS) },
      failing: {
        'src/test/java/p/SampleTest.java': java(
          `${JAVA_PASS}\n  @Test\n  public void subtracts() {\n    assertEquals(1, 3 - 1);\n  }\n`,
        ),
      },
      broken: {
        'src/test/java/p/SampleTest.java': java(
          '  @Test\n  public void adds() {\n    assertEquals(2, missing());\n  }\n',
        ),
      },
      empty: { 'src/main/java/p/Sample.java': 'package p;\n\npublic class Sample {}\n' },
      hanging: {
        'src/test/java/p/SampleTest.java': java(
          '  @Test\n  public void waits() throws Exception {\n    Thread.sleep(600000);\n  }\n',
        ),
      },
    },
    broken: ['compile-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts', path: 'src/test/java/p/SampleTest.java', line: 15 },
  },
  {
    name: 'rspec',
    needs: ['rspec'],
    apt: ['ruby-rspec'],
    shared: { '.rspec': '' },
    states: {
      passing: {
        'spec/sample_spec.rb': "RSpec.describe 'numbers' do\n  it 'adds' do\n    expect(1 + 1).to eq 2\n  end\nend\n",
      },
      failing: {
        'spec/sample_spec.rb':
          "RSpec.describe 'numbers' do\n  it 'adds' do\n    expect(1 + 1).to eq 2\n  end\n  it 'subtracts' do\n    expect(3 - 1).to eq 1\n  end\nend\n",
      },
      broken: {
        'spec/sample_spec.rb':
          "require 'no_such_library'\nRSpec.describe 'numbers' do\n  it 'adds' do\n    expect(1 + 1).to eq 2\n  end\nend\n",
      },
      empty: { 'lib/sample.rb': 'ONE = 1\n' },
      hanging: { 'spec/sample_spec.rb': "RSpec.describe 'numbers' do\n  it 'waits' do\n    sleep 600\n  end\nend\n" },
    },
    broken: ['setup-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'numbers subtracts', path: 'spec/sample_spec.rb', line: 6 },
  },
  {
    name: 'minitest',
    needs: ['rake'],
    apt: ['ruby-minitest', 'rake'],
    shared: {
      Rakefile: "require 'rake/testtask'\nRake::TestTask.new(:test) do |t|\n  t.pattern = 'test/**/*_test.rb'\nend\n",
    },
    states: {
      passing: {
        'test/sample_test.rb':
          "require 'minitest/autorun'\nclass SampleTest < Minitest::Test\n  def test_adds\n    assert_equal 2, 1 + 1\n  end\nend\n",
      },
      failing: {
        'test/sample_test.rb':
          "require 'minitest/autorun'\nclass SampleTest < Minitest::Test\n  def test_adds\n    assert_equal 2, 1 + 1\n  end\n\n  def test_subtracts\n    assert_equal 1, 3 - 1\n  end\nend\n",
      },
      broken: {
        'test/sample_test.rb':
          "require 'minitest/autorun'\nrequire 'no_such_library'\nclass SampleTest < Minitest::Test\n  def test_adds\n    assert_equal 2, 1 + 1\n  end\nend\n",
      },
      empty: { 'lib/sample.rb': 'ONE = 1\n' },
      hanging: {
        'test/sample_test.rb':
          "require 'minitest/autorun'\nclass SampleTest < Minitest::Test\n  def test_waits\n    sleep 600\n  end\nend\n",
      },
    },
    broken: ['setup-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'test_subtracts', path: 'test/sample_test.rb', line: 8 },
  },
  {
    name: 'phpunit',
    needs: ['phpunit'],
    apt: ['phpunit'],
    shared: {
      'phpunit.xml':
        '<phpunit><testsuites><testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>\n',
      'tests/.gitkeep': '',
    },
    states: {
      passing: {
        'tests/SampleTest.php':
          '<?php\nuse PHPUnit\\Framework\\TestCase;\nclass SampleTest extends TestCase {\n    public function testAdds(): void {\n        $this->assertSame(2, 1 + 1);\n    }\n}\n',
      },
      failing: {
        'tests/SampleTest.php':
          '<?php\nuse PHPUnit\\Framework\\TestCase;\nclass SampleTest extends TestCase {\n    public function testAdds(): void {\n        $this->assertSame(2, 1 + 1);\n    }\n    public function testSubtracts(): void {\n        $this->assertSame(1, 3 - 1);\n    }\n}\n',
      },
      broken: {
        'tests/SampleTest.php':
          '<?php\nuse PHPUnit\\Framework\\TestCase;\nclass SampleTest extends TestCase {\n    public function testAdds(): void {\n        $this->assertSame(2, 1 + 1;\n    }\n}\n',
      },
      empty: { 'src/Sample.php': '<?php\n' },
      hanging: {
        'tests/SampleTest.php':
          '<?php\nuse PHPUnit\\Framework\\TestCase;\nclass SampleTest extends TestCase {\n    public function testWaits(): void {\n        sleep(600);\n    }\n}\n',
      },
    },
    broken: ['compile-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'testSubtracts', path: 'tests/SampleTest.php', line: 8 },
  },
  {
    name: 'bats',
    needs: ['bats'],
    apt: ['bats'],
    shared: { 'test/.gitkeep': '' },
    states: {
      passing: { 'test/sample.bats': '@test "adds" {\n  [ $((1 + 1)) -eq 2 ]\n}\n' },
      failing: {
        'test/sample.bats':
          '@test "adds" {\n  [ $((1 + 1)) -eq 2 ]\n}\n\n@test "subtracts" {\n  [ $((3 - 1)) -eq 1 ]\n}\n',
      },
      broken: { 'test/sample.bats': 'load no-such-helper\n\n@test "adds" {\n  [ $((1 + 1)) -eq 2 ]\n}\n' },
      empty: { 'test/sample.bats': '# nothing yet\n' },
      hanging: { 'test/sample.bats': '@test "waits" {\n  sleep 600\n}\n' },
    },
    broken: ['setup-error', 'failed'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts', path: 'test/sample.bats', line: 6 },
  },
  {
    name: 'ctest',
    needs: ['ctest', 'cmake'],
    apt: ['cmake', 'make', 'g++'],
    shared: {
      'CMakeLists.txt':
        // biome-ignore lint/suspicious/noTemplateCurlyInString: CMake's own
        'cmake_minimum_required(VERSION 3.13)\nproject(sample C)\nenable_testing()\ninclude(${CMAKE_SOURCE_DIR}/tests.cmake)\n',
    },
    prepare: 'cmake -S . -B build',
    command: 'cmake --build build && ctest --test-dir build --output-on-failure',
    states: {
      passing: {
        'tests.cmake': 'add_executable(adds adds.c)\nadd_test(NAME adds COMMAND adds)\n',
        'adds.c': 'int main(void) { return 1 + 1 == 2 ? 0 : 1; }\n',
      },
      failing: {
        'tests.cmake':
          'add_executable(adds adds.c)\nadd_test(NAME adds COMMAND adds)\nadd_executable(subtracts subtracts.c)\nadd_test(NAME subtracts COMMAND subtracts)\n',
        'adds.c': 'int main(void) { return 0; }\n',
        'subtracts.c': '#include <assert.h>\nint main(void) {\n  assert(3 - 1 == 1);\n  return 0;\n}\n',
      },
      broken: {
        'tests.cmake': 'add_executable(adds adds.c)\nadd_test(NAME adds COMMAND adds)\n',
        'adds.c': 'int main(void) {\n  return missing;\n}\n',
      },
      empty: { 'tests.cmake': '' },
      hanging: { 'tests.cmake': 'add_test(NAME waits COMMAND sleep 600)\n' },
    },
    broken: ['compile-error'],
    empty: ['no-tests-ran'],
    failure: { test: 'subtracts' },
  },
];
