// What a tool is, whatever host offers it: a name, the text a model reads, a schema, and what it does.

import { readFileSync } from 'node:fs';
import { explain } from './advice.ts';
import { Fault } from './channel/fault.ts';
import { amend } from './channel/validate.ts';

export interface Property {
  type: 'string' | 'integer' | 'boolean';
  description: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  enum?: string[];
  default?: unknown;
}

export interface ToolCall {
  signal: AbortSignal | undefined;
  sessionID: string | undefined;
  /** Asks the user (or the rules in force) for permission under KEY; rejects when it is refused. */
  ask(key: string, patterns: string[], metadata: Record<string, unknown>): Promise<void>;
  /** Shown while the call runs. */
  title(text: string): void;
}

export interface ToolAnswer {
  title: string;
  output: string;
  metadata?: Record<string, unknown>;
}

export interface Tool<Input = Record<string, unknown>> {
  name: string;
  description: string;
  properties: Record<string, Property>;
  /** Names of the properties a model must give. */
  required: string[];
  /** The permission a call needs before it may run: key and what is shown. */
  permission?(input: Input): { key: string; patterns: string[]; metadata: Record<string, unknown> };
  execute(input: Input, call: ToolCall): Promise<ToolAnswer>;
}

/** The text beside a tool's file. */
export function toolText(name: string): string {
  return readFileSync(new URL(`./tools/${name}.txt`, import.meta.url), 'utf8').trim();
}

const schemas = new WeakMap<object, object>();

/** The JSON Schema of TOOL's input. */
export function inputSchema(tool: Tool<never>): object {
  const known = schemas.get(tool);
  if (known) return known;
  const schema = { type: 'object', properties: tool.properties, required: tool.required, additionalProperties: true };
  schemas.set(tool, schema);
  return schema;
}

/** Runs TOOL with what a model sent. A refused permission and a cancelled call reject; every other failure is an answer that says what to do. */
export async function runTool(
  tool: Tool<never>,
  sent: unknown,
  call: ToolCall,
  log: (text: string) => void,
): Promise<ToolAnswer> {
  let input: Record<string, unknown>;
  try {
    input = { ...((sent ?? {}) as object) };
    amend(inputSchema(tool), input, 'bad-argument', `${tool.name}:`);
  } catch (error) {
    return {
      title: `${tool.name}: wrong arguments`,
      output: `${explain(error)}. It takes ${tool.required.join(', ')}.`,
    };
  }
  const permission = tool.permission?.(input as never);
  if (permission) await call.ask(permission.key, permission.patterns, permission.metadata);
  try {
    return await tool.execute(input as never, call);
  } catch (error) {
    if (error instanceof Fault && error.code === 'cancelled') throw error;
    log(`${tool.name}: ${error instanceof Error ? (error.stack ?? error.message) : error}`);
    return { title: `${tool.name} failed`, output: explain(error), metadata: { failed: true } };
  }
}
