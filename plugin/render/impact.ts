// What change_impact answers, as text within a budget of characters.

import type { AffectedTest, ChangedFile, Dependant, Impact, Reason, Root } from '../channel/messages.generated.ts';

export interface ImpactReply {
  impact: readonly Impact[];
  reason: readonly Reason[];
  root: readonly Root[];
  dependant: readonly Dependant[];
  'affected-test': readonly AffectedTest[];
  'changed-file': readonly ChangedFile[];
}

/** Four kilobytes: about a thousand tokens, the most that one question about a change is worth. */
const IMPACT_CHARACTERS = 4000;

function plural(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

function rootLine({ path, line, end, kind, name, scope, signature, touched }: Root): string {
  const place = end && end !== line ? `${path}:${line}-${end}` : `${path}:${line}`;
  const called = kind === 'file' ? 'outside any definition' : `${kind} ${scope ? `${scope}.` : ''}${name}`;
  return `  ${place}  ${called} (${touched})${signature && touched === 'signature' ? `  ${signature}` : ''}`;
}

function dependantLine(row: Dependant): string {
  const { path, name, scope, hop, certainty, via } = row;
  const way = via.length > 0 ? `, over ${via.join(' <- ')}` : '';
  const called = name === '<module>' ? 'top of the module' : `${scope ? `${scope}.` : ''}${name}`;
  return `  ${path}:${row.callLine}  ${called} (${certainty}${hop > 1 ? `, ${hop} calls away` : ''}${way})`;
}

function testLine({ path, reason, names }: AffectedTest): string {
  const which = names.length > 0 && names.length <= 3 ? ` [${names.join('; ')}]` : '';
  return `  ${path}${which}  ${reason}`;
}

/** LINES under a heading, as many as fit into ROOM characters; what does not fit is counted. */
function section(heading: string, lines: readonly string[], total: number, room: number): string[] {
  if (lines.length === 0) return [];
  const shown: string[] = [];
  let used = heading.length + 30;
  for (const line of lines) {
    if (used + line.length + 1 > room) break;
    shown.push(line);
    used += line.length + 1;
  }
  const rest = total - shown.length;
  return [heading, ...shown, ...(rest > 0 ? [`  … ${rest} more`] : [])];
}

/** REPLY within BUDGET characters: what is touched, what to run, who calls it. Production callers before tests. */
export function renderImpact(reply: ImpactReply, commands: readonly string[], budget = IMPACT_CHARACTERS): string {
  const head = reply.impact[0];
  if (!head) return 'No answer.';
  const lines = [`Looked at ${head.inspected}.`];
  if (reply.root.length === 0 && reply.reason.length === 0) {
    lines.push('Nothing changed there.');
    return lines.join('\n');
  }
  lines.push(head.complete ? 'Complete as far as calls show.' : 'Incomplete:');
  for (const { doubt, text } of reply.reason.slice(0, 6)) {
    lines.push(`  ${doubt === 'full-suite' ? 'run the full suite: ' : ''}${text}`);
  }
  if (reply.reason.length > 6) lines.push(`  … ${reply.reason.length - 6} more reasons`);
  lines.push(...section('Touched:', reply.root.map(rootLine), reply.root.length, budget * 0.25));
  const tests = reply['affected-test'];
  lines.push(
    ...section(
      `Tests that would tell, most telling first (${head.tests}):`,
      tests.map(testLine),
      head.tests,
      budget * 0.3,
    ),
  );
  if (commands.length > 0) lines.push('Run:', ...commands.map((command) => `  ${command}`));
  const callers = reply.dependant.filter(({ test }) => !test);
  const production = head.callers - head.testCallers;
  const used = lines.join('\n').length;
  lines.push(
    ...section(
      `Callers: ${production} in the program, ${head.testCallers} in tests:`,
      callers.map(dependantLine),
      production,
      Math.max(300, budget - used),
    ),
  );
  if (head.callers === 0) lines.push(`${plural(0, 'caller')} known.`);
  return lines.join('\n');
}
