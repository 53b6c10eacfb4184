// Handover in the real OpenCode binary: at the threshold, by command, with an agent that does not listen, and after a kill.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createOpencodeClient } from '@opencode-ai/sdk';
import { serveOpenCode } from './opencode.ts';
import type { Step } from './scripted-model.ts';
import { MODEL, served } from './served.ts';

/** The smallest context in which a document of 4,096 tokens fits beside OpenCode's own prompt. */
const SMALL = { context: 30_000, output: 2000 };

/** Over the point where a document is asked for, under the one where OpenCode compacts by itself. */
const FULL = 22_000;

const DOCUMENT = `# Goal\nMARKED finish the router.\n${'Next steps: match empty paths, then the documentation. '.repeat(8)}`;

const reads = (promptTokens: number): Step => ({
  tools: [{ name: 'read', args: { filePath: 'src/routes.py' } }],
  promptTokens,
});
const writes: Step = {
  tools: [{ name: 'write', args: { filePath: 'HANDOVER.md', content: DOCUMENT } }],
  promptTokens: FULL,
};

const requestsIn = (body: unknown) => JSON.stringify(body).split('<handover-request>').length - 1;

test('at the threshold the document is written, the session compacted in place, and goes on from it', async (t) => {
  const { model, project, say } = await served(
    t,
    [reads(FULL), reads(FULL), writes, { text: 'CONTINUED' }, { text: 'LATER' }],
    {
      limit: SMALL,
      env: { OC_CTX_HANDOVER_LOG_FILE: 'handover.log' },
    },
  );
  await say('please look at the router code');
  const main = model.main();
  assert.equal(requestsIn(main[0]), 0);
  assert.match(
    JSON.stringify(main[1].messages.at(-1)),
    /The context is 7\d % full.*HANDOVER\.md.*<!-- handover of ses_/s,
  );
  assert.match(JSON.stringify(main[2].messages.at(-1)), /Reminder 1 of 3/);
  assert.deepEqual(
    main[2].messages.slice(0, main[1].messages.length - 1),
    main[1].messages.slice(0, -1),
    'what is asked stands at the end alone',
  );
  const compactions = model.asked.filter(({ kind }) => kind === 'compaction');
  assert.equal(compactions.length, 1);
  assert.match(JSON.stringify(compactions[0]!.body), /MARKED finish the router/);
  await say('and what is next for the router');
  const last = JSON.stringify(model.main().at(-1)!.messages);
  assert.match(last, /go on from it.*MARKED finish the router/s);
  assert.doesNotMatch(last, /please look at the router code/, 'the conversation before is gone');
  assert.equal(requestsIn(model.main().at(-1)!), 0, 'nothing more is asked for');
  const log = readFileSync(path.join(project.folder, 'handover.log'), 'utf8');
  assert.match(log, /usage 22\d\d\d of 30000 tokens \(7\d\.\d %\) \[measured\]/);
});

test('/handover asks once, with the note, and the session goes on from the document', async (t) => {
  const { model, client, id, say } = await served(t, [
    { text: 'Hello.' },
    writes,
    { text: 'CONTINUED' },
    { text: 'LATER' },
  ]);
  await say('hello there my friend');
  const { error } = await client.session.command({
    path: { id },
    body: { command: 'handover', arguments: 'mind the tests', model: 'scripted/model' },
  });
  assert.ok(!error, JSON.stringify(error));
  const asked = JSON.stringify(model.main()[1]);
  assert.match(asked, /The user asks for a handover.*mind the tests/s);
  assert.equal(requestsIn(model.main()[1]), 1);
  assert.equal(model.asked.filter(({ kind }) => kind === 'compaction').length, 1);
  await say('and what is next for the router');
  assert.match(JSON.stringify(model.main().at(-1)!.messages), /MARKED finish the router/);
});

test('an agent that does not listen is reminded three times, then there is one regular compaction and no loop', async (t) => {
  const { model, say } = await served(
    t,
    [...Array.from({ length: 9 }, () => reads(FULL)), { text: 'END', promptTokens: FULL }],
    { limit: SMALL },
  );
  await say('please look at the router code');
  await say('and look once more at the code');
  const texts = model.main().map((body) => JSON.stringify(body.messages.at(-1)));
  assert.equal(texts.filter((text) => /Write the handover document/.test(text)).length, 1);
  assert.equal(texts.filter((text) => /Reminder \d of 3/.test(text)).length, 3);
  assert.equal(model.asked.filter(({ kind }) => kind === 'compaction').length, 1);
});

test('where OpenCode may not compact, nothing is compacted here', async (t) => {
  const { model, say } = await served(t, [reads(FULL), { text: 'END', promptTokens: FULL }], {
    limit: SMALL,
    configuration: { compaction: { auto: false } },
  });
  await say('please look at the router code');
  assert.equal(model.asked.filter(({ kind }) => kind === 'compaction').length, 0);
  assert.equal(requestsIn(model.main()), 0);
});

test('OC_CTX_HANDOVER_DISABLED turns it off', async (t) => {
  const { model, say } = await served(t, [reads(FULL), { text: 'END', promptTokens: FULL }], {
    limit: SMALL,
    env: { OC_CTX_HANDOVER_DISABLED: '1' },
  });
  await say('please look at the router code');
  assert.equal(requestsIn(model.main()), 0);
});

test('the next session hands over one that was killed, and an older document is archived', async (t) => {
  const first = await served(t, [
    {
      tools: [{ name: 'write', args: { filePath: 'src/fresh.py', content: 'def freshly_written():\n    return 1\n' } }],
    },
    { tools: [{ name: 'write', args: { filePath: 'HANDOVER.md', content: `older ${DOCUMENT}` } }] },
    { tools: [{ name: 'lisp_eval', args: { code: '(observations)' } }] },
    { text: 'We chose queues because the router blocks.' },
    { text: 'Hello.' },
    writes,
    { text: 'CONTINUED' },
  ]);
  await first.say('make a fresh module for the router');
  process.kill(first.server.pid, 'SIGKILL');
  const server = await serveOpenCode(t, first.project);
  const client = createOpencodeClient({ baseUrl: server.url, directory: first.project.folder });
  const { data } = await client.session.create({ body: { title: 'fixed' } });
  await client.session.prompt({
    path: { id: data!.id },
    body: { model: MODEL, parts: [{ type: 'text', text: 'hello' }] },
  });
  assert.match(
    JSON.stringify(first.model.main().at(-1)!.messages),
    /HANDOVER\.md holds a handover document of an earlier session, written \d+ min ago/,
  );
  await client.session.command({
    path: { id: data!.id },
    body: { command: 'handover', arguments: '', model: 'scripted/model' },
  });
  const asked = JSON.stringify(first.model.main().find((body) => requestsIn(body) === 1));
  assert.match(asked, /Of the session before this one/);
  assert.match(asked, /src\/fresh\.py \(add\): freshly_written/);
  const archived = /An older document was moved to ([^\s"\\]+\.md)/.exec(asked)?.[1];
  assert.ok(archived && existsSync(archived));
});
