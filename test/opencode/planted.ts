// A session into which facts are planted: edits, decisions, failures, requests, among turns that say nothing. Afterwards it is asked which of them are in the
// summary of its compaction, in the request for a handover, and found by recall; with a clean end, and after a kill -9.

import { createOpencodeClient } from '@opencode-ai/sdk';
import { estimateTokens } from '../../plugin/hooks/usage.ts';
import { type Project, serveOpenCode } from './opencode.ts';
import type { ScriptedModel, Step } from './scripted-model.ts';
import { MODEL, served } from './served.ts';

interface Fact {
  kind: 'edit' | 'decision' | 'failure' | 'request';
  /** What must be said of it: in the summary, and in what recall finds. */
  needle: string;
  /** The words by which it is looked for. */
  query: string;
  /** The user's turn. */
  say: string;
  steps: Step[];
}

interface Turn {
  say: string;
  steps: Step[];
}

const NAMES = ['invoice', 'courier', 'ledger', 'sensor', 'tariff', 'voucher', 'webhook', 'payroll'];

/** One module a name, with a function to be edited and one beside it. */
export const PLANTED_FILES = Object.fromEntries(
  NAMES.map((name) => [
    `src/${name}.py`,
    `def load_${name}(key):\n    return key\n\n\ndef compute_${name}(value):\n    return value * 2\n`,
  ]),
);

const done: Step = { text: 'Done.' };
const bash = (command: string): Step => ({ tools: [{ name: 'bash', args: { command, description: 'x' } }] });

const edits: Fact[] = NAMES.map((name, number) => {
  const filePath = `src/${name}.py`;
  const tools = [
    // Three ways to change a file: the edit tool, the write tool, a shell command.
    { name: 'edit', args: { filePath, oldString: 'value * 2', newString: `value * 2 + fee_${name}` } },
    {
      name: 'write',
      args: {
        filePath,
        content: `def load_${name}(key):\n    return key\n\n\ndef compute_${name}(value):\n    return value\n`,
      },
    },
    { name: 'bash', args: { command: `sed -i 's/value \\* 2/value \\* 3/' ${filePath}`, description: 'x' } },
  ];
  const needle = number % 3 === 2 ? `src/${name}.py` : `compute_${name}`;
  return {
    kind: 'edit',
    needle,
    query: `compute ${name}`,
    say: 'continue',
    steps: [{ tools: [tools[number % 3]!] }, done],
  };
});

const said = (text: string, needle: string, query: string): Fact => ({
  kind: 'decision',
  needle,
  query,
  say: text,
  steps: [done],
});
const answered = (text: string, needle: string, query: string): Fact => ({
  kind: 'decision',
  needle,
  query,
  say: 'go on',
  steps: [{ text: `I looked at it. ${text} That is done.` }],
});

const decisions: Fact[] = [
  said('We chose RabbitMQ for the queue because Kafka is too heavy to run here.', 'RabbitMQ', 'queue kafka heavy'),
  answered('We decided to keep money as integer cents, since floats lose pennies.', 'integer cents', 'money floats'),
  said('Never use the global logger, pass one in instead of importing it.', 'global logger', 'logger importing'),
  answered(
    "I'll use exponential backoff rather than fixed pauses for retries.",
    'exponential backoff',
    'retries pauses',
  ),
  said('We agreed that dates are stored in UTC only.', 'UTC only', 'dates stored'),
  answered(
    'Going with snapshot isolation because serializable was too slow.',
    'snapshot isolation',
    'serializable slow',
  ),
  said('The plan is to split the importer in two passes first.', 'two passes', 'importer split'),
  answered('We settled on argon2 for hashing instead of bcrypt.', 'argon2', 'hashing bcrypt'),
];

const failed = (needle: string, query: string, step: Step): Fact => ({
  kind: 'failure',
  needle,
  query,
  say: 'next',
  steps: [step, { text: 'That failed.' }],
});

const pytest = (test: string, why: string) =>
  bash(
    `printf '%s\\n' '============================= test session starts ==============================' 'collected 1 item' '' 'tests/test_${test}.py F [100%]' '' '=========================== short test summary info ============================' 'FAILED tests/test_${test}.py::test_${test} - AssertionError: ${why}' '============================== 1 failed in 0.12s ==============================='; exit 1`,
  );

const failures: Fact[] = [
  failed(
    'ECONNREFUSED 127.0.0.1:5672',
    'broker econnrefused',
    bash('echo "broker: connect ECONNREFUSED 127.0.0.1:5672" >&2; exit 7'),
  ),
  failed('test_rounding', 'rounding assertion', pytest('rounding', 'assert 101 == 100')),
  failed('src/absent.py', 'absent file', { tools: [{ name: 'read', args: { filePath: 'src/absent.py' } }] }),
  failed(
    'undefined symbol: zlib_deflate',
    'linker zlib',
    bash('echo "linker: undefined symbol: zlib_deflate"; exit 1'),
  ),
  failed('test_timezone', 'timezone assertion', pytest('timezone', 'assert +02:00 == +01:00')),
  failed('Could not find oldString', 'edit oldstring', {
    tools: [{ name: 'edit', args: { filePath: 'src/sensor.py', oldString: 'no such text', newString: 'x' } }],
  }),
  failed('disk quota exceeded', 'quota upload', bash('echo "upload: disk quota exceeded"; exit 122')),
];

const asked = (text: string, needle: string, query: string): Fact => ({
  kind: 'request',
  needle,
  query,
  say: text,
  steps: [{ text: 'I see.' }],
});

const requests: Fact[] = [
  asked('please add rate limiting to the upload endpoint', 'rate limiting', 'upload endpoint limit'),
  asked('the CSV export drops the last row, find out why', 'CSV export', 'export last row'),
  asked('make the nightly job restartable', 'nightly job', 'job restartable'),
  asked('rename the customer field to client everywhere', 'customer field', 'rename customer'),
  asked('the docs of the tariff module are out of date', 'docs of the tariff', 'documentation tariff module docs'),
  asked('show the currency next to each amount', 'the currency', 'currency amount'),
  asked('can you speed up the search page, it takes 4 seconds', 'search page', 'speed search page'),
];

/** The first EACH facts of every kind, one kind after another in turn. */
function factsOf(each: number): Fact[] {
  const kinds = [edits, decisions, failures, requests].map((all) => all.slice(0, each));
  return Array.from({ length: each }, (_, index) => kinds.flatMap((all) => all[index] ?? [])).flat();
}

/** Turns without a fact: looking around, and words that ask for nothing. */
function fillers(count: number): Turn[] {
  const reads = (name: string): Step => ({ tools: [{ name: 'read', args: { filePath: `src/${name}.py` } }] });
  return Array.from({ length: count }, (_, index) => {
    const name = NAMES[index % NAMES.length]!;
    if (index % 3 === 0) return { say: 'yes', steps: [done] };
    if (index % 3 === 1) return { say: 'ok thanks', steps: [reads(name), done] };
    return { say: `how does load_${name} get its key`, steps: [reads(name), { text: 'It is handed in.' }] };
  });
}

/** FACTS among fillers, TURNS in all; the first turn waits for the index. */
function turnsOf(facts: Fact[], turns: number): Turn[] {
  const others = fillers(turns - facts.length - 1);
  const first: Turn = {
    say: 'please get ready for the work',
    steps: [{ tools: [{ name: 'lisp_eval', args: { code: '(index-totals)' } }] }, done],
  };
  const all: Turn[] = [first];
  let taken = 0;
  for (const [index, fact] of facts.entries()) {
    const due = Math.floor((others.length * (index + 1)) / facts.length);
    all.push(fact, ...others.slice(taken, due));
    taken = due;
  }
  return all;
}

/** Lisp that says, for each of FACTS, whether recall finds it among its first five. */
function recallCode(facts: Fact[]): string {
  const rows = facts.map(({ query, needle }) => `(${JSON.stringify(query)} ${JSON.stringify(needle)})`).join(' ');
  return `(loop for (query needle) in '(${rows}) collect (if (search needle (prin1-to-string (recall query 5)) :test #'char-equal) 1 0))`;
}

export interface Found {
  facts: number;
  turns: number;
  summary: number;
  /** Tokens of the summary. */
  tokens: number;
  handover: number;
  recall: number;
  /** What was not in the summary, not in the handover, not recalled. */
  missing: string[];
}

const textsOf = (body: { messages: { content: unknown }[] }) =>
  body.messages
    .flatMap(({ content }) =>
      Array.isArray(content) ? content.map((part) => part.text ?? '') : [String(content ?? '')],
    )
    .join('\n');

function between(text: string, from: string, to: string): string {
  const start = text.lastIndexOf(from);
  const end = start < 0 ? -1 : text.indexOf(to, start);
  return start < 0 ? '' : text.slice(start, end < 0 ? undefined : end);
}

type Client = ReturnType<typeof createOpencodeClient>;

async function summaryOf(model: ScriptedModel, client: Client, id: string): Promise<string> {
  await client.session.summarize({ path: { id }, body: MODEL });
  const body = model.asked.findLast(({ kind }) => kind === 'compaction')?.body;
  return body ? between(textsOf(body), 'Facts recorded in this session', 'Keep these facts') : '';
}

async function handoverOf(model: ScriptedModel, client: Client, id: string): Promise<string> {
  model.push({ text: 'I will not write it now.' });
  await client.session.command({ path: { id }, body: { command: 'handover', arguments: '', model: 'scripted/model' } });
  return between(textsOf(model.main().at(-1)), '<handover-request>', '</handover-request>');
}

async function recallOf(model: ScriptedModel, client: Client, id: string, facts: Fact[]): Promise<boolean[]> {
  model.push({ tools: [{ name: 'lisp_eval', args: { code: recallCode(facts) } }] }, done);
  await client.session.prompt({ path: { id }, body: { model: MODEL, parts: [{ type: 'text', text: 'ok' }] } });
  const answer = /=> \(([01 \n]+)\)/.exec(model.toolAnswers().at(-1) ?? '')?.[1] ?? '';
  return answer
    .trim()
    .split(/\s+/)
    .map((digit) => digit === '1');
}

async function again(t: Parameters<typeof served>[0], project: Project): Promise<{ client: Client; id: string }> {
  const server = await serveOpenCode(t as never, project);
  const client = createOpencodeClient({ baseUrl: server.url, directory: project.folder });
  const { data } = await client.session.create({ body: { title: 'fixed' } });
  return { client, id: data!.id };
}

/** Plants EACH facts of every kind into a session of TURNS turns and says what became of them; KILLED: the session ends by kill -9. */
export async function plantFacts(
  t: Parameters<typeof served>[0],
  { each, turns, killed }: { each: number; turns: number; killed: boolean },
): Promise<Found> {
  const facts = factsOf(each);
  const all = turnsOf(facts, turns);
  const steps = all.flatMap((turn) => turn.steps);
  const first = await served(t, steps, { files: PLANTED_FILES });
  for (const turn of all) await first.say(turn.say);
  if (killed) process.kill(first.server.pid, 'SIGKILL');
  const next = killed ? await again(t, first.project) : first;
  const recalled = await recallOf(first.model, next.client, next.id, facts);
  // What was killed is handed over by the session after it, and can be summed up itself when it is taken up again.
  const handover = killed ? await handoverOf(first.model, next.client, next.id) : '';
  const summary = await summaryOf(first.model, next.client, first.id);
  const handed = killed ? handover : await handoverOf(first.model, next.client, first.id);
  const holds = (text: string, { needle }: Fact) => text.toLowerCase().includes(needle.toLowerCase());
  return {
    facts: facts.length,
    turns: all.length,
    summary: facts.filter((fact) => holds(summary, fact)).length,
    tokens: estimateTokens(summary),
    handover: facts.filter((fact) => holds(handed, fact)).length,
    recall: recalled.filter(Boolean).length,
    missing: facts.flatMap((fact, index) => [
      ...(holds(summary, fact) ? [] : [`summary: ${fact.needle}`]),
      ...(holds(handed, fact) ? [] : [`handover: ${fact.needle}`]),
      ...(recalled[index] ? [] : [`recall: ${fact.needle}`]),
    ]),
  };
}
