// A model that follows a script: an OpenAI-compatible chat server whose answers are steps, one for each request that carries tools.

import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ToolUse {
  name: string;
  args: unknown;
}

export interface Step {
  /** What the model says. */
  text?: string;
  /** The tools it calls; several run at once. */
  tools?: ToolUse[];
  /** Tokens of the prompt that it reports. */
  promptTokens?: number;
}

// biome-ignore lint/suspicious/noExplicitAny: what a host sends is looked into by tests, not typed
type Body = any;

export interface Asked {
  kind: 'title' | 'compaction' | 'main';
  body: Body;
}

export interface ScriptedModel {
  url: string;
  asked: Asked[];
  /** The requests that carried tools. */
  main(): Body[];
  /** What tools have answered so far, in order, as the model saw it. */
  toolAnswers(): string[];
  push(...steps: Step[]): void;
  close(): Promise<void>;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => part.text ?? '').join('\n') : '';
}

function kindOf(body: Body): Asked['kind'] {
  if (body.tools?.length) return 'main';
  const all = (body.messages ?? []).map((one: Body) => textOf(one.content)).join('\n');
  return /title generator/i.test(all) ? 'title' : 'compaction';
}

function chunks(step: Step, number: number): unknown[] {
  const deltas: unknown[] = [{ role: 'assistant', content: '' }];
  if (step.text) deltas.push({ content: step.text });
  for (const [index, { name, args }] of (step.tools ?? []).entries()) {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    deltas.push({
      tool_calls: [{ index, id: `call_${number}_${index}`, type: 'function', function: { name, arguments: text } }],
    });
  }
  const frame = { id: `answer-${number}`, object: 'chat.completion.chunk', created: 1, model: 'model' };
  const finish = step.tools?.length ? 'tool_calls' : 'stop';
  const prompt = step.promptTokens ?? 100;
  return [
    ...deltas.map((delta) => ({ ...frame, choices: [{ index: 0, delta, finish_reason: null }] })),
    { ...frame, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { ...frame, choices: [], usage: { prompt_tokens: prompt, completion_tokens: 10, total_tokens: prompt + 10 } },
  ];
}

/** Starts a model that answers with STEPS in turn, then with "script exhausted". */
export async function startModel(steps: Step[]): Promise<ScriptedModel> {
  const asked: Asked[] = [];
  const sockets = new Set<Socket>();
  let next = 0;
  const server: Server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.method !== 'POST') return response.end(JSON.stringify({ object: 'list', data: [] }));
    const body = JSON.parse(Buffer.concat(parts).toString('utf8'));
    const kind = kindOf(body);
    asked.push({ kind, body });
    const step =
      kind === 'title'
        ? { text: 'A title' }
        : kind === 'compaction'
          ? { text: 'A summary of the session.' }
          : (steps[next++] ?? { text: 'script exhausted' });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of chunks(step, asked.length)) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const main = () => asked.filter(({ kind }) => kind === 'main').map(({ body }) => body);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    main,
    toolAnswers: () =>
      (main().at(-1)?.messages ?? [])
        .filter(({ role }: Body) => role === 'tool')
        .map(({ content }: Body) => textOf(content)),
    push: (...more) => steps.push(...more),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
