// Several files that each want some of a host's hooks become one set. None of them may break the session: a hook that throws is logged and passed over.

import type { Hooks, PluginInput } from '@opencode-ai/plugin';
import type { Host } from '../host.ts';

/** What a file of hooks/ exports. INPUT is what OpenCode gives a plugin: its client above all. */
export type HookFile = (host: Host, input: PluginInput) => Partial<Hooks>;

type AnyHook = (...values: unknown[]) => unknown;

/** The hooks of FILES, those of one name run one after another in the order of FILES. */
export function composeHooks(host: Host, input: PluginInput, files: readonly HookFile[]): Partial<Hooks> {
  const lists = new Map<string, AnyHook[]>();
  for (const file of files) {
    for (const [name, hook] of Object.entries(safely(host, file.name, () => file(host, input)) ?? {})) {
      if (typeof hook === 'function') lists.set(name, [...(lists.get(name) ?? []), hook as AnyHook]);
    }
  }
  return Object.fromEntries([...lists].map(([name, hooks]) => [name, oneAfterAnother(host, name, hooks)]));
}

function oneAfterAnother(host: Host, name: string, hooks: readonly AnyHook[]): AnyHook {
  return async (...values) => {
    for (const hook of hooks) {
      try {
        await hook(...values);
      } catch (error) {
        host.log(`hook ${name}: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
      }
    }
  };
}

function safely<T>(host: Host, name: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    host.log(`hooks ${name}: ${error}`);
    return undefined;
  }
}
