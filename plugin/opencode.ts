// The OpenCode entry: tools and hooks, nothing else. OpenCode 1 calls server(), OpenCode 2 calls setup(); 1.18 calls both.

import { tool as define, type Hooks, type Plugin, type ToolDefinition } from '@opencode-ai/plugin';
import { autoContext } from './hooks/auto-context.ts';
import { compaction } from './hooks/compaction.ts';
import { composeHooks, type HookFile } from './hooks/compose.ts';
import { freshness } from './hooks/freshness.ts';
import { handover } from './hooks/handover.ts';
import { observation } from './hooks/observation.ts';
import { attachSecond, type SecondContext } from './hooks/second.ts';
import { skills } from './hooks/skills.ts';
import { systemNote } from './hooks/system-note.ts';
import { createHost, type Host, sessionRoot } from './host.ts';
import { inputSchema, type Property, runTool, type Tool, type ToolCall } from './tool.ts';
import { changeImpactTool } from './tools/change_impact.ts';
import { lispEvalTool } from './tools/lisp_eval.ts';
import { lispResetTool } from './tools/lisp_reset.ts';
import { repoContextTool } from './tools/repo_context.ts';
import { verifyChangeTool } from './tools/verify_change.ts';

const TOOLS: readonly ((host: Host) => Tool<never>)[] = [
  repoContextTool,
  changeImpactTool,
  verifyChangeTool,
  lispEvalTool,
  lispResetTool,
];

/** Files of hooks/, in the order in which hooks of one name run. */
const HOOKS: readonly HookFile[] = [observation, freshness, compaction, handover, autoContext, systemNote, skills];

function zodOf(property: Property, required: boolean) {
  const z = define.schema;
  const plain = () => {
    if (property.enum) return z.enum(property.enum as [string, ...string[]]);
    if (property.type === 'string') return property.minLength ? z.string().min(property.minLength) : z.string();
    if (property.type === 'boolean') return z.boolean();
    let number = z.number().int();
    if (property.minimum !== undefined) number = number.min(property.minimum);
    if (property.maximum !== undefined) number = number.max(property.maximum);
    return number;
  };
  const described = plain().describe(property.description);
  return required ? described : described.optional();
}

/** TOOL as OpenCode 1 takes it. The host checks no arguments and shows a rejected permission itself, so that error passes through. */
function definitionOf(host: Host, tool: Tool<never>): ToolDefinition {
  const args = Object.fromEntries(
    Object.entries(tool.properties).map(([name, property]) => [name, zodOf(property, tool.required.includes(name))]),
  );
  return define({
    description: tool.description,
    args,
    async execute(sent, context) {
      const call: ToolCall = {
        signal: context.abort,
        sessionID: context.sessionID,
        ask: async (permission, patterns, metadata) => context.ask({ permission, patterns, always: ['*'], metadata }),
        title: (title) => context.metadata({ title }),
      };
      const { title, output, metadata } = await runTool(tool, sent, call, host.log);
      return { title, output, metadata: metadata ?? {} };
    },
  });
}

/** Starts the sidecar beside the session, so that the index is being made while the model still reads the task. */
function warmUp(host: Host): void {
  const timer = setTimeout(() => {
    host
      .sidecar()
      .then((sidecar) => sidecar.call('warm', {}))
      .catch((error) => host.log(`start: ${error.message}`));
  }, 0);
  timer.unref?.();
}

const server: Plugin = async (input, options) => {
  const host = createHost(sessionRoot(input?.worktree, input?.directory ?? process.cwd()), options);
  const tools = Object.fromEntries(TOOLS.map((make) => make(host)).map((one) => [one.name, definitionOf(host, one)]));
  const hooks: Hooks = {
    ...composeHooks(host, input, [...HOOKS, () => ({ dispose: () => host.dispose() })]),
    tool: tools,
  };
  warmUp(host);
  return hooks;
};

/** The part of OpenCode 2's context that is used here. Its package is not needed: what it exports is identity. */
interface Context2 {
  location?: { directory?: string; worktree?: string };
  options?: unknown;
  session?: { hook?: unknown };
  tool?: { transform?: (edit: (editor: { add(tool: object): void }) => void) => unknown };
}

/** OpenCode 1.18 calls this as well, with a context that has neither tools nor sessions; there is nothing to do then. */
function setup(context: Context2): (() => Promise<void>) | undefined {
  if (!context?.tool?.transform || !context?.session?.hook) return undefined;
  const { worktree, directory } = context.location ?? {};
  const host = createHost(sessionRoot(worktree, directory ?? process.cwd()), context.options);
  context.tool.transform((editor) => {
    for (const tool of TOOLS.map((make) => make(host))) {
      editor.add({
        name: tool.name,
        description: tool.description,
        input: inputSchema(tool),
        // This host asks for permission by the tool's name before it calls.
        async execute(sent: unknown, { signal, sessionID }: { signal?: AbortSignal; sessionID?: string } = {}) {
          const call: ToolCall = { signal, sessionID, ask: async () => {}, title: () => {} };
          const { output } = await runTool(tool, sent, call, host.log);
          return { content: output };
        },
      });
    }
  });
  attachSecond(host, context as SecondContext);
  warmUp(host);
  return () => host.dispose();
}

export default { id: 'opencode-plugin-lisp', server, setup };
