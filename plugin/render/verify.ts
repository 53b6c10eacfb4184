// What verify_change answers, in a few hundred tokens: verdict, what was run, whose failures, what to do.

import type { JudgedFailure, Ran, VerifyAnswer } from '../verify/answer.ts';

/** Failures shown in full; the others by name. */
const SHOWN = 5;
const NAMED = 20;
/** Characters of a message: expected and received stand at its start. */
const LONGEST_MESSAGE = 400;
const MESSAGE_LINES = 8;
const NOTES = 5;
const TAIL_CHARACTERS = 1500;

/** The answer of verify_change as a model reads it: the verdict first, a few failures whole, the rest by name. */
export function renderVerify(answer: VerifyAnswer): string {
  const { verdict, ran, failures, actions, notes, tail, log } = answer;
  const lines = [headline(answer), ''];
  for (const one of ran) lines.push(ranLine(one));
  if (failures.length > 0) {
    lines.push('');
    for (const failure of failures.slice(0, SHOWN)) lines.push(...failureLines(failure));
    const rest = failures.slice(SHOWN, SHOWN + NAMED).map(nameOf);
    if (rest.length > 0) lines.push(`also: ${rest.join('; ')}`);
    if (failures.length > SHOWN + NAMED) lines.push(`and ${failures.length - SHOWN - NAMED} more`);
  }
  if (tail !== null && tail !== '' && verdict !== 'passed')
    lines.push('', 'end of the output:', tail.slice(-TAIL_CHARACTERS));
  if (actions.length > 0) lines.push('', 'next:', ...actions.map((action) => `- ${action}`));
  if (notes.length > 0) lines.push('', ...notes.slice(0, NOTES).map((note) => `note: ${note}`));
  if (verdict !== 'passed' && log !== null) lines.push('', `whole output: ${log}`);
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function headline({ verdict, failures, ran }: VerifyAnswer): string {
  const own = failures.filter(
    ({ before, flaky, relation }) => before !== 'failed' && !flaky && relation !== 'unrelated',
  );
  const older = failures.filter(({ before }) => before === 'failed').length;
  const flaky = failures.filter((failure) => failure.flaky).length;
  const parts = [verdict.toUpperCase()];
  if (failures.length > 0) {
    parts.push(`${failures.length} failure${failures.length === 1 ? '' : 's'}`);
    if (older > 0) parts.push(`${older} failed before the change too`);
    if (flaky > 0) parts.push(`${flaky} flaky`);
    if (own.length > 0 && own.length < failures.length) parts.push(`${own.length} to look at`);
  } else if (verdict === 'passed') parts.push(`${sum(ran.filter(({ scope }) => scope === decisive(ran)))} tests`);
  return parts.join(': ').replace(': ', ': ');
}

const decisive = (ran: readonly Ran[]): Ran['scope'] =>
  ran.some(({ scope }) => scope === 'full') ? 'full' : 'targeted';

function sum(ran: readonly Ran[]): number {
  return ran.reduce((total, { passed }) => total + (passed ?? 0), 0);
}

function ranLine({ command, scope, verdict, passed, failed, skipped, seconds, exit }: Ran): string {
  const counts = [
    [passed, 'passed'],
    [failed, 'failed'],
    [skipped, 'skipped'],
  ]
    .filter(([count]) => typeof count === 'number' && count > 0)
    .map(([count, word]) => `${count} ${word}`);
  const outcome = counts.length > 0 ? counts.join(', ') : verdict;
  return `${scope}: ${command}  (${outcome}, ${seconds} s${exit === null || exit === 0 ? '' : `, exit ${exit}`})`;
}

function nameOf({ test, path, line }: JudgedFailure): string {
  const place = path === null ? '' : line === null ? path : `${path}:${line}`;
  return test ?? (place || 'a failure without a name');
}

function failureLines(failure: JudgedFailure): string[] {
  const { test, path, line, category, message, relation, why, before, flaky } = failure;
  const place = path === null ? '' : line === null ? path : `${path}:${line}`;
  const facts = [
    relation === 'unknown' ? '' : why || relation,
    before === 'failed' ? 'failed before the change too' : before === 'passed' ? 'new: passed without the change' : '',
    flaky ? 'flaky: passed when run once more alone' : '',
  ].filter((fact) => fact !== '');
  const said = message
    .split('\n')
    .map((row) => row.trimEnd())
    .filter((row) => row.trim() !== '')
    .slice(0, MESSAGE_LINES)
    .join('\n    ');
  return [
    `✗ ${test ?? (place || '(no name)')}  [${category}]${test !== null && place !== '' ? ` ${place}` : ''}`,
    ...(said === '' ? [] : [`    ${said.length > LONGEST_MESSAGE ? `${said.slice(0, LONGEST_MESSAGE)} …` : said}`]),
    ...facts.map((fact) => `    ${fact}`),
  ];
}
