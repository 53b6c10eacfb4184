// change_impact: what a change will break, before anything runs.

import { awaitIndex, type Host } from '../host.ts';
import { renderImpact } from '../render/impact.ts';
import { type Tool, toolText } from '../tool.ts';

interface Input {
  diff?: string;
  target?: string;
}

const WAIT_MILLISECONDS = 60_000;

export function changeImpactTool(host: Host): Tool<Input> {
  return {
    name: 'change_impact',
    description: toolText('change_impact'),
    properties: {
      diff: {
        type: 'string',
        description: 'The change as a diff, in any usual form. Left out, and no target: the working tree against HEAD.',
      },
      target: {
        type: 'string',
        description:
          'What is meant to change, instead of a diff: path:line, the name of a symbol, a git revision or range, or a description.',
      },
    },
    required: [],
    async execute({ diff, target }, { signal, title }) {
      const [{ commandsForTests }, { tellingTests }] = await Promise.all([
        import('../verify/select.ts'),
        import('../verify/telling.ts'),
      ]);
      const sidecar = await host.sidecar();
      await awaitIndex(sidecar, WAIT_MILLISECONDS, {
        signal,
        onProgress: (stage, done, total) => title(total ? `${stage} ${done} of ${total}` : stage),
      });
      const reply = await sidecar.call(
        'impact',
        { diff: diff?.trim() ? diff : null, file: null, target: target?.trim() ? target : null, limit: 0 },
        { signal },
      );
      const head = reply.impact[0];
      const commands = commandsForTests(host.root, tellingTests(reply['affected-test']));
      return {
        title: `${reply.root.length} touched, ${head?.callers ?? 0} callers, ${head?.tests ?? 0} tests`,
        output: renderImpact(reply, commands),
        metadata: { complete: head?.complete ?? false, roots: reply.root.length, tests: head?.tests ?? 0 },
      };
    },
  };
}
