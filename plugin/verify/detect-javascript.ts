import { type Folder, isRecord, under } from './folder.ts';
import { isWatcher, runOnce } from './once.ts';
import { type PackageManager, packageManagerOf } from './package-managers.ts';
import type { Plan } from './plan.ts';
import { type Identified, identify } from './runners.ts';
import { isPlaceholder, resolveScript, scriptsOf } from './script.ts';
import { splitLine } from './words.ts';

/** Scripts that hold the tests, most telling name first. */
const TEST_SCRIPTS = [
  'test',
  'test:unit',
  'unit',
  'test:ci',
  'tests',
  'test:run',
  'vitest',
  'jest',
  'mocha',
  'spec',
  'test:all',
  'test:node',
];

/** Without a script: what a configuration file or a dependency says. Runner's command behind the manager's program. */
const CONFIGURED: readonly { readonly file: RegExp; readonly dependency: string; readonly argv: readonly string[] }[] =
  [
    { file: /^(vitest\.(config|workspace)\.[cm]?[jt]s)$/, dependency: 'vitest', argv: ['vitest', 'run'] },
    { file: /^jest\.config\.([cm]?[jt]s|json)$/, dependency: 'jest', argv: ['jest'] },
    { file: /^\.mocharc(\.(json|jsonc|ya?ml|[cm]?js))?$/, dependency: 'mocha', argv: ['mocha'] },
    { file: /^ava\.config\.[cm]?js$/, dependency: 'ava', argv: ['ava'] },
    { file: /^\.taprc$/, dependency: 'tap', argv: ['tap'] },
    { file: /^jasmine\.json$/, dependency: 'jasmine', argv: ['jasmine'] },
    { file: /^playwright\.config\.[cm]?[jt]s$/, dependency: '@playwright/test', argv: ['playwright', 'test'] },
    { file: /^cypress\.config\.[cm]?[jt]s$/, dependency: 'cypress', argv: ['cypress', 'run'] },
  ];

/** The ways to test a JavaScript or TypeScript package whose manifest stands in `at`; the best first. */
export function detectJavascript(folder: Folder, at: string): readonly Plan[] {
  const manifest = folder.json(under(at, 'package.json'));
  if (!manifest) return detectDeno(folder, at);
  const scripts = scriptsOf(manifest);
  const name = TEST_SCRIPTS.find((script) => !isPlaceholder(scripts[script]));
  const { manager, why } = packageManagerOf(folder, at);
  if (name !== undefined) return [planOfScript(scripts, name, at, manager, why)];
  return configuredPlans(folder, at, manifest, manager);
}

/**
 * The plan of one script. It runs by the script, as a person would; a selection goes behind the script where
 * that selects, else to the runner itself with the script's options.
 */
export function planOfScript(
  scripts: Record<string, string>,
  name: string,
  at: string,
  manager: PackageManager,
  why: string,
): Plan {
  const reason = `scripts.${name} of ${under(at, 'package.json')}, ${manager.name} (${why})`;
  const full = manager.script(name);
  const resolved = resolveScript(scripts, name);
  const shared = { ecosystem: 'javascript', cwd: at, env: {}, reason };
  if (!resolved) {
    const line = scripts[name] ?? '';
    const watches = splitLine(line).commands.some(({ argv }) => isWatcher(argv));
    const notes = watches
      ? [`scripts.${name} starts a watcher (${line}): it is ended by the time limit; give a command that runs once`]
      : [];
    return {
      ...shared,
      runner: 'unknown',
      argv: full,
      certainty: 'likely',
      notes: [...notes, `no runner that is known here in scripts.${name}: the full suite only`],
    };
  }
  return { ...shared, ...scriptCommands(resolved, full, manager, name) };
}

type ScriptCommands = Pick<Plan, 'runner' | 'argv' | 'certainty' | 'notes'> &
  Partial<Pick<Plan, 'extend' | 'openEnded' | 'named' | 'direct' | 'directEnv' | 'env'>>;

function scriptCommands(
  resolved: NonNullable<ReturnType<typeof resolveScript>>,
  full: readonly string[],
  manager: PackageManager,
  name: string,
): ScriptCommands {
  const { found } = resolved;
  const once = runOnce(found);
  const direct = directWords(found, manager);
  const notes =
    resolved.others.length > 0
      ? [
          `scripts.${name} runs ${[found.runner.name, ...resolved.others].join(', ')}; a selection goes to ${found.runner.name}`,
        ]
      : [];
  const base = {
    runner: found.runner.name,
    certainty: 'exact' as const,
    ...(direct ? { direct, directEnv: found.env } : {}),
  };
  if (once.removed.length > 0) {
    const argv = direct ? [...direct, ...found.positionals] : full;
    return {
      ...base,
      argv,
      ...(direct ? { openEnded: argv } : {}),
      env: direct ? found.env : {},
      ...(found.positionals.length > 0 ? { named: true } : { extend: argv }),
      certainty: 'likely',
      notes: [...notes, `runs once: ${once.removed.join(' ')} of scripts.${name} left out`],
    };
  }
  const extend = resolved.appendable ? [...manager.script(resolved.innermost), ...manager.dashes] : undefined;
  const missing = once.argv.filter((word) => found.runner.once?.includes(word) && !found.options.includes(word));
  const argv = missing.length > 0 && extend && resolved.alone ? [...extend, ...missing] : full;
  return {
    ...base,
    argv,
    ...(extend ? { extend: [...extend, ...missing] } : {}),
    ...(extend && resolved.alone ? { openEnded: [...extend, ...missing] } : {}),
    ...(found.positionals.length > 0 ? { named: true } : {}),
    notes,
  };
}

/** The runner by itself, files left out; undefined where an option has a variable that only the script's shell knows. */
function directWords(found: Identified, manager: PackageManager): readonly string[] | undefined {
  const { argv } = runOnce({ ...found, positionals: [] });
  if (argv.some((word) => /[$`]/.test(word))) return undefined;
  const first = argv[0] as string;
  return ['node', 'deno', 'bun', 'npx', 'bunx', 'pnpm', 'yarn', 'npm', 'env'].includes(first)
    ? argv
    : [...manager.program, ...argv];
}

function configuredPlans(
  folder: Folder,
  at: string,
  manifest: Record<string, unknown>,
  manager: PackageManager,
): readonly Plan[] {
  const names = folder.list(at);
  const dependencies = [manifest.devDependencies, manifest.dependencies].filter(isRecord);
  for (const row of CONFIGURED) {
    const file =
      names.find((name) => row.file.test(name)) ??
      (manifest[row.dependency] !== undefined ? `${row.dependency} in package.json` : undefined);
    const depends = dependencies.some((group) => Object.hasOwn(group, row.dependency));
    if (file === undefined && !depends) continue;
    const argv = [...manager.program, ...row.argv];
    return [
      plain(
        row.argv,
        argv,
        at,
        file ?? `${row.dependency} is a dependency of ${under(at, 'package.json')}`,
        file === undefined ? 'possible' : 'likely',
      ),
    ];
  }
  if (manager.name === 'bun')
    return [plain(['bun', 'test'], ['bun', 'test'], at, 'a bun lock file and no test script', 'possible')];
  if (names.some((name) => name === 'test' || /\.test\.[cm]?[jt]s$/.test(name))) {
    return [
      plain(
        ['node', '--test'],
        ['node', '--test'],
        at,
        'test files and no test script: node:test is a guess',
        'possible',
      ),
    ];
  }
  return [];
}

function plain(
  words: readonly string[],
  argv: readonly string[],
  at: string,
  reason: string,
  certainty: Plan['certainty'],
): Plan {
  const found = identify({ argv: words, env: {}, after: '' });
  return {
    runner: found?.runner.name ?? 'unknown',
    ecosystem: 'javascript',
    cwd: at,
    argv,
    env: {},
    extend: argv,
    openEnded: argv,
    direct: argv,
    certainty,
    reason,
    notes: [],
  };
}

function detectDeno(folder: Folder, at: string): readonly Plan[] {
  const file = ['deno.json', 'deno.jsonc'].find((name) => folder.has(under(at, name)));
  if (file === undefined) return [];
  const tasks = folder.json(under(at, file))?.tasks;
  const task = isRecord(tasks) ? tasks.test : undefined;
  const line =
    typeof task === 'string' ? task : isRecord(task) && typeof task.command === 'string' ? task.command : undefined;
  const argv = ['deno', 'test', '--allow-all'];
  if (line === undefined)
    return [plain(argv, argv, at, `${file} without a test task; all permissions are allowed`, 'likely')];
  const found = splitLine(line)
    .commands.map(identify)
    .find((one) => one?.runner.name === 'deno');
  const direct = found ? runOnce({ ...found, positionals: [] }).argv : argv;
  return [
    {
      runner: 'deno',
      ecosystem: 'javascript',
      cwd: at,
      argv: ['deno', 'task', 'test'],
      env: {},
      named: true,
      direct,
      certainty: 'exact',
      reason: `tasks.test of ${file}`,
      notes: [],
    },
  ];
}
