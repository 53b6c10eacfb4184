// What the plugin's hooks do in the real OpenCode binary: observation, freshness, auto-context, compaction.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { createOpencodeClient } from '@opencode-ai/sdk';
import { alive, until } from '../scratch.ts';
import { makeProject, runOpenCode, serveOpenCode } from './opencode.ts';
import { type Step, startModel } from './scripted-model.ts';
import { FILES, MODEL, SOURCES, served } from './served.ts';

const evaluates = (code: string): Step => ({ tools: [{ name: 'lisp_eval', args: { code } }] });
const textOf = (message: { content: unknown }) => JSON.stringify(message.content);

/** Each of REQUESTS begins with the bytes of the one before, tools and system prompt included. */
function assertGrowing(requests: { messages: unknown[]; tools?: unknown }[]): void {
  assert.ok(requests.length > 1);
  for (const [index, body] of requests.slice(1).entries()) {
    const before = requests[index]!;
    const bytes = (messages: unknown[]) => JSON.stringify(messages).slice(0, -1);
    assert.ok(bytes(body.messages).startsWith(bytes(before.messages)), `request ${index + 1} begins as the one before`);
    assert.equal(JSON.stringify(body.tools), JSON.stringify(before.tools));
  }
}

test('a session is observed, its edits are in the index, and its compaction is given the facts once', async (t) => {
  const { model, client, id, say } = await served(t, [
    evaluates('(index-totals)'),
    { text: 'Ready.' },
    {
      tools: [{ name: 'write', args: { filePath: 'src/fresh.py', content: 'def freshly_written():\n    return 1\n' } }],
    },
    {
      tools: [
        {
          name: 'bash',
          args: { command: 'printf "def made_by_shell():\\n    return 2\\n" > src/shell.py', description: 'x' },
        },
      ],
    },
    evaluates('(list (length (definitions "freshly_written")) (length (definitions "made_by_shell")))'),
    {
      tools: [
        {
          name: 'edit',
          args: { filePath: 'src/routes.py', oldString: 'handle(path)', newString: 'handle(path.strip())' },
        },
      ],
    },
    { tools: [{ name: 'bash', args: { command: 'echo token=ghp_4fT9kLm2QwXz7RbN1vCy; exit 3', description: 'x' } }] },
    evaluates(
      '(list (mapcar #\'fifth (observations :request)) (edited-symbols) (observations :failure) (recall "strip route"))',
    ),
    { text: 'We chose to strip paths because clients send blanks. Done.' },
    evaluates("(mapcar #'fifth (observations :decision))"),
    { text: 'LATER' },
    { text: 'LAST' },
  ]);
  await say('please get ready for the work');
  await say('strip the path before the route is matched');
  const answers = model.toolAnswers();
  assert.match(
    answers[3]!,
    /=> \(1 1\)/,
    'a file written and one made by the shell are indexed before the next answer',
  );
  const seen = answers.at(-1)!;
  assert.match(seen, /strip the path before the route is matched/);
  assert.match(seen, /"src\/fresh\.py" "add" "freshly_written/);
  assert.match(seen, /match_route: \+1 -1 \| was: return handle\(path\) \| now: return handle\(path\.strip\(\)\)/);
  assert.match(seen, /exit 3/);
  assert.doesNotMatch(seen, /ghp_4fT9/, 'secrets are not remembered');
  await say('what was decided so far');
  assert.match(model.toolAnswers().at(-1)!, /We chose to strip paths because clients send blanks/);

  assertGrowing(model.main());

  assert.equal((await client.session.summarize({ path: { id }, body: MODEL })).data, true);
  const compaction = model.asked.find(({ kind }) => kind === 'compaction')!;
  const text = JSON.stringify(compaction.body.messages);
  assert.equal(text.split('Facts recorded in this session').length, 2, 'the facts are there once');
  assert.match(text, /strip paths because clients send blanks/);
  assert.match(text, /src\/fresh\.py \(add\): freshly_written/);
  await say('go on with the work now');
  assert.doesNotMatch(
    JSON.stringify(model.main().at(-1)!.messages),
    /Facts recorded in this session/,
    'and not again after',
  );
});

/** Lists are waited for, however busy the machine is. */
const PATIENT = { OPL_AUTO_CONTEXT_MS: '20000' };

const usersOf = (body: { messages: { role: string; content: unknown }[] }) =>
  body.messages.filter(({ role }) => role === 'user').map((message) => textOf(message as { content: unknown }));

test('a turn gets a list of likely places at its end, nothing twice, and nothing where nothing is asked or known', async (t) => {
  const quiet = ['continue', 'ja', 'ok thanks', 'yes', 'tell me a joke about pelicans and trumpets'];
  const { model, say } = await served(
    t,
    [evaluates('(index-totals)'), { text: 'Ready.' }, ...Array.from({ length: 8 }, () => ({ text: 'A' }))],
    { env: PATIENT },
  );
  await say('please get ready for the work');
  await say('where does match_route call its handler');
  for (const text of quiet) await say(text);
  await say('where does match_route call its handler now');
  const users = usersOf(model.main().at(-1)!);
  assert.match(users[1]!, /where does match_route call its handler.*<likely-places.*src\/routes\.py/s);
  for (const [index, text] of quiet.entries()) {
    assert.ok(users[2 + index]!.includes(text));
    assert.doesNotMatch(users[2 + index]!, /likely-places/, text);
  }
  assert.doesNotMatch(users.at(-1)!, /routes\.py/, 'what was listed is not listed again');
  assertGrowing(model.main());
});

test('the list is stored with its turn: an OpenCode started anew sends the same bytes', async (t) => {
  const { model, say, id, project, server } = await served(
    t,
    [evaluates('(index-totals)'), { text: 'Ready.' }, { text: 'A' }, { text: 'B' }],
    { env: PATIENT },
  );
  await say('please get ready for the work');
  await say('where does match_route call its handler');
  assert.match(usersOf(model.main().at(-1)!).at(-1)!, /<likely-places/);
  process.kill(server.pid, 'SIGKILL');
  const again = createOpencodeClient({ baseUrl: (await serveOpenCode(t, project)).url, directory: project.folder });
  const parts = [{ type: 'text' as const, text: 'tell me a joke about pelicans and trumpets' }];
  const answer = await again.session.prompt({ path: { id }, body: { model: MODEL, parts } });
  assert.ok(!answer.error, JSON.stringify(answer.error));
  assertGrowing(model.main());
});

test('a list that comes too late for its turn stands after the first look at the repository, once', async (t) => {
  const looks: Step = { tools: [{ name: 'bash', args: { command: 'ls', description: 'x' } }] };
  const { model, say } = await served(
    t,
    [
      // The first index, and so the list, waits for this file; the evaluation waits for the index.
      { tools: [{ name: 'write', args: { filePath: 'begin', content: 'now' } }] },
      evaluates('(index-totals)'),
      ...Array.from({ length: 4 }, () => evaluates('(sleep 1)')),
      looks,
      looks,
      { text: 'A' },
    ],
    { env: { OPL_AUTO_CONTEXT_MS: '0', OPL_CTAGS: path.join(import.meta.dirname, 'false/waits-to-begin') } },
  );
  await say('where does match_route call its handler');
  const last = model.main().at(-1)!;
  assert.doesNotMatch(usersOf(last)[0]!, /likely-places/);
  const answers = model.toolAnswers();
  assert.match(answers[6]!, /\n\n<likely-places.*src\/routes\.py/s);
  assert.equal(JSON.stringify(last).split('<likely-places').length, 2);
  assertGrowing(model.main());
});

test('what the edit tool and the shell changed is seen by the next repo_context', async (t) => {
  const asks: Step = { tools: [{ name: 'repo_context', args: { problem: 'quantize_signal and its dithering' } }] };
  const { model, say } = await served(t, [
    asks,
    {
      tools: [
        {
          name: 'edit',
          args: { filePath: 'src/other.py', oldString: 'def unrelated', newString: 'def quantize_signal' },
        },
      ],
    },
    asks,
    {
      tools: [
        {
          name: 'bash',
          args: {
            command:
              "sed -i 's/unrelated\\|quantize_signal/quantize_signal_twice/' src/other.py && printf 'def dithering():\\n    return 1\\n' > src/late.py",
            description: 'x',
          },
        },
      ],
    },
    asks,
    { text: 'Seen.' },
  ]);
  await say('please look at the signal code');
  const answers = model.toolAnswers();
  assert.doesNotMatch(answers[0]!, /quantize_signal.*:1|src\/late\.py/);
  assert.match(answers[2]!, /src\/other\.py/);
  assert.match(answers[2]!, /quantize_signal/);
  assert.match(answers[4]!, /src\/late\.py/);
  assert.match(answers[4]!, /quantize_signal_twice/);
});

test('OPL_AUTO_CONTEXT=0 turns the list off', async (t) => {
  const { model, say } = await served(t, [evaluates('(index-totals)'), { text: 'Ready.' }, { text: 'A' }], {
    env: { OPL_AUTO_CONTEXT: '0' },
  });
  await say('please get ready for the work');
  await say('where does match_route call its handler');
  assert.doesNotMatch(JSON.stringify(model.main()), /likely-places/);
});

test('the note and the skill are offered, the note the same in every request', async (t) => {
  const { model, say } = await served(t, [{ text: 'A' }, { text: 'B' }]);
  await say('hello there my friend');
  await say('and how are you today');
  const systems = model
    .main()
    .map(({ messages }) => JSON.stringify(messages.filter(({ role }: { role: string }) => role === 'system')));
  assert.match(systems[0]!, /This repository is indexed/);
  assert.match(systems[0]!, /<name>code-intelligence<\/name>/);
  assert.equal(systems[1], systems[0]);
});

test('a sidecar that is killed leaves the session unharmed, and is there again', async (t) => {
  const { model, say } = await served(t, [
    evaluates('(sb-posix:getpid)'),
    { text: 'A' },
    { tools: [{ name: 'write', args: { filePath: 'a.py', content: 'def one():\n    return 1\n' } }] },
    evaluates("(list (mapcar #'fifth (observations :request)) (edited-symbols))"),
    { text: 'B' },
  ]);
  await say('what is your number please');
  const pid = Number(/=> (\d+)/.exec(model.toolAnswers()[0]!)![1]);
  process.kill(pid, 'SIGKILL');
  await until('the sidecar is gone', () => !alive(pid), 5000);
  await say('write another file for me');
  const last = model.toolAnswers().at(-1)!;
  assert.match(last, /what is your number please/, 'what was observed before is read again from the journal');
  assert.match(last, /"a\.py" "add"/);
});

test('a sidecar that never greets leaves the session unharmed', async (t) => {
  const { model, project } = await (async () => {
    const model = await startModel([
      { tools: [{ name: 'write', args: { filePath: 'a.py', content: 'x = 1\n' } }] },
      { text: 'WENT ON' },
    ]);
    t.after(() => model.close());
    const files = {
      ...FILES,
      'silent.sh': '#!/bin/sh\n[ "$1" = --version ] && { echo "SBCL 2.2.9"; exit; }\nexec sleep 600\n',
    };
    const project = makeProject(t, { modelUrl: model.url, files, plugins: SOURCES, env: { OPL_SBCL: './silent.sh' } });
    return { model, project };
  })();
  const { code, stdout, stderr } = await runOpenCode(project, 'please write a file for me');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /WENT ON/);
  assert.equal(model.main().length, 2);
});
