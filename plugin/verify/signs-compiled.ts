import type { Sign } from './detect-signs.ts';

/** Go, Rust, C and C++, Swift, Haskell, OCaml, Zig. Build folders of CMake and Meson are where people put them. */
const BUILD_FOLDERS = ['build', 'Build', '_build', 'builddir', 'cmake-build-debug', 'out/build', 'out'];

const ctestSigns: readonly Sign[] = BUILD_FOLDERS.map((name) => ({
  runner: 'ctest',
  ecosystem: 'native',
  marks: [`${name}/CTestTestfile.cmake`],
  program: ['ctest'],
  argv: ['--test-dir', name, '--output-on-failure'],
  certainty: 'likely',
  reason: 'a configured CMake build with tests',
  notes: [`ctest does not build: run cmake --build ${name} first if sources changed`],
}));

const mesonSigns: readonly Sign[] = BUILD_FOLDERS.map((name) => ({
  runner: 'meson',
  ecosystem: 'native',
  marks: [`${name}/meson-private`],
  program: ['meson'],
  argv: ['test', '-C', name, '--print-errorlogs'],
  certainty: 'exact',
  reason: 'a configured Meson build',
}));

const makeSign = (target: string): Sign => ({
  runner: 'make',
  ecosystem: 'native',
  marks: ['Makefile', 'makefile', 'GNUmakefile'],
  content: { files: ['Makefile', 'makefile', 'GNUmakefile'], pattern: new RegExp(`^${target}\\s*:`, 'm') },
  program: ['make'],
  argv: [target],
  certainty: 'likely',
  reason: `the target ${target} of the makefile`,
});

export const COMPILED_SIGNS: readonly Sign[] = [
  {
    runner: 'gotest',
    ecosystem: 'go',
    marks: ['go.mod'],
    program: ['go'],
    argv: ['test'],
    everything: ['./...'],
    certainty: 'exact',
    reason: 'a Go module',
  },
  {
    runner: 'gotest',
    ecosystem: 'go',
    marks: ['go.work'],
    program: ['go'],
    argv: ['test'],
    everything: ['./...'],
    certainty: 'possible',
    reason: 'a Go workspace: each module is tested by itself',
  },
  {
    runner: 'nextest',
    ecosystem: 'rust',
    marks: ['.config/nextest.toml'],
    program: ['cargo'],
    argv: ['nextest', 'run'],
    certainty: 'exact',
    reason: 'nextest is configured',
  },
  {
    runner: 'cargo-test',
    ecosystem: 'rust',
    marks: ['Cargo.toml'],
    program: ['cargo'],
    argv: ['test'],
    certainty: 'exact',
    reason: 'a Cargo package',
  },
  {
    runner: 'swift-test',
    ecosystem: 'swift',
    marks: ['Package.swift'],
    program: ['swift'],
    argv: ['test'],
    certainty: 'exact',
    reason: 'a Swift package',
  },
  {
    runner: 'stack',
    ecosystem: 'haskell',
    marks: ['stack.yaml'],
    program: ['stack'],
    argv: ['test'],
    certainty: 'exact',
    reason: 'a Stack project',
  },
  {
    runner: 'cabal',
    ecosystem: 'haskell',
    marks: ['cabal.project', /\.cabal$/],
    program: ['cabal'],
    argv: ['test'],
    certainty: 'exact',
    reason: 'a Cabal package',
  },
  {
    runner: 'dune',
    ecosystem: 'ocaml',
    marks: ['dune-project'],
    program: ['dune'],
    argv: ['test'],
    certainty: 'exact',
    reason: 'a dune project',
  },
  {
    runner: 'zig',
    ecosystem: 'zig',
    marks: ['build.zig'],
    program: ['zig'],
    argv: ['build', 'test'],
    certainty: 'likely',
    reason: 'a Zig build, if it has a step named test',
  },
  ...mesonSigns,
  ...ctestSigns,
  makeSign('check'),
  makeSign('test'),
];
