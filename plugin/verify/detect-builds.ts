import { type Folder, isRecord } from './folder.ts';
import { packageManagerOf } from './package-managers.ts';
import type { Plan } from './plan.ts';

/** What a build system with a graph of its own is asked with. */
interface BuildSystem {
  readonly runner: string;
  readonly marks: readonly string[];
  /** Installed by the JavaScript package manager, so that is what starts it. */
  readonly installed?: boolean;
  /** The words of a program checked in with the project, tried first. */
  readonly wrapper?: readonly string[];
  readonly program: readonly string[];
  readonly full: readonly string[];
  readonly query?: (changed: readonly string[]) => readonly string[];
  readonly affected: (changed: readonly string[]) => readonly string[];
  readonly holds?: (folder: Folder) => boolean;
  readonly note: string;
}

const bazelSet = (changed: readonly string[]): string => `set(${changed.map((path) => `"${path}"`).join(' ')})`;

const BUILD_SYSTEMS: readonly BuildSystem[] = [
  {
    runner: 'bazel',
    marks: ['MODULE.bazel', 'WORKSPACE', 'WORKSPACE.bazel'],
    wrapper: ['bazelw', 'tools/bazel'],
    program: ['bazel'],
    full: ['test', '--test_output=errors', '--noshow_progress', '//...'],
    query: (changed) => [
      'query',
      '--keep_going',
      '--noshow_progress',
      `kind(".*_test rule", rdeps(//..., ${bazelSet(changed)}))`,
    ],
    affected: () => ['test', '--test_output=errors', '--noshow_progress'],
    note: 'tests may run on remote workers; their reports stand under bazel-testlogs',
  },
  {
    runner: 'buck2',
    marks: ['.buckconfig', '.buckroot'],
    program: ['buck2'],
    full: ['test', '//...'],
    query: (changed) => [
      'uquery',
      `kind(".*_test", rdeps(//..., owner(${changed.map((path) => `"${path}"`).join(' ')})))`,
    ],
    affected: () => ['test'],
    note: 'tests may run on remote workers',
  },
  {
    runner: 'pants',
    marks: ['pants.toml'],
    wrapper: ['pants'],
    program: ['pants'],
    full: ['test', '::'],
    affected: () => ['--changed-since=HEAD', '--changed-dependents=transitive', 'test'],
    note: 'Pants chooses by its own graph of changed files and their dependents',
  },
  {
    runner: 'nx',
    marks: ['nx.json'],
    installed: true,
    program: ['nx'],
    full: ['run-many', '--target=test', '--output-style=stream'],
    affected: (changed) => [
      'affected',
      '--target=test',
      '--output-style=stream',
      ...(changed.length > 0 ? [`--files=${changed.join(',')}`] : []),
    ],
    note: 'Nx chooses the affected projects; cached results count as run',
  },
  {
    runner: 'turbo',
    marks: ['turbo.json', 'turbo.jsonc'],
    installed: true,
    program: ['turbo'],
    full: ['run', 'test'],
    affected: () => ['run', 'test', '--filter=...[HEAD]'],
    holds: hasTurboTest,
    note: 'Turborepo chooses the packages that changed against HEAD and their dependents; cached results count as run',
  },
  {
    runner: 'moon',
    marks: ['.moon/workspace.yml'],
    installed: true,
    program: ['moon'],
    full: ['run', ':test'],
    affected: () => ['run', ':test', '--affected', '--downstream', 'deep'],
    note: 'moon chooses the affected projects',
  },
];

function hasTurboTest(folder: Folder): boolean {
  const config = folder.json('turbo.json') ?? folder.json('turbo.jsonc');
  const tasks = config?.tasks ?? config?.pipeline;
  return isRecord(tasks) && Object.keys(tasks).some((name) => name === 'test' || name.endsWith('#test'));
}

/** The plan of the build system in charge of the root, undefined where there is none. */
export function detectBuild(folder: Folder, changed: readonly string[]): Plan | undefined {
  for (const system of BUILD_SYSTEMS) {
    const mark = system.marks.find((name) => folder.has(name));
    if (mark === undefined || system.holds?.(folder) === false) continue;
    const wrapper = system.wrapper?.find((name) => folder.has(name));
    const start = system.installed
      ? [...packageManagerOf(folder, '').manager.program, ...system.program]
      : wrapper === undefined
        ? system.program
        : [`./${wrapper}`];
    const query = system.query && changed.length > 0 ? [...start, ...system.query(changed)] : undefined;
    return {
      runner: system.runner,
      ecosystem: 'any',
      cwd: '',
      argv: [...start, ...system.full],
      env: system.runner === 'nx' ? { NX_TUI: 'false' } : system.runner === 'turbo' ? { TURBO_UI: 'false' } : {},
      affected: { ...(query ? { query } : {}), run: [...start, ...system.affected(changed)] },
      certainty: 'exact',
      reason: `${mark}: ${system.runner} is in charge`,
      notes: [system.note],
    };
  }
  return undefined;
}

/** Reports a build system leaves, below the root. */
export const BUILD_REPORTS: Readonly<Record<string, readonly string[]>> = {
  bazel: ['bazel-testlogs/**/test.xml'],
  pants: ['dist/test/reports/*.xml'],
  nx: [],
};
