// A served session of the real OpenCode binary that follows a script.

import assert from 'node:assert/strict';
import path from 'node:path';
import { createOpencodeClient } from '@opencode-ai/sdk';
import { REPOSITORY } from '../scratch.ts';
import { makeProject, type ProjectOptions, serveOpenCode } from './opencode.ts';
import { type Step, startModel } from './scripted-model.ts';

export const FILES = {
  'src/routes.py': 'from src.handler import handle\n\n\ndef match_route(path):\n    return handle(path)\n',
  'src/handler.py': 'def handle(path):\n    return "handled " + path\n',
  'src/other.py': 'def unrelated():\n    return 1\n',
};

export const MODEL = { providerID: 'scripted', modelID: 'model' };

/** The sources: what a session does must not hang on a build. */
export const SOURCES = [path.join(REPOSITORY, 'plugin/opencode.ts')];

type Ender = { after(work: () => unknown): void };

/** A served session that follows STEPS. */
export async function served(t: Ender, steps: Step[], options: Partial<ProjectOptions> = {}) {
  const model = await startModel(steps);
  t.after(() => model.close());
  const project = makeProject(t as never, { modelUrl: model.url, files: FILES, plugins: SOURCES, ...options });
  const server = await serveOpenCode(t as never, project);
  const client = createOpencodeClient({ baseUrl: server.url, directory: project.folder });
  const { data } = await client.session.create({ body: { title: 'fixed' } });
  const id = data!.id;
  const say = async (text: string) => {
    const answer = await client.session.prompt({
      path: { id },
      body: { model: MODEL, parts: [{ type: 'text', text }] },
    });
    assert.ok(!answer.error, JSON.stringify(answer.error));
  };
  return { model, project, server, client, id, say };
}
