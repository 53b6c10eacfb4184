// opl eval: what lisp_eval answers, from a shell.

import { Fault } from '../channel/fault.ts';
import type { Answer, Command } from '../command.ts';
import { renderEvaluation } from '../render/evaluation.ts';

/** What the evaluated code did wrong is an answer about it; the rest is about the call. */
const OF_THE_CODE: readonly string[] = ['evaluation', 'deadline', 'exhausted', 'stuck'];

export const evalCommand: Command<{ code: string }> = {
  name: 'eval',
  summary: 'evaluate Common Lisp in the image that holds the index',
  example: `opl eval '(callers "createUser")'`,
  properties: {
    code: { type: 'string', minLength: 1, description: 'one or more forms; - reads them from standard input' },
  },
  required: ['code'],
  positional: 'code',
  fromInput: 'code',
  async run({ code }, { sidecar, settings, progress, signal }): Promise<Answer> {
    const door = await sidecar();
    // Forms that ask nothing of the index answer without one.
    await door.call('ready', { saved: true }, { onProgress: progress, signal }).catch(() => {});
    try {
      const reply = await door.call('evaluate', { code, deadline: settings.evalSeconds, session: null }, { signal });
      const last = reply.value.at(-1);
      const json = {
        value: last?.value ?? null,
        type: last?.type ?? null,
        output: reply.output.map(({ text }) => text).join(''),
        values: reply.value,
        remarks: reply.remark.map(({ text }) => text),
      };
      return { json, text: renderEvaluation(reply) };
    } catch (error) {
      if (!(error instanceof Fault) || !OF_THE_CODE.includes(error.code)) throw error;
      return {
        json: { value: null, type: null, output: '', error: { code: error.code, message: error.message } },
        text: error.message,
        status: 1,
      };
    }
  },
};
