// lisp_eval: Common Lisp in the live image, behind OpenCode's permission of the same name.

import type { Host } from '../host.ts';
import { renderEvaluation } from '../render/evaluation.ts';
import { type Tool, toolText } from '../tool.ts';

/** The image ends an evaluation at its deadline; when not even that answers, the sidecar is started anew. */
const STUCK_AFTER = 15_000;

export function lispEvalTool(host: Host): Tool<{ code: string }> {
  return {
    name: 'lisp_eval',
    description: toolText('lisp_eval'),
    properties: {
      code: { type: 'string', minLength: 1, description: 'One or more Common Lisp forms, e.g. (callers "createUser")' },
    },
    required: ['code'],
    permission: ({ code }) => ({ key: 'lisp_eval', patterns: [code], metadata: { code } }),
    async execute({ code }, { signal, sessionID }) {
      const { evalSeconds } = await host.settings();
      const sidecar = await host.sidecar();
      const reply = await sidecar.call(
        'evaluate',
        { code, deadline: evalSeconds, session: sessionID ?? null },
        { signal, stuckAfter: evalSeconds * 1000 + STUCK_AFTER },
      );
      return { title: code.split('\n')[0]!.slice(0, 60), output: renderEvaluation(reply) };
    },
  };
}
