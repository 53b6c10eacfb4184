// opl batch: requests as JSON lines, replies as JSON lines, one sidecar and one index for all.

import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { explain } from '../advice.ts';
import { Fault } from '../channel/fault.ts';
import { amend, validate } from '../channel/validate.ts';
import type { Command, Surroundings } from '../command.ts';

/** Requests that are worked on at once; the sidecar runs as many queries. */
const AT_ONCE = 4;

/** What a line should look like, for whoever wrote another. */
const EXAMPLE = '{"id":1,"command":"search","args":{"name":"parse"}}';

const requestSchema = {
  type: 'object',
  properties: { id: {}, command: { type: 'string' }, args: { type: 'object' } },
  required: ['id', 'command'],
  additionalProperties: false,
};

async function answerOne(
  commands: readonly Command<never>[],
  here: Surroundings,
  line: string,
): Promise<Record<string, unknown>> {
  let id: unknown = null;
  try {
    const request = JSON.parse(line);
    id = request?.id ?? null;
    validate(requestSchema, request, 'bad-argument', `a request is like ${EXAMPLE}:`);
    const command = commands.find((one) => one.name === request.command);
    if (!command) throw new Fault('bad-argument', `There is no command ${request.command}; \`opl\` alone lists them.`);
    const input = { ...request.args };
    const { properties, required } = command;
    amend(
      { type: 'object', properties, required, additionalProperties: false },
      input,
      'bad-argument',
      `${command.name}:`,
    );
    let written = '';
    const write = async (text: string) => {
      written += text;
    };
    const answer = await command.run(input as never, { ...here, asJson: true, write });
    const json = answer ? answer.json : JSON.parse(written);
    return { id, ...(Array.isArray(json) ? { rows: json } : (json as object)) };
  } catch (error) {
    const code = error instanceof Fault ? error.code : error instanceof SyntaxError ? 'bad-argument' : 'internal';
    return {
      id,
      error: {
        code,
        message:
          error instanceof SyntaxError
            ? `The line is no JSON (a request is like ${EXAMPLE}): ${error.message}`
            : explain(error),
      },
    };
  }
}

/** Answers every line of INPUT; the exit status. A bad line is answered with an error and does not end the rest. */
export async function batch(commands: readonly Command<never>[], here: Surroundings, input: Readable): Promise<number> {
  const running = new Set<Promise<void>>();
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue;
    if (running.size >= AT_ONCE) await Promise.race(running);
    const one = answerOne(commands, here, line).then(async (reply) => {
      await here.write(`${JSON.stringify(reply)}\n`);
      running.delete(one);
    });
    running.add(one);
  }
  await Promise.all(running);
  return 0;
}
