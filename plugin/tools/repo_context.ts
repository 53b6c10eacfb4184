// repo_context: the files and symbols that answer a task.

import { awaitIndex, type Host } from '../host.ts';
import { renderContext } from '../render/context.ts';
import { type Tool, toolText } from '../tool.ts';

const DEFAULT_FILES = 12;

/** So long a session waits for a first index before it is told what there is so far. */
const WAIT_MILLISECONDS = 60_000;

export function repoContextTool(host: Host): Tool<{ problem: string; limit: number }> {
  return {
    name: 'repo_context',
    description: toolText('repo_context'),
    properties: {
      problem: {
        type: 'string',
        minLength: 1,
        description: 'The task, question or error text, in plain words or pasted.',
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: 100,
        default: DEFAULT_FILES,
        description: `Files at most (default ${DEFAULT_FILES}).`,
      },
    },
    required: ['problem'],
    async execute({ problem, limit }, { signal, title }) {
      const sidecar = await host.sidecar();
      await awaitIndex(sidecar, WAIT_MILLISECONDS, {
        signal,
        onProgress: (stage, done, total) => title(total ? `${stage} ${done} of ${total}` : stage),
      });
      const reply = await sidecar.call('context', { task: problem, limit, offset: 0, explain: false }, { signal });
      const files = reply['ranked-file'].length;
      return {
        title: `${files} files`,
        output: renderContext(reply),
        metadata: { files, complete: reply.answer[0]?.complete ?? false },
      };
    },
  };
}
