import { type Folder, folderOf, relativeTo, under } from './folder.ts';
import type { Certainty, Plan } from './plan.ts';

/** How this project's Python is started, so that its dependencies are there. */
interface Interpreter {
  /** Before a program installed in the environment. */
  readonly program: readonly string[];
  /** Before `-m module`. */
  readonly python: readonly string[];
  readonly why: string;
  readonly install: string;
}

/** One row for each manager that keeps the environment by itself: its own lock file or table names it. */
const MANAGERS: readonly {
  readonly name: string;
  readonly lock: string;
  readonly table?: RegExp;
  readonly install: string;
}[] = [
  { name: 'uv', lock: 'uv.lock', table: /^\[tool\.uv\b/m, install: 'uv sync' },
  { name: 'poetry', lock: 'poetry.lock', table: /^\[tool\.poetry\]/m, install: 'poetry install' },
  { name: 'pdm', lock: 'pdm.lock', table: /^\[tool\.pdm\]/m, install: 'pdm install' },
  { name: 'pipenv', lock: 'Pipfile.lock', install: 'pipenv install --dev' },
  { name: 'hatch', lock: 'hatch.toml', table: /^\[tool\.hatch\.envs\b/m, install: 'hatch env create' },
];

const VENVS = ['.venv', 'venv', '.env', 'env'];

/**
 * A manager's lock file comes first, then a virtual environment in the project or above it, then the
 * `python3` of the path. A manager that is only named by a table in pyproject.toml gives way to an
 * environment that is there already.
 */
export function interpreterOf(folder: Folder, at: string, windows: boolean): Interpreter {
  const project = folder.text(under(at, 'pyproject.toml')) ?? '';
  const managed = (name: string, why: string, install: string): Interpreter => ({
    program: [name, 'run'],
    python: [name, 'run', 'python'],
    why,
    install,
  });
  for (let path = at; ; path = folderOf(path)) {
    for (const row of MANAGERS) if (folder.has(under(path, row.lock))) return managed(row.name, row.lock, row.install);
    for (const venv of VENVS) {
      const python = under(path, `${venv}/${windows ? 'Scripts/python.exe' : 'bin/python'}`);
      if (folder.has(python)) {
        const word = relativeTo(at, python);
        return { program: [word, '-m'], python: [word], why: under(path, venv), install: `${word} -m pip install` };
      }
    }
    if (path === '') break;
  }
  const row = MANAGERS.find(({ table }) => table?.test(project));
  if (row) return managed(row.name, 'pyproject.toml', row.install);
  const python = windows ? 'py' : 'python3';
  return {
    program: [python, '-m'],
    python: [python],
    why: `${python} on the path`,
    install: `${python} -m pip install`,
  };
}

const MANIFESTS = [
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'pytest.ini',
  '.pytest.ini',
  'tox.ini',
  'noxfile.py',
  'manage.py',
  'Pipfile',
  'uv.lock',
  'poetry.lock',
];

/** Where pytest is named: its own file, a table of a shared one, or a dependency. */
const PYTEST_SAID: readonly { readonly file: string; readonly pattern: RegExp; readonly certainty: Certainty }[] = [
  { file: 'pytest.ini', pattern: /^/, certainty: 'exact' },
  { file: '.pytest.ini', pattern: /^/, certainty: 'exact' },
  { file: 'pyproject.toml', pattern: /^\[tool\.pytest/m, certainty: 'exact' },
  { file: 'setup.cfg', pattern: /^\[tool:pytest\]/m, certainty: 'exact' },
  { file: 'tox.ini', pattern: /^\[pytest\]|\bpytest\b/m, certainty: 'exact' },
  { file: 'conftest.py', pattern: /^/, certainty: 'exact' },
  { file: 'tests/conftest.py', pattern: /^/, certainty: 'exact' },
  { file: 'test/conftest.py', pattern: /^/, certainty: 'exact' },
  { file: 'noxfile.py', pattern: /\bpytest\b/, certainty: 'likely' },
  ...[
    'pyproject.toml',
    'setup.py',
    'setup.cfg',
    'Pipfile',
    'uv.lock',
    'poetry.lock',
    'requirements.txt',
    'requirements-dev.txt',
    'requirements_dev.txt',
    'dev-requirements.txt',
    'test-requirements.txt',
    'requirements/test.txt',
    'requirements/dev.txt',
    'requirements/tests.txt',
    'Makefile',
    '.github/workflows/test.yml',
    '.github/workflows/tests.yml',
    '.github/workflows/ci.yml',
  ].map((file) => ({ file, pattern: /\bpytest\b/, certainty: 'likely' as const })),
];

/** The ways to test a Python project whose manifest stands in `at`; the best first, empty where it is none. */
export function detectPython(folder: Folder, at: string, windows: boolean): readonly Plan[] {
  const names = folder.list(at);
  const tests = testFiles(folder, at);
  const isProject =
    MANIFESTS.some((name) => names.includes(name)) ||
    (at === '' && (tests.length > 0 || names.includes('requirements.txt') || names.includes('conftest.py')));
  if (!isProject) return [];
  const interpreter = interpreterOf(folder, at, windows);
  const plan = (
    runner: string,
    words: readonly string[],
    certainty: Certainty,
    reason: string,
    more: Partial<Plan> = {},
  ): Plan => ({
    runner,
    ecosystem: 'python',
    cwd: at,
    argv: words,
    env: {},
    extend: words,
    openEnded: words,
    certainty,
    reason: `${reason}; ${interpreter.why}`,
    notes: [],
    ...more,
  });
  const said = PYTEST_SAID.find(
    ({ file, pattern }) => pattern.test(folder.text(under(at, file)) ?? '\u0000') && folder.has(under(at, file)),
  );
  const django = names.includes('manage.py') && /django/i.test(folder.text(under(at, 'manage.py')) ?? '');
  const styles = tests.map((file) => folder.text(file) ?? '');
  if (said && !(django && said.certainty === 'likely'))
    return [plan('pytest', [...interpreter.program, 'pytest'], said.certainty, `pytest by ${under(at, said.file)}`)];
  if (django)
    return [plan('unittest', [...interpreter.python, 'manage.py', 'test', '--noinput'], 'exact', "Django's manage.py")];
  const bare = styles.some((text) => /^def test_|^\s*@pytest\.|^import pytest/m.test(text));
  if (bare)
    return [plan('pytest', [...interpreter.program, 'pytest'], 'likely', 'test functions that only pytest finds')];
  if (names.includes('tox.ini')) return [plan('tox', ['tox'], 'likely', 'tox.ini')];
  if (names.includes('noxfile.py')) return [plan('nox', ['nox'], 'likely', 'noxfile.py')];
  return [
    unittestPlan(
      plan,
      folder,
      at,
      interpreter,
      styles.some((text) => /\bunittest\b/.test(text)),
    ),
  ];
}

type PlanMaker = (
  runner: string,
  words: readonly string[],
  certainty: Certainty,
  reason: string,
  more?: Partial<Plan>,
) => Plan;

/** `discover` needs the folder of the tests where that is no package, since it only enters packages. */
function unittestPlan(plan: PlanMaker, folder: Folder, at: string, interpreter: Interpreter, uses: boolean): Plan {
  const base = [...interpreter.python, '-m', 'unittest'];
  const home = ['tests', 'test'].find(
    (name) =>
      folder.list(under(at, name)).some((file) => /^test.*\.py$/.test(file)) &&
      !folder.has(under(at, `${name}/__init__.py`)),
  );
  const full = home === undefined ? [...base, 'discover'] : [...base, 'discover', '-s', home, '-t', '.'];
  const start = home !== undefined ? [...base, 'discover', '-s', home] : full;
  return plan(
    'unittest',
    start,
    uses ? 'likely' : 'possible',
    uses ? 'tests that import unittest' : 'nothing names a runner: unittest is a guess',
    { direct: base, named: true },
  );
}

const TEST_FILE = /^(test_.*|.*_test|tests)\.py$/;
/** This many files tell the style of a project's tests. */
const ENOUGH_FILES = 12;

function testFiles(folder: Folder, at: string): readonly string[] {
  const places = ['', 'tests', 'test', 'tests/unit', 'src/tests'].map((name) => (name === '' ? at : under(at, name)));
  return places
    .flatMap((place) =>
      folder
        .list(place)
        .filter((name) => TEST_FILE.test(name))
        .map((name) => under(place, name)),
    )
    .slice(0, ENOUGH_FILES);
}
