// What the facts of a session say in the real OpenCode binary: of its subagents, of other sessions beside it, of callers not looked at, and after a compaction.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { ScriptedModel, Step } from './scripted-model.ts';
import { FILES, MODEL, served } from './served.ts';

const evaluates = (code: string): Step => ({ tools: [{ name: 'lisp_eval', args: { code } }] });
const edits = (filePath: string, oldString: string, newString: string): Step => ({
  tools: [{ name: 'edit', args: { filePath, oldString, newString } }],
});
const writes = (filePath: string, content: string): Step => ({
  tools: [{ name: 'write', args: { filePath, content } }],
});
const done: Step = { text: 'Done.' };

const DOCUMENT = (mark: string) =>
  `# Goal\n${mark} finish the router.\n${'Next steps: match empty paths, then the documentation. '.repeat(8)}`;

/** The facts that the last compaction was given. */
function factsOf(model: ScriptedModel): string {
  const body = model.asked.findLast(({ kind }) => kind === 'compaction')!.body;
  const text = body.messages
    .map(({ content }: { content: unknown }) =>
      Array.isArray(content) ? content.map((part) => part.text ?? '').join('\n') : String(content),
    )
    .join('\n');
  return text.slice(text.lastIndexOf('Facts recorded in this session'));
}

test("a subagent's memory is its own; what it did to the tree is among the facts of its session, and callers not looked at are open", async (t) => {
  const task = { description: 'x', prompt: 'look into PELICANS for me', subagent_type: 'general' };
  const { model, client, id, say } = await served(t, [
    evaluates('(index-totals)'),
    done,
    { tools: [{ name: 'task', args: task }] },
    edits('src/handler.py', '"handled "', '"done with "'),
    evaluates("(list :child (mapcar #'fifth (observations :request)) (edited-symbols))"),
    { text: 'We chose the shorter word because it is read aloud.' },
    evaluates("(list :parent (mapcar #'fifth (observations :request)) (edited-symbols))"),
    done,
  ]);
  await say('please get ready for the work');
  await say('have someone shorten what the handler says');
  const answers = model.main().flatMap(({ messages }) => messages.map((one: object) => JSON.stringify(one)));
  const child = answers.find((text) => text.includes('(:CHILD'))!;
  assert.match(child, /PELICANS/);
  assert.match(child, /src\/handler\.py/);
  assert.doesNotMatch(child, /have someone shorten/);
  const parent = answers.find((text) => text.includes('(:PARENT'))!;
  assert.match(parent, /have someone shorten/);
  assert.doesNotMatch(parent, /PELICANS|handler\.py/);
  await client.session.summarize({ path: { id }, body: MODEL });
  const facts = factsOf(model);
  assert.match(facts, /src\/handler\.py: handle: \+1 -1/);
  assert.match(facts, /shorter word because it is read aloud/);
  assert.match(facts, /handle \(src\/handler\.py\) is called from src\/routes\.py:5/);
  assert.doesNotMatch(facts, /PELICANS/);
});

test('two sessions of a project side by side: each asks for its own memory and writes a document of its own', async (t) => {
  const { model, project, client, id, say } = await served(t, [evaluates('(index-totals)'), done]);
  const { data } = await client.session.create({ body: { title: 'other' } });
  const other = data!.id;
  const sayThere = (text: string) =>
    client.session.prompt({ path: { id: other }, body: { model: MODEL, parts: [{ type: 'text', text }] } });
  await say('please get ready for the work');
  model.push(writes('src/mine.py', 'def mine():\n    return 1\n'), evaluates('(remember "mine is FIRST")'), done);
  await say('write a file of mine');
  model.push(
    writes('src/theirs.py', 'def theirs():\n    return 1\n'),
    evaluates('(remember "theirs is SECOND")'),
    done,
  );
  await sayThere('write a file of theirs');
  const asks = evaluates("(list (mapcar #'first (edited-symbols)) (mapcar #'fifth (observations :note)))");
  model.push(asks, done);
  await say('what was done in this session');
  assert.match(model.toolAnswers().at(-1)!, /=> \(\("src\/mine\.py"\) \("mine is FIRST"\)\)/);
  const handover = (session: string) =>
    client.session.command({
      path: { id: session },
      body: { command: 'handover', arguments: '', model: 'scripted/model' },
    });
  const ownName = `HANDOVER-${other.slice(-6)}.md`;
  model.push(writes('HANDOVER.md', DOCUMENT('MINE')), done);
  await handover(id);
  model.push(writes(ownName, DOCUMENT('THEIRS')), done);
  await handover(other);
  assert.match(JSON.stringify(model.main().at(-1)!.messages), /THEIRS finish/);
  assert.match(readFileSync(path.join(project.folder, 'HANDOVER.md'), 'utf8'), /MINE/);
  assert.ok(existsSync(path.join(project.folder, ownName)));
  assert.equal(model.asked.filter(({ kind }) => kind === 'compaction').length, 2);
});

test('after a compaction edits are seen, and a second handover speaks of the state as it is then', async (t) => {
  // Speaks as pytest does, and passes when the next part is there.
  const check = `test -f src/after.py && echo '=== test session starts ===
collected 1 item

tests/test_a.py . [100%]

=== 1 passed in 0.12s ===' && exit
echo '=== test session starts ===
collected 1 item

tests/test_a.py F [100%]

=== short test summary info ===
FAILED tests/test_a.py::test_a - assert 1 == 2
=== 1 failed in 0.12s ==='
exit 1
`;
  const runs: Step = { tools: [{ name: 'bash', args: { command: 'sh check.sh', description: 'x' } }] };
  const { model, project, client, id, say } = await served(
    t,
    [
      evaluates('(index-totals)'),
      runs,
      done,
      // The first document.
      writes('notes/STATE-handover.md', DOCUMENT('ONE')),
      done,
      writes('src/after.py', 'def written_after():\n    return 1\n'),
      evaluates('(length (definitions "written_after"))'),
      runs,
      done,
      writes('notes/STATE-handover.md', DOCUMENT('TWO')),
      done,
      done,
    ],
    { env: { OC_CTX_HANDOVER_HANDOFF_FILE: 'notes/STATE-handover.md' }, files: { ...FILES, 'check.sh': check } },
  );
  const handover = () =>
    client.session.command({ path: { id }, body: { command: 'handover', arguments: '', model: 'scripted/model' } });
  await say('please run the tests');
  await handover();
  const request = () => {
    const text = model
      .main()
      .map(({ messages }) => JSON.stringify(messages))
      .findLast((text) => text.includes('<handover-request>'))!;
    return text.slice(text.lastIndexOf('<handover-request>'), text.lastIndexOf('</handover-request>'));
  };
  assert.match(request(), /notes\/STATE-handover\.md/);
  assert.match(request(), /Failing tests:\\n- tests\/test_a\.py::test_a/);
  await say('write the next part of it');
  assert.match(model.toolAnswers()[1]!, /=> 1/, 'what is written after the compaction is in the index');
  await handover();
  assert.doesNotMatch(request(), /Failing tests/);
  assert.match(request(), /Fixed tests/);
  assert.doesNotMatch(
    request(),
    /Decisions:|STATE-handover\.md \(add\)|- Hand this session/,
    'what was asked for the first is no work',
  );
  assert.match(request(), /older document was moved to/);
  assert.match(JSON.stringify(model.main().at(-1)!.messages), /TWO finish/);
  assert.deepEqual(readdirSync(path.join(project.folder, 'notes')), ['STATE-handover.md']);
  await say('and what is next for the router');
  assert.doesNotMatch(JSON.stringify(model.main().at(-1)!.messages), /ONE finish/);
});
