// verify's questions, asked of the sidecar.

import type { Sidecar } from '../channel/sidecar.ts';
import type { ParsedLog } from './outcome-types.ts';
import { parseLog } from './parsed-log.ts';
import type { PastRun, RunRecord, Seams } from './seams.ts';
import { tellingTests } from './telling.ts';

/** A diff that fits a line of the wire with what stands around it; a larger one of the working tree the sidecar reads itself. */
const LONGEST_DIFF = 2_000_000;

/** The seams over the sidecar of a root whose cache folder is CACHE. The sidecar starts with the first question. */
export function sidecarSeams(start: () => Promise<Sidecar>, cache: string, signal?: AbortSignal): Seams {
  const ask = { signal };
  return {
    failures: async (log, runner, exit) => readFailures(await start(), log, runner, exit),
    async affected({ diff, given }) {
      const long = diff.length > LONGEST_DIFF;
      if (given && long) return undefined;
      const sidecar = await start();
      await sidecar.call('ready', { saved: false }, ask);
      const reply = await sidecar.call('impact', { diff: long ? null : diff, file: null, target: null, limit: 1 }, ask);
      return {
        tests: tellingTests(reply['affected-test']).map((test) => {
          const { certainty = 'possible', reason = '' } =
            reply['affected-test'].find(({ path }) => path === test.path) ?? {};
          return { ...test, certainty, reason };
        }),
        complete: reply.impact[0]?.complete ?? false,
        incomplete: reply.reason.filter(({ doubt }) => doubt === 'incomplete').map(({ text }) => text),
        fullSuite: reply.reason.filter(({ doubt }) => doubt === 'full-suite').map(({ text }) => text),
        roots: reply.root.map(({ path, name }) => `${path}:${name}`),
      };
    },
    async attribute(failures, diff) {
      if (diff === '' || diff.length > LONGEST_DIFF) return undefined;
      const entries = failures.map(({ test, path, line, frames }) =>
        [test, path, line, ...frames.map((frame) => `${frame.path}:${frame.line ?? ''}`)]
          .map((part) => String(part ?? '').replace(/[\t\r\n]+/g, ' '))
          .join('\t'),
      );
      const { attributed } = await (await start()).call('attribute', { diff, failures: entries }, ask);
      return failures.map((failure, i) => ({
        failure,
        relation: attributed[i]?.relation ?? 'unknown',
        why: attributed[i]?.why ?? '',
      }));
    },
    async pastRuns(tree) {
      const reply = await (await start()).call('past-runs', { cache, tree }, ask);
      return reply['past-run'].map(
        ({ run, scope, folder, runner, verdict, seconds, files }): PastRun => ({
          scope,
          cwd: folder,
          runner,
          verdict,
          seconds,
          files,
          failures: reply['past-failure'].filter((past) => past.run === run),
        }),
      );
    },
    async stillFailing() {
      return (await (await start()).call('still-failing', { cache }, ask))['past-failure'];
    },
    async record(run) {
      const { tree, scope, cwd, runner, verdict, seconds, passed, failed, skipped, command } = run;
      const entries = entriesOf(run);
      await (await start()).call('record-run', {
        cache,
        tree,
        scope,
        folder: cwd,
        runner,
        verdict,
        seconds,
        passed,
        failed,
        skipped,
        command,
        entries,
      });
    },
  };
}

/** Parts are separated by TAB; a name that holds one has it as a blank. */
function entriesOf({ files, failures, learned }: RunRecord): string[] {
  const entry = (...parts: readonly (string | null)[]) =>
    parts.map((part) => (part ?? '').replace(/[\t\r\n]+/g, ' ')).join('\t');
  return [
    ...files.map((file) => entry('file', file)),
    ...failures.map(({ test, path }) => entry('failure', test, path)),
    ...learned.map(({ symbol, path, test, failed }) =>
      entry('lesson', symbol, path, test, failed ? 'failed' : 'passed'),
    ),
  ];
}

/** Whether it says more than that something was printed. */
function tells({ failures, passed, failed, verdict }: ParsedLog): boolean {
  return failures.length > 0 || passed !== null || failed !== null || verdict !== 'unparsed';
}

/** The runner is recognised from the text; the hint is only tried where that finds none, since a log may hold a compiler's words too. */
async function readFailures(
  sidecar: Sidecar,
  log: string,
  runner: string | undefined,
  exit: number | null,
): Promise<ParsedLog> {
  const { root } = sidecar.options;
  const first = await parseLog(sidecar, { log, exit, root });
  if (runner === undefined || tells(first)) return first;
  return parseLog(sidecar, { log, runner, exit, root });
}
