// What to do next: for each kind of failure the command to type or the line to look at. Nothing is said that is not of this run.

import { interpreterOf } from './detect-python.ts';
import { type Folder, isRecord, under } from './folder.ts';
import { missingProgram } from './missing-program.ts';
import type { Failure } from './outcome-types.ts';
import { packageManagerOf } from './package-managers.ts';
import type { Plan, Verdict } from './plan.ts';

export interface ActionContext {
  readonly folder: Folder;
  readonly plan: Plan;
  readonly verdict: Verdict;
  readonly failures: readonly Failure[];
  readonly tail: string;
  /** The command's exit status; null when it did not end by itself. */
  readonly exit: number | null;
  /** The command that runs the failing tests alone, where the runner can be told. */
  readonly rerun: string | undefined;
  readonly full: string;
  readonly timeoutSeconds: number;
  readonly lastLine: string;
}

/** More than this and the first are not read. */
const MOST_ACTIONS = 6;

interface Advice {
  readonly pattern: RegExp;
  readonly say: (found: RegExpExecArray, context: ActionContext) => string | undefined;
}

/** By the words of a failure or of the log's end; the first that has something to say for a text wins. */
const ADVICE: readonly Advice[] = [
  {
    pattern:
      /Cannot find (?:module|package) '([^'./][^']*)'|Failed to resolve import "([^"./][^"]*)"|Could not resolve:? "([^"./][^"]*)"/,
    say: (found, context) => installNode((found[1] ?? found[2] ?? found[3]) as string, context),
  },
  {
    pattern: /Cannot find module '(\.[^']*)'|Failed to (?:resolve import|load url) "?(\.[^"\s]*)/,
    say: (found) => `the import of ${found[1] ?? found[2]} names no file: correct the path, or create it`,
  },
  {
    pattern: /(?:ModuleNotFoundError: )?No module named '?([\w.]+)'?/,
    say: (found, context) => installPython((found[1] as string).split('.')[0] as string, context),
  },
  {
    pattern: /cannot import name '(\w+)' from '([\w.]+)'/,
    say: (found) => `${found[2]} has no ${found[1]}: it was renamed or removed; correct the import`,
  },
  { pattern: /no required module provides package ([\w./-]+)/, say: (found) => `type: go get ${found[1]}` },
  { pattern: /missing go\.sum entry|updates to go\.(?:mod|sum) needed/, say: () => 'type: go mod tidy' },
  {
    pattern: /can't find crate for `(\w+)`|use of undeclared crate or module `(\w+)`|unresolved import `(\w+)/,
    say: (found) => `type: cargo add ${found[1] ?? found[2] ?? found[3]} (or correct the path of the import)`,
  },
  {
    pattern: /cannot load such file -- ([\w/-]+)/,
    say: (found) => `type: bundle install (or add ${found[1]} to the Gemfile first)`,
  },
  {
    pattern: /Could not find (?:gem|\S+ in any of the sources)|bundler: command not found|run `bundle install`/i,
    say: () => 'type: bundle install',
  },
  {
    pattern: /vendor\/(?:autoload\.php|bin\/\w+)[^\n]*(?:No such file|not found)|Could not open input file: vendor/i,
    say: () => 'type: composer install',
  },
  {
    pattern: /Class "?([\w\\]+)"? not found/,
    say: (found) => `class ${found[1]} is not loaded: correct its namespace, or type: composer dump-autoload`,
  },
  {
    pattern: /Could not resolve dependencies for project|Could not find artifact ([\w.:-]+)/,
    say: (found) =>
      `${found[1] ?? 'a dependency'} could not be fetched: check the repository settings and the network, then run again with -U`,
  },
  {
    pattern: /(?:npm (?:ERR!|error) |ERR_PNPM_NO_SCRIPT\s+)(?:code ENOENT|Missing script: "?([\w:-]+)"?)/,
    say: (found) => (found[1] ? `package.json has no script ${found[1]}: give the command of this project` : undefined),
  },
  { pattern: /Executable doesn't exist at|npx playwright install/, say: () => 'type: npx playwright install' },
  {
    pattern:
      /(?:sh|bash|zsh|dash)(?::| \d+:)(?: line \d+:| \d+:)? ?([\w.@/-]+): (?:command )?not found|'([\w.-]+)' is not recognized as an internal|^([\w.@/-]+): command not found|could not determine executable to run|npx canceled due to missing packages[^\n]*\["?([\w@/-]+)/m,
    say: (found, context) => installProgram(found[1] ?? found[2] ?? found[3] ?? found[4], context),
  },
  {
    pattern:
      /ECONNREFUSED (?:::1|127\.0\.0\.1|localhost|[\d.]+)?:?(\d+)|[Cc]onnection refused[^\n]*?port (\d+)|connect to (?:server at )?"?[\w.-]+"?[^\n]*port (\d+)/,
    say: (found, context) => startService(found[1] ?? found[2] ?? found[3], context),
  },
  {
    pattern: /EADDRINUSE[^\n]*?:(\d+)|[Aa]ddress already in use[^\n]*?:?(\d+)?/,
    say: (found) =>
      `port ${found[1] ?? found[2] ?? ''} is taken: end what holds it (${process.platform === 'win32' ? 'netstat -ano' : `lsof -i :${found[1] ?? found[2] ?? 'PORT'}`}), or let the test take a free one`,
  },
  { pattern: /Unchecked dependencies for environment|run "mix deps\.get"/, say: () => 'type: mix deps.get' },
  {
    pattern: /error NU\d+: ([^\n]*)|NETSDK1004/,
    say: (found) =>
      `a package cannot be had${found[1] ? ` (${found[1]})` : ''}: check its name, then type: dotnet restore`,
  },
  {
    pattern: /error MSB1003/,
    say: () => 'no project lies here: give the command with its path, as dotnet test tests/Name.csproj',
  },
  { pattern: /requires rustc ([\d.]+)/, say: (found) => `rustc ${found[1]} or newer is needed: type: rustup update` },
  {
    pattern:
      /failed to get `([^`]+)` as a dependency|failed to select a version for the requirement `([^`]+)`|no matching package named `([^`]+)`/,
    say: (found) =>
      `${found[1] ?? found[2] ?? found[3]} cannot be had: check its name and version in Cargo.toml and the network, then type: cargo fetch`,
  },
  {
    pattern: /No solution found when resolving dependencies/,
    say: () => 'the requirements contradict each other: correct the versions in pyproject.toml, then type: uv sync',
  },
  {
    pattern: /changed significantly since poetry\.lock was last generated/,
    say: () => 'type: poetry lock && poetry install',
  },
  {
    pattern: /present in your lockfile|lockfile would have been modified/,
    say: (_, { folder, plan }) => `type: ${packageManagerOf(folder, plan.cwd).manager.install}`,
  },
  {
    pattern: /The engine "node" is incompatible[^\n]*Expected version "([^"]+)"/,
    say: (found) => `node ${found[1]} is needed, this is ${process.version}: switch to it`,
  },
  { pattern: /Could not find package [`"']?\w|version solving failed/, say: () => 'type: dart pub get' },
  { pattern: /Cannot connect to the Docker daemon/, say: () => 'start Docker, then run again' },
  { pattern: /JAVA_HOME is /, say: () => 'no Java is found: install a JDK, or set JAVA_HOME to one' },
  { pattern: /GradleWrapperMain/, say: () => 'the jar of the Gradle wrapper is missing: type: gradle wrapper' },
  { pattern: /sh: (?:(?:line )?\d+: )?(\S+): Permission denied/, say: (found) => `type: chmod +x ${found[1]}` },
  {
    pattern: /provided by "(\w+)", but\s+CMake did not find one|Could NOT find (\w+)/,
    say: (found) => `install the development package of ${found[1] ?? found[2]}, then run again`,
  },
  { pattern: /cabal: Could not resolve dependencies/, say: () => 'type: cabal update' },
  {
    pattern: /ENOTFOUND|EAI_AGAIN|Could not resolve host|Temporary failure in name resolution|Network is unreachable/,
    say: () => 'the network was not there: run again where it is, or fetch the dependencies beforehand',
  },
  {
    pattern: /JavaScript heap out of memory|Reached heap limit/,
    say: () => 'node ran out of memory: run with NODE_OPTIONS=--max-old-space-size=4096, or fewer workers',
  },
  {
    pattern: /java\.lang\.OutOfMemoryError/,
    say: () => 'the JVM ran out of memory: raise -Xmx in argLine (surefire) or maxHeapSize (gradle)',
  },
  { pattern: /ENOSPC|No space left on device/, say: () => 'the disk is full: free some space, then run again' },
  {
    pattern: /EACCES: permission denied[^\n']*'([^']+)'|Permission denied: '([^']+)'/,
    say: (found) => `${found[1] ?? found[2]} may not be read or written: correct its permissions`,
  },
  {
    pattern: /obsolete|Snapshot `([^`]+)` mismatched|toMatchSnapshot/,
    say: (found, context) =>
      found[1]
        ? `a snapshot differs: if the new output is right, type: ${context.rerun ?? context.full} -u`
        : undefined,
  },
];

function installNode(name: string, { folder, plan }: ActionContext): string {
  const { manager } = packageManagerOf(folder, plan.cwd);
  const wanted = name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : (name.split('/')[0] as string);
  const manifest = folder.json(under(plan.cwd, 'package.json'));
  const listed = ['dependencies', 'devDependencies', 'peerDependencies'].some(
    (key) => isRecord(manifest?.[key]) && Object.hasOwn(manifest[key] as object, wanted),
  );
  if (listed) return `type: ${manager.install} (${wanted} is in package.json but not installed)`;
  return `type: ${manager.name === 'npm' ? 'npm install --save-dev' : `${manager.name} add`} ${wanted} (or correct the import)`;
}

/** Modules whose package has another name, of those that are missing most often. */
const PYTHON_PACKAGES: Readonly<Record<string, string>> = {
  yaml: 'pyyaml',
  cv2: 'opencv-python',
  PIL: 'pillow',
  sklearn: 'scikit-learn',
  bs4: 'beautifulsoup4',
  dateutil: 'python-dateutil',
  dotenv: 'python-dotenv',
  attr: 'attrs',
  jwt: 'pyjwt',
  MySQLdb: 'mysqlclient',
  psycopg2: 'psycopg2-binary',
  google: 'protobuf',
};

function installPython(module: string, { folder, plan }: ActionContext): string {
  const interpreter = interpreterOf(folder, plan.cwd, process.platform === 'win32');
  const own =
    folder.has(under(plan.cwd, module)) ||
    folder.has(under(plan.cwd, `${module}.py`)) ||
    folder.has(under(plan.cwd, `src/${module}`));
  if (own)
    return `the project's own ${module} is not importable from here: type ${interpreter.install.endsWith('pip install') ? `${interpreter.install} -e .` : interpreter.install}, or run from the folder that holds it`;
  const wanted = PYTHON_PACKAGES[module] ?? module;
  if (!interpreter.install.endsWith('pip install'))
    return `type: ${interpreter.install} (then ${interpreter.program[0]} add ${wanted} if it is still missing)`;
  const requirements = ['requirements-dev.txt', 'requirements-test.txt', 'requirements.txt'].find((name) =>
    new RegExp(`^${wanted}\\b`, 'im').test(folder.text(under(plan.cwd, name)) ?? ''),
  );
  return `type: ${interpreter.install} ${requirements ? `-r ${requirements}` : wanted}`;
}

function installProgram(program: string | undefined, { folder, plan }: ActionContext): string {
  const name = program ?? (plan.runner === 'unknown' ? undefined : plan.runner);
  return name === undefined ? 'install the missing program' : missingProgram(name, folder, plan.cwd);
}

/** What usually listens there. */
const PORTS: Readonly<Record<string, string>> = {
  '5432': 'PostgreSQL',
  '3306': 'MySQL',
  '6379': 'Redis',
  '27017': 'MongoDB',
  '9200': 'Elasticsearch',
  '5672': 'RabbitMQ',
  '9092': 'Kafka',
  '11211': 'memcached',
  '4444': 'Selenium',
};

function startService(port: string | undefined, context: ActionContext): string {
  const compose = ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml'].find((name) =>
    context.folder.has(name),
  );
  const service = port === undefined ? 'the service' : (PORTS[port] ?? `what listens on port ${port}`);
  return `${service} is not running${port === undefined ? '' : ` (port ${port})`}: ${compose ? `type: docker compose up -d (${compose})` : 'start it, then run again'}`;
}

/** What to do, most telling first; empty when it passed. */
export function actionsFor(context: ActionContext): readonly string[] {
  const { verdict, failures, rerun, full, tail, exit } = context;
  if (verdict === 'passed') return [];
  const actions: string[] = [];
  const add = (action: string | undefined): void => {
    if (action !== undefined && !actions.includes(action)) actions.push(action);
  };
  for (const failure of failures) add(adviceFor(failure.message, context));
  // A runner may keep what a file died of out of its report of the failure.
  // What a command that ended well said on its way is no fault to mend.
  if (actions.length === 0 && exit !== 0) add(adviceFor(tail, context));
  for (const failure of failures.slice(0, MOST_ACTIONS)) add(lookAt(failure));
  if (verdict === 'timeout') add(timeoutAction(context));
  if (verdict === 'no-tests-ran')
    add(`no test ran: check that the command finds them, or type the full suite: ${full}`);
  if (verdict === 'unparsed' && actions.length === 0) add('read the end of the output: it names no test');
  if (rerun !== undefined && failures.some(({ test }) => test !== null)) add(`run what failed alone: ${rerun}`);
  return actions.length <= MOST_ACTIONS ? actions : [...actions.slice(0, MOST_ACTIONS - 1), actions.at(-1) as string];
}

function adviceFor(text: string, context: ActionContext): string | undefined {
  for (const { pattern, say } of ADVICE) {
    const found = pattern.exec(text);
    const said = found ? say(found, context) : undefined;
    if (said !== undefined) return said;
  }
  return undefined;
}

function lookAt(failure: Failure): string | undefined {
  if (failure.path === null) return undefined;
  const place = failure.line === null ? failure.path : `${failure.path}:${failure.line}`;
  const first = failure.message.split('\n')[0]?.trim().slice(0, 120) ?? '';
  if (failure.category === 'compile') return `correct ${place}: ${first}`;
  if (failure.category === 'setup') return `look at ${place}, which could not be loaded: ${first}`;
  return undefined;
}

function timeoutAction({ timeoutSeconds, lastLine, rerun }: ActionContext): string {
  const at = lastLine === '' ? '' : `; its last line was “${lastLine}”`;
  return `not done after ${timeoutSeconds} s${at}: find what waits${rerun ? '' : ', run one file alone'}, or give more time (--timeout ${timeoutSeconds * 2})`;
}
