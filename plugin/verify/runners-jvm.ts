import { join } from 'node:path';
import { type Folder, under } from './folder.ts';
import { fewNames, type Runner, type Selection, stemOf } from './runner.ts';

const PACKAGE = /^\s*package\s+([\w.]+)/m;

/** The class a test file holds, with its package where the file says it. */
function classOf(folder: Folder, cwd: string, file: string): string {
  const name = PACKAGE.exec(folder.text(under(cwd, file)) ?? '')?.[1];
  return name === undefined ? stemOf(file) : `${name}.${stemOf(file)}`;
}

/** `Class.method` of a failure as `Class#method`; display names with blanks cannot be asked for. */
function methods(names: readonly string[]): readonly string[] | undefined {
  const asked = names.map((name) => /^(?:[\w$]+\.)*([\w$]+)[.#](\w+)(?:\(.*\))?(?:\[.*\])?$/.exec(name));
  return asked.every((found) => found !== null) ? asked.map((found) => `${found?.[1]}#${found?.[2]}`) : undefined;
}

function mavenSelection({ files, names }: Selection): readonly string[] {
  const single = fewNames(names) ? methods(names) : undefined;
  const modules = [
    ...new Set(files.map((file) => file.split('/src/')[0] as string).filter((module, at) => module !== files[at])),
  ];
  return [
    `-Dtest=${(single ?? files.map(stemOf)).join(',')}`,
    '-DfailIfNoTests=false',
    '-Dsurefire.failIfNoSpecifiedTests=false',
    ...(modules.length > 0 && files.every((file) => file.includes('/src/') && !file.startsWith('src/'))
      ? ['-pl', modules.join(','), '-am']
      : []),
  ];
}

const maven: Runner = {
  name: 'maven-surefire',
  ecosystem: 'jvm',
  programs: [['mvn'], ['mvnw'], ['mvnd']],
  valued: ['-pl', '--projects', '-f', '--file', '-P', '-s', '--settings', '-T', '-rf', '-l'],
  keeps: ['clean', 'test', 'verify', 'install', 'package', 'integration-test'],
  select: mavenSelection,
  written: ['**/target/surefire-reports/TEST-*.xml', '**/target/failsafe-reports/TEST-*.xml'],
};

/**
 * `--tests` belongs to the task before it, and a task that finds none of its tests fails the build: so each project's own task is asked
 * for its own tests. A project's name is taken to be its folder, as it is unless the settings say otherwise.
 */
function gradleSelection({ files, folder, cwd }: Selection): readonly string[] {
  const byTask = new Map<string, string[]>();
  for (const file of files) {
    const module = file.includes('/src/') && !file.startsWith('src/') ? (file.split('/src/')[0] as string) : '';
    const own = module !== '' && ['', '.kts'].some((kind) => folder.has(under(cwd, `settings.gradle${kind}`)));
    const task = own ? `:${module.replaceAll('/', ':')}:test` : 'test';
    byTask.set(task, [...(byTask.get(task) ?? []), '--tests', classOf(folder, cwd, file)]);
  }
  return [...byTask].flatMap(([task, tests]) => [task, ...tests]);
}

const GRADLE_TASKS = ['test', 'check', 'build'];

const gradle: Runner = {
  name: 'gradle',
  ecosystem: 'jvm',
  programs: [['gradle'], ['gradlew']],
  valued: ['-p', '--project-dir', '-b', '-c', '-I', '-x', '--tests'],
  watching: ['-t', '--continuous'],
  keeps: GRADLE_TASKS,
  replaced: GRADLE_TASKS,
  select: gradleSelection,
  written: ['**/build/test-results/**/TEST-*.xml'],
};

const sbt: Runner = {
  name: 'scalatest',
  ecosystem: 'jvm',
  programs: [['sbt'], ['sbtn']],
  watching: ['~test'],
  select: ({ files, folder, cwd }) => [`testOnly ${files.map((file) => classOf(folder, cwd, file)).join(' ')}`],
  everything: ['test'],
  written: ['**/target/test-reports/TEST-*.xml'],
};

const mill: Runner = { name: 'scalatest', ecosystem: 'jvm', programs: [['mill']], keeps: ['__.test'] };
const lein: Runner = { name: 'clojure-test', ecosystem: 'jvm', programs: [['lein', 'test']] };

/** `VSTest` filters by the full name; a file stands for the class of its stem. */
const dotnet: Runner = {
  name: 'dotnet-test',
  ecosystem: 'dotnet',
  programs: [
    ['dotnet', 'watch', 'test'],
    ['dotnet', 'test'],
  ],
  valued: [
    '-c',
    '--configuration',
    '-f',
    '--framework',
    '--filter',
    '-l',
    '--logger',
    '-s',
    '--settings',
    '-r',
    '--results-directory',
    '-v',
  ],
  onceInstead: { watch: '' },
  select: ({ files, names }) => {
    const parts = fewNames(names)
      ? names.map((name) => `FullyQualifiedName~${name.replace(/\(.*$/, '')}`)
      : files.map((file) => `FullyQualifiedName~${stemOf(file)}`);
    return ['--filter', parts.join('|')];
  },
  report: (into, argv) =>
    argv.includes('--results-directory')
      ? undefined
      : { args: ['--logger', 'trx', '--results-directory', join(into, 'trx')], files: [join(into, 'trx')] },
};

export const JVM_RUNNERS: readonly Runner[] = [maven, gradle, sbt, mill, lein, dotnet];
