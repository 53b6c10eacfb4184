// Projects of the test frameworks of Python, Ruby, PHP and the shell.

import type { Framework } from './verify-framework.ts';

const python = (head: string, failing: string, line: string): Framework['states'] => ({
  passing: { 'test_sample.py': `${head}${line}` },
  failing: { 'test_sample.py': `${head}${line}${failing}` },
  broken: { 'test_sample.py': `import no_such_module_here\n${head}${line}` },
  empty: { 'sample.py': 'one = 1\n' },
  hanging: {
    'test_sample.py': `import time\n${head}${line.replace(/(self\.)?assert.*\n/, 'time.sleep(600)\n')}`,
  },
});

/** Frameworks of languages that are run as they are. */
export const SCRIPTED: readonly Framework[] = [
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
];
