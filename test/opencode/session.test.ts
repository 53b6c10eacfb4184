// Sessions of the real OpenCode binary with our built plugin and a model that follows a script. A plugin that fails to load is silent, so each test
// looks for what the plugin alone can have done.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOpencodeClient } from '@opencode-ai/sdk';
import { until } from '../scratch.ts';
import { makeProject, type ProjectOptions, runOpenCode, serveOpenCode } from './opencode.ts';
import { type ScriptedModel, type Step, startModel } from './scripted-model.ts';

const FILES = {
  'src/routes.ts':
    'import { handle } from "./handler.ts";\n\nexport function matchRoute(path: string): string {\n  return handle(path);\n}\n',
  'src/handler.ts': 'export function handle(path: string): string {\n  return "handled " + path;\n}\n',
  'test/routes.test.ts': 'import { matchRoute } from "../src/routes.ts";\n\nconsole.log(matchRoute("/"));\n',
};

type Ender = { after(work: () => unknown): void };

async function session(t: Ender, steps: Step[], options: Partial<ProjectOptions> = {}) {
  const model: ScriptedModel = await startModel(steps);
  t.after(() => model.close());
  const project = makeProject(t as never, { modelUrl: model.url, files: FILES, ...options });
  return { model, project };
}

const evaluates = (code: unknown): Step => ({ tools: [{ name: 'lisp_eval', args: { code } }] });

test('tools are offered with their descriptions, called, and their answers reach the model', async (t) => {
  const { model, project } = await session(t, [
    { tools: [{ name: 'repo_context', args: { problem: 'where are routes matched', limit: '5' } }] },
    evaluates('(defvar *seen* 41)'),
    evaluates('(values (+ *seen* 1) "text")'),
    { text: 'DONE' },
  ]);
  const { code, stdout, stderr } = await runOpenCode(project, 'go');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /DONE/);
  const offered = new Map(
    model.main()[0].tools.map((one: { function: { name: string } }) => [one.function.name, one.function]),
  );
  for (const name of ['repo_context', 'lisp_eval', 'lisp_reset']) assert.ok(offered.has(name), `${name} is offered`);
  const context = offered.get('repo_context') as {
    description: string;
    parameters: { properties: object; required: string[] };
  };
  assert.match(context.description, /files and symbols of this repository that a task is about/);
  assert.deepEqual(Object.keys(context.parameters.properties), ['problem', 'limit']);
  assert.deepEqual(context.parameters.required, ['problem']);
  const [files, , values] = model.toolAnswers();
  assert.match(files!, /src\/routes\.ts/);
  assert.match(values!, /=> 42 {2}\[integer/);
  assert.match(values!, /=> "text"/);
});

test('a plugin whose sbcl is missing leaves the session working and says what to type', async (t) => {
  const { model, project } = await session(
    t,
    [
      {
        tools: [
          { name: 'repo_context', args: { problem: 'routes' } },
          { name: 'lisp_reset', args: {} },
        ],
      },
      { text: 'WENT ON' },
    ],
    { env: { OPL_SBCL: '/nowhere/sbcl' } },
  );
  const { code, stdout, stderr } = await runOpenCode(project, 'go');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /WENT ON/);
  const answers = model.toolAnswers();
  assert.equal(answers.length, 2);
  for (const answer of answers)
    assert.match(answer, /SBCL \(Common Lisp\) is missing.*\/nowhere\/sbcl.*(Type: |Install )/s);
  assert.doesNotMatch(stdout + stderr, /at .*\.(js|ts):\d+/, 'no stack is written to the terminal');
});

test('wrong settings and wrong arguments are answered, not thrown', async (t) => {
  const { model, project } = await session(
    t,
    [
      { tools: [{ name: 'lisp_eval', args: { code: 7, more: 1 } }] },
      { tools: [{ name: 'lisp_eval', args: {} }] },
      { text: 'WENT ON' },
    ],
    { options: { heapMegabytes: 'plenty' } },
  );
  const { code, stdout } = await runOpenCode(project, 'go');
  assert.equal(code, 0);
  assert.match(stdout, /WENT ON/);
  const [settings, missing] = model.toolAnswers();
  assert.match(settings!, /settings: heapMegabytes must be integer/);
  assert.match(missing!, /lisp_eval: must have required property 'code'/);
});

test('permission deny: lisp_eval is refused, what else there is goes on', async (t) => {
  const { model, project } = await session(t, [evaluates('(+ 1 2)'), { text: 'WENT ON' }], {
    permission: { lisp_eval: { '*': 'deny' } },
  });
  await runOpenCode(project, 'go');
  assert.doesNotMatch(JSON.stringify(model.main().map(({ messages }) => messages)), /=> 3/, 'nothing was evaluated');
  const tools = model.main()[0].tools.map((one: { function: { name: string } }) => one.function.name);
  assert.ok(tools.includes('repo_context'), 'the plugin is loaded');
});

test('permission ask: once, always and reject are what the user answers', async (t) => {
  const { model, project } = await session(
    t,
    [evaluates('(+ 1 2)'), { text: 'ONE' }, evaluates('(+ 2 3)'), { text: 'TWO' }],
    { permission: { lisp_eval: 'ask' } },
  );
  const { url } = await serveOpenCode(t, project);
  const client = createOpencodeClient({ baseUrl: url, directory: project.folder });
  const created = (await client.session.create({ body: { title: 'fixed' } })).data!;
  const say = (text: string) =>
    client.session.prompt({
      path: { id: created.id },
      body: { model: { providerID: 'scripted', modelID: 'model' }, parts: [{ type: 'text', text }] },
    });
  const query = `directory=${encodeURIComponent(project.folder)}`;
  const asked = async (): Promise<{ id: string; permission: string; patterns: string[] }[]> =>
    (await fetch(`${url}/permission?${query}`)).json() as never;
  const reply = async (answer: string) => {
    await until('permission is asked for', async () => (await asked()).length > 0, 120_000);
    const [request] = await asked();
    await fetch(`${url}/permission/${request!.id}/reply?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ reply: answer }),
    });
    return request!;
  };
  const first = say('one');
  const request = await reply('once');
  assert.equal(request.permission, 'lisp_eval');
  assert.deepEqual(request.patterns, ['(+ 1 2)']);
  await first;
  assert.match(model.toolAnswers()[0]!, /=> 3 /);
  const second = say('two');
  await reply('reject');
  await second;
  assert.doesNotMatch(
    JSON.stringify(model.main().map(({ messages }) => messages)),
    /=> 5/,
    'a rejected form is not evaluated',
  );
});
