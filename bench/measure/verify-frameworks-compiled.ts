// Projects of the test frameworks of Go, Rust, Java and C.

import type { Framework } from './verify-framework.ts';

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

/** Frameworks that compile first. */
export const COMPILED: readonly Framework[] = [
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
