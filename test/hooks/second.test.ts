// The hooks of OpenCode 2 against a stub of its contract, over the real sidecar.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { NOTE } from '../../plugin/hooks/system-note.ts';
import entry from '../../plugin/opencode.ts';
import { CACHE, scratchFolder, scratchRepository } from '../scratch.ts';

type Hook = (event: Record<string, unknown>) => Promise<void>;

process.env.XDG_CACHE_HOME = CACHE;

interface Added {
  name: string;
  execute(sent: unknown, context: unknown): Promise<{ content: string }>;
}

interface Command {
  name: string;
  execute(invocation: object): Promise<void>;
}

function start(t: { after(work: () => unknown): void }, folder: string) {
  const commands = new Map<string, Command>();
  const prompts: { sessionID: string; id: string; text: string }[] = [];
  const hooks = new Map<string, Hook>();
  const tools = new Map<string, Added>();
  const hook = (name: string, callback: Hook) => void hooks.set(name, callback);
  const cleanup = entry.setup({
    location: { directory: folder },
    session: { hook, prompt: async (input: never) => void prompts.push(input) },
    command: {
      transform: (edit: (editor: object) => void) => edit({ add: (one: Command) => commands.set(one.name, one) }),
    },
    tool: {
      hook,
      transform: (edit: (editor: object) => void) => edit({ add: (tool: Added) => tools.set(tool.name, tool) }),
    },
  } as never);
  t.after(() => cleanup?.());
  const evaluate = async (code: string) =>
    (await tools.get('lisp_eval')!.execute({ code }, { sessionID: 's' })).content;
  return { hooks, evaluate, commands, prompts };
}

test('prompts and calls are observed, compactions are given the facts, the note is there once', async (t) => {
  const folder = scratchRepository(t, { 'a.py': 'def one():\n    return 1\n' });
  const { hooks, evaluate } = start(t, folder);
  // A first start may compile the sidecar.
  await evaluate('(+ 1 2)');
  await hooks.get('prompt')!({ sessionID: 's', prompt: { text: 'We use tabs here. Please rename the function one.' } });
  writeFileSync(path.join(folder, 'b.py'), 'def two():\n    return 2\n');
  const write = { filePath: path.join(folder, 'b.py'), content: 'def two():\n    return 2\n' };
  const after = { tool: 'write', sessionID: 's', input: write, status: 'completed', result: { content: 'written' } };
  await hooks.get('execute.after')!(after);
  await hooks.get('execute.after')!({
    tool: 'read',
    sessionID: 's',
    input: {},
    status: 'error',
    error: { message: 'no such file' },
  });
  const event: Record<string, unknown> = {
    sessionID: 's',
    kind: 'compaction',
    system: [{ type: 'text', text: 'sum up' }],
  };
  await hooks.get('compaction')!(event);
  const facts = JSON.stringify(event.system);
  assert.match(facts, /We use tabs here/);
  assert.match(facts, /b\.py/);
  assert.match(facts, /no such file/);
  assert.match(await evaluate('(length (definitions "two"))'), /=> 1/);
  const context: { kind: string; system: { text: string }[] } = { kind: 'primary', system: [{ text: 'x' }] };
  await hooks.get('context')!(context as never);
  await hooks.get('context')!(context as never);
  assert.equal(context.system.filter(({ text }) => text === NOTE).length, 1);
});

test('/handover asks for a document, which is the summary of the next compaction, once', async (t) => {
  const folder = scratchRepository(t, { 'a.py': 'def one():\n    return 1\n' });
  const { hooks, evaluate, commands, prompts } = start(t, folder);
  await evaluate('(+ 1 2)');
  await hooks.get('prompt')!({ sessionID: 's', prompt: { text: 'We use tabs here. Please rename the function one.' } });
  await commands.get('handover')!.execute({
    sessionID: 's',
    messageID: 'msg_1',
    prompt: { text: 'mind the tests' },
    delivery: 'queue',
  });
  assert.equal(prompts.length, 1);
  assert.equal(prompts[0]!.id, 'msg_1');
  assert.match(prompts[0]!.text, /HANDOVER\.md.*mind the tests.*We use tabs here/s);
  const written = async () =>
    hooks.get('execute.after')!({
      tool: 'write',
      sessionID: 's',
      input: {},
      status: 'completed',
      result: { content: 'x' },
    });
  await written();
  writeFileSync(path.join(folder, 'HANDOVER.md'), `# Goal\nMARKED rename it. ${'Next steps. '.repeat(30)}`);
  await written();
  const compaction = async (): Promise<{ result?: { summary: string } }> => {
    const event: Record<string, unknown> = { sessionID: 's', kind: 'compaction', system: [] };
    await hooks.get('compaction')!(event);
    return event as { result?: { summary: string } };
  };
  assert.match((await compaction()).result!.summary, /go on from it.*MARKED rename it/s);
  assert.equal((await compaction()).result, undefined);
});

test('strange events and a missing sbcl throw nothing', async (t) => {
  const before = process.env.OPL_SBCL;
  process.env.OPL_SBCL = '/nowhere/sbcl';
  t.after(() => {
    if (before === undefined) delete process.env.OPL_SBCL;
    else process.env.OPL_SBCL = before;
  });
  const { hooks } = start(t, scratchFolder(t));
  for (const hook of hooks.values()) {
    for (const event of [
      {},
      undefined,
      { sessionID: 1, prompt: null },
      { sessionID: 's', prompt: { text: 'where is the router code' }, system: 7 },
    ])
      await hook(event as never);
  }
});
