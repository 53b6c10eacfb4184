// What `opl failures` prints for a person.

import { type Failure, notListed, type ParsedLog } from '../verify/outcome-types.ts';

/** Lines of a message shown; expected and received stand at its start. */
const MESSAGE_LINES = 12;

function place({ path, line }: Failure): string {
  return path === null ? '' : line === null ? path : `${path}:${line}`;
}

function failureText(failure: Failure): string {
  const head = [failure.test, place(failure)].filter(Boolean).join('  ') || 'a failure without a name';
  const message = failure.message
    .split('\n')
    .slice(0, MESSAGE_LINES)
    .map((line) => `    ${line}`.trimEnd());
  return [`  ${head}  (${failure.category})`, ...message].join('\n');
}

/** What a log says as a model reads it; counts that the log does not give are left out. */
export function renderLog({ runner, verdict, passed, failed, skipped, failures, tail }: ParsedLog): string {
  const counts = [
    [passed, 'passed'],
    [failed, 'failed'],
    [skipped, 'skipped'],
  ]
    .filter(([count]) => count !== null)
    .map(([count, word]) => `${count} ${word}`);
  const head = [`${runner ?? 'no runner'}: ${verdict}`, counts.join(', ')].filter(Boolean).join('  ');
  const rest = failures.length > 0 ? failures.map(failureText) : tail === null ? [] : [tail];
  const more = notListed(failed, failures.length);
  return [head, ...rest, ...(more === '' ? [] : [more])].join('\n');
}
