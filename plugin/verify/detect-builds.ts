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
  readonly targets?: (output: string) => readonly string[];
  /** The query's exit status when some of what it was asked about is in no package; what it printed counts. */
  readonly partial?: number;
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
    partial: 3,
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
    // `moon run --affected` follows tasks alone: a project that depends on the changed one is not run by it.
    query: () => ['query', 'projects', '--affected', '--downstream', 'deep'],
    targets: moonTargets,
    affected: () => ['run'],
    note: 'moon chooses the affected projects and their dependents',
  },
];

/** moon 2 prints JSON, moon 1 a line for each project with its name first. */
function moonTargets(output: string): readonly string[] {
  if (!output.trimStart().startsWith('{'))
    return output.split('\n').flatMap((line) => {
      const id = line.split('|')[0]?.trim() ?? '';
      return line.includes('|') && id !== '' ? [`${id}:test`] : [];
    });
  const { projects } = JSON.parse(output) as { projects?: readonly { id?: string; tasks?: object }[] };
  return (projects ?? []).flatMap(({ id, tasks }) =>
    id === undefined || (tasks && !Object.hasOwn(tasks, 'test')) ? [] : [`${id}:test`],
  );
}

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
    const affected =
      changed.length === 0
        ? undefined
        : {
            ...(system.query ? { query: [...start, ...system.query(changed)] } : {}),
            ...(system.targets ? { targets: system.targets } : {}),
            ...(system.partial === undefined ? {} : { partial: system.partial }),
            run: [...start, ...system.affected(changed)],
          };
    return {
      runner: system.runner,
      ecosystem: 'any',
      cwd: '',
      argv: [...start, ...system.full],
      env: system.runner === 'nx' ? { NX_TUI: 'false' } : system.runner === 'turbo' ? { TURBO_UI: 'false' } : {},
      ...(affected ? { affected } : {}),
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
