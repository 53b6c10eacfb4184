// plugin/opencode.ts as hosts load it: OpenCode 1's server(), OpenCode 2's setup() against a stub of its contract, and the 1.18 that calls both.

import assert from 'node:assert/strict';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { composeHooks } from '../../plugin/hooks/compose.ts';
import { createHost, sessionRoot } from '../../plugin/host.ts';
import entry from '../../plugin/opencode.ts';
import { scratchFolder } from '../scratch.ts';

// No test here is about the sidecar: with no sbcl none is started.
process.env.OPL_SBCL = '/nowhere/sbcl';

const NAMES = ['repo_context', 'lisp_eval', 'lisp_reset'];

async function serve(t: TestContext, input: object = {}) {
  const hooks = await entry.server({ directory: scratchFolder(t), worktree: '/', ...input } as never, {});
  t.after(() => hooks.dispose?.());
  return hooks;
}

const context = { abort: new AbortController().signal, sessionID: 's', ask: async () => {}, metadata: () => {} };

test('the entry has the shape of both versions', () => {
  assert.equal(entry.id, 'opencode-plugin-lisp');
  assert.equal(typeof entry.server, 'function');
  assert.equal(typeof entry.setup, 'function');
});

test('version 1: tools with descriptions and arguments, which answer even without sbcl', async (t) => {
  const { tool } = await serve(t);
  for (const name of NAMES) assert.ok(tool![name]!.description.length > 100, name);
  assert.deepEqual(Object.keys(tool!.repo_context!.args), ['problem', 'limit']);
  const answer = await tool!.lisp_eval!.execute({ code: '(+ 1 2)' }, context as never);
  assert.match((answer as { output: string }).output, /SBCL \(Common Lisp\) is missing/);
});

test('version 1: a strange input still gives hooks', async (t) => {
  const hooks = await entry.server(undefined as never, undefined);
  t.after(() => hooks.dispose?.());
  assert.ok(hooks.tool?.repo_context);
});

test('version 1: a refused permission reaches the host as it is, and nothing is evaluated', async (t) => {
  const { tool } = await serve(t);
  const refused = new Error('refused by a rule');
  const asked: unknown[] = [];
  const refusing = {
    ...context,
    async ask(request: unknown) {
      asked.push(request);
      throw refused;
    },
  };
  await assert.rejects(tool!.lisp_eval!.execute({ code: '(+ 1 2)' }, refusing as never), (error) => error === refused);
  assert.deepEqual(asked, [
    { permission: 'lisp_eval', patterns: ['(+ 1 2)'], always: ['*'], metadata: { code: '(+ 1 2)' } },
  ]);
});

test('version 1.18 calls setup with a context that has neither tools nor sessions: nothing happens', () => {
  for (const given of [undefined, {}, { tool: {} }, { tool: { transform() {} } }, { session: { hook() {} } }]) {
    assert.equal(entry.setup(given as never), undefined);
  }
});

test('version 2: tools are added with JSON schemas and answer', async (t) => {
  const tools = new Map<
    string,
    {
      description: string;
      input: { required: string[] };
      execute(sent: unknown, context: unknown): Promise<{ content: string }>;
    }
  >();
  const cleanup = entry.setup({
    location: { directory: scratchFolder(t) },
    session: { hook() {} },
    tool: {
      transform: (edit) => edit({ add: (tool) => void tools.set((tool as { name: string }).name, tool as never) }),
    },
  });
  t.after(() => cleanup?.());
  for (const name of NAMES) assert.ok(tools.has(name), name);
  assert.deepEqual(tools.get('repo_context')!.input.required, ['problem']);
  const { content } = await tools.get('lisp_reset')!.execute({}, {});
  assert.match(content, /SBCL \(Common Lisp\) is missing/);
});

test('the root is the worktree, except where that is the whole disk', () => {
  assert.equal(sessionRoot('/r/w', '/r/w/d'), '/r/w');
  assert.equal(sessionRoot('/', '/d'), '/d');
  assert.equal(sessionRoot(undefined, '/d'), '/d');
});

test('hooks of one name run in order, and one that throws is logged and passed over', async (t) => {
  const said: string[] = [];
  const host = createHost(scratchFolder(t), {}, (text) => said.push(text));
  const seen: string[] = [];
  const hooks = composeHooks(host, {} as never, [
    () => ({ event: async () => void seen.push('one') }),
    () => ({
      event: () => {
        throw new Error('broken hook');
      },
    }),
    () => {
      throw new Error('broken file');
    },
    () => ({ event: async () => void seen.push('two') }),
  ]);
  await hooks.event!({ event: {} as never });
  assert.deepEqual(seen, ['one', 'two']);
  assert.match(said.join('\n'), /broken file[\s\S]*hook event: Error: broken hook/);
});

test('the text of a tool is found wherever the plugin is loaded from', async () => {
  const { toolText } = await import('../../plugin/tool.ts');
  const here = process.cwd();
  process.chdir(path.parse(here).root);
  try {
    assert.match(toolText('repo_context'), /./);
  } finally {
    process.chdir(here);
  }
});
