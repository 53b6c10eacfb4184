// The failure parser's rows as the objects that verify and `opl failures` speak of.

import type { Sidecar } from '../channel/sidecar.ts';
import type { Failure, Frame, ParsedLog } from './outcome-types.ts';

export interface LogQuestion {
  /** Absolute path of the captured text or report. */
  readonly log: string;
  /** The runner that is known to have written it. */
  readonly runner?: string | undefined;
  readonly exit?: number | null | undefined;
  /** Paths inside are given relative to it. */
  readonly root?: string | undefined;
}

/** What the log says. Throws a Fault when there is no such file. */
export async function parseLog(
  sidecar: Sidecar,
  { log, runner, exit, root }: LogQuestion,
  signal?: AbortSignal,
): Promise<ParsedLog & { readonly runners: readonly string[] }> {
  const reply = await sidecar.call(
    'failures',
    {
      log,
      runner: runner ?? null,
      exit: exit === null || exit === undefined ? null : Math.abs(exit),
      root: root ?? null,
    },
    { signal },
  );
  const frames = new Map<number, Frame[]>();
  for (const { failure, path, line, function: name, foreign } of reply.frame) {
    if (path === null || foreign) continue;
    const list = frames.get(failure) ?? [];
    list.push({ path, line, function: name });
    frames.set(failure, list);
  }
  const { runner: found, verdict, passed, failed, skipped, tail, runners } = reply.report[0]!;
  const failures = reply.failure.map(
    ({ number, test, path, line, category, suite, message }): Failure => ({
      test,
      path,
      line,
      suite,
      message,
      category,
      frames: frames.get(number) ?? [],
    }),
  );
  return { runner: found, verdict, passed, failed, skipped, failures, tail, runners };
}
