// lisp_reset: the image as it was at the start.

import type { Host } from '../host.ts';
import { type Tool, toolText } from '../tool.ts';

export function lispResetTool(host: Host): Tool<Record<string, never>> {
  return {
    name: 'lisp_reset',
    description: toolText('lisp_reset'),
    properties: {},
    required: [],
    async execute(_, { signal }) {
      const sidecar = await host.sidecar();
      await sidecar.call('reset', {}, { signal });
      return { title: 'reset', output: 'The image is as it was at the start. The index stays.' };
    },
  };
}
