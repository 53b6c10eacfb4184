// protocol.tsv -> plugin/channel/messages.generated.ts: types, columns and JSON Schemas.  `--check` only says whether the file is up to date.

import { readFileSync, writeFileSync } from 'node:fs';
import { decodeLine } from '../plugin/channel/fields.ts';

const TABLE = new URL('protocol.tsv', import.meta.url);
const OUTPUT = new URL('../plugin/channel/messages.generated.ts', import.meta.url);
const NAME = /^[a-z]+(-[a-z]+)*$/;
const SCALARS: Record<string, { type: string; schema: object }> = {
  text: { type: 'string', schema: { type: 'string' } },
  // Invariant 7: relative, inside the root, never the root itself.
  path: { type: 'string', schema: { type: 'string', minLength: 1, pattern: '^(?!/)(?!([^]*/)?\\.\\.(/|$))' } },
  natural: { type: 'number', schema: { type: 'integer', minimum: 0 } },
  integer: { type: 'number', schema: { type: 'integer' } },
  decimal: { type: 'number', schema: { type: 'number' } },
  flag: { type: 'boolean', schema: { type: 'boolean' } },
};

type Column = { name: string; type: string; doc: string };
type Structure = { name: string; doc: string; fields: Column[] };
type Table = ReturnType<typeof readTable>;
type Operation = { name: string; lane: string; rows: string[]; doc: string; arguments: Column[] };

const camel = (name: string) => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
const pascal = (name: string) => camel(`-${name}`);
const quoted = (value: unknown) => JSON.stringify(value);

function readTable(text: string) {
  const table = {
    version: 0,
    limits: new Map<string, number>(),
    enums: new Map<string, string[]>(),
    structures: [] as Structure[],
    operations: [] as Operation[],
    errors: [] as string[],
    events: [] as string[],
    outside: [] as { read: boolean; why: string; patterns: string[] }[],
  };
  const structure = (name: string) => table.structures.find((one) => one.name === name);
  const operation = (name: string) => table.operations.find((one) => one.name === name);
  const declare: Record<string, (fields: string[]) => void> = {
    version: ([, number]) => {
      table.version = Number(number);
    },
    limit: ([name, number]) => void table.limits.set(name!, Number(number)),
    enum: ([name, value]) => void table.enums.set(name!, [...(table.enums.get(name!) ?? []), value!]),
    structure: ([name, doc]) => void table.structures.push({ name: name!, doc: doc!, fields: [] }),
    field: ([owner, name, type, doc]) =>
      void structure(owner!)!.fields.push({ name: name!, type: type!, doc: doc ?? '' }),
    operation: ([name, lane, rows, doc]) =>
      void table.operations.push({
        name: name!,
        lane: lane!,
        rows: rows === '-' ? [] : rows!.split(' '),
        doc: doc!,
        arguments: [],
      }),
    argument: ([owner, name, type, doc]) =>
      void operation(owner!)!.arguments.push({ name: name!, type: type!, doc: doc ?? '' }),
    error: ([name]) => void table.errors.push(name!),
    event: ([name]) => void table.events.push(name!),
    outside: ([why, patterns]) => void table.outside.push({ read: true, why: why!, patterns: patterns!.split(' ') }),
    unread: ([why, patterns]) => void table.outside.push({ read: false, why: why!, patterns: patterns!.split(' ') }),
  };
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const [kind, ...fields] = decodeLine(line);
    try {
      declare[kind!]!(fields);
    } catch (error) {
      throw new Error(`protocol.tsv:${index + 1}: ${kind} ${fields[0]}: ${error}`);
    }
  }
  check(table);
  return table;
}

function check(table: Table) {
  const known = (type: string) => type in SCALARS || table.enums.has(type);
  const columns = (owner: string, list: Column[]) => {
    for (const [index, { name, type }] of list.entries()) {
      if (!NAME.test(name)) throw new Error(`${owner} ${name}: names are lower case words with hyphens`);
      if (!known(type.replace(/[?*]$/, ''))) throw new Error(`${owner} ${name}: the type ${type} is not declared`);
      if (type.endsWith('*') && index < list.length - 1) throw new Error(`${owner} ${name}: a * type stands last`);
    }
  };
  for (const { name, fields } of table.structures) columns(name, fields);
  for (const { name, lane, rows, arguments: list } of table.operations) {
    columns(name, list);
    if (!['query', 'work', 'evaluation'].includes(lane)) throw new Error(`${name}: there is no lane ${lane}`);
    for (const row of rows) {
      if (!table.structures.some((one) => one.name === row)) throw new Error(`${name}: no structure ${row}`);
    }
  }
}

function typeOf(type: string): string {
  const plain = type.replace(/[?*]$/, '');
  const base = SCALARS[plain]?.type ?? pascal(plain);
  return type.endsWith('?') ? `${base} | null` : type.endsWith('*') ? `${base}[]` : base;
}

function schemaOf(table: Table, type: string): object {
  const plain = type.replace(/[?*]$/, '');
  const base = SCALARS[plain]?.schema ?? { enum: table.enums.get(plain) };
  if (type.endsWith('*')) return { type: 'array', items: base };
  return type.endsWith('?') ? { anyOf: [{ type: 'null' }, base] } : base;
}

function objectSchema(table: Table, columns: Column[]): object {
  return {
    type: 'object',
    properties: Object.fromEntries(columns.map(({ name, type }) => [camel(name), schemaOf(table, type)])),
    required: columns.map(({ name }) => camel(name)),
    additionalProperties: false,
  };
}

function members(columns: Column[], indent: string): string[] {
  return columns.flatMap(({ name, type, doc }) => [
    ...(doc ? [`${indent}/** ${doc} */`] : []),
    `${indent}${camel(name)}: ${typeOf(type)};`,
  ]);
}

function render(table: Table): string {
  const lines = ['// Generated from protocol/protocol.tsv by `npm run generate`; edits are lost.', ''];
  lines.push(`export const PROTOCOL_VERSION = ${table.version};`, '');
  lines.push(
    `export const LIMITS = ${quoted(Object.fromEntries([...table.limits].map(([k, v]) => [camel(k), v])))} as const;`,
    '',
  );
  for (const [name, values] of table.enums) {
    lines.push(`export const ${camel(name)}Values = ${quoted(values)} as const;`);
    lines.push(`export type ${pascal(name)} = (typeof ${camel(name)}Values)[number];`, '');
  }
  for (const { name, doc, fields } of table.structures) {
    lines.push(`/** ${doc} */`, `export interface ${pascal(name)} {`, ...members(fields, '  '), '}', '');
  }
  lines.push('/** The row types by their names on the wire. */', 'export interface Structures {');
  for (const { name } of table.structures) lines.push(`  ${quoted(name)}: ${pascal(name)};`);
  lines.push('}', '', 'export type StructureName = keyof Structures;', '');
  lines.push('/** What each operation takes and which rows it may answer with. */', 'export interface Operations {');
  for (const { name, doc, rows, arguments: list } of table.operations) {
    lines.push(`  /** ${doc} */`, `  ${quoted(name)}: {`, '    arguments: {', ...members(list, '      '), '    };');
    lines.push(`    rows: ${rows.length ? rows.map(quoted).join(' | ') : 'never'};`, '  };');
  }
  lines.push('}', '', 'export type OperationName = keyof Operations;', '');
  const triples = (list: Column[]) => list.map(({ name, type }) => [camel(name), type]);
  lines.push('/** Name and type of each column, in wire order. */');
  lines.push('export const columns: Record<StructureName, readonly (readonly [name: string, type: string])[]> = {');
  for (const { name, fields } of table.structures) lines.push(`  ${quoted(name)}: ${quoted(triples(fields))},`);
  lines.push('};', '');
  lines.push('export const operations: Record<');
  lines.push('  OperationName,');
  lines.push(
    '  { lane: string; rows: readonly StructureName[]; arguments: readonly (readonly [name: string, type: string])[] }',
  );
  lines.push('> = {');
  for (const { name, lane, rows, arguments: list } of table.operations) {
    lines.push(
      `  ${quoted(name)}: { lane: ${quoted(lane)}, rows: ${quoted(rows)}, arguments: ${quoted(triples(list))} },`,
    );
  }
  lines.push('};', '');
  lines.push('/** JSON Schemas of the rows. */', 'export const rowSchemas: Record<StructureName, object> = {');
  for (const { name, fields } of table.structures) {
    lines.push(`  ${quoted(name)}: ${quoted(objectSchema(table, fields))},`);
  }
  lines.push(
    '};',
    '',
    '/** JSON Schemas of the arguments. */',
    'export const argumentSchemas: Record<OperationName, object> = {',
  );
  for (const { name, arguments: list } of table.operations) {
    lines.push(`  ${quoted(name)}: ${quoted(objectSchema(table, list))},`);
  }
  lines.push('};', '', `export const errorCodes = ${quoted(table.errors)} as const;`);
  lines.push('export type ErrorCode = (typeof errorCodes)[number];', '');
  lines.push(`export const events = ${quoted(table.events)} as const;`, '');
  lines.push('/** Patterns of paths whose change no call or import shows; not `read`: it changes no test. */');
  lines.push(
    'export const outsideRules: readonly { readonly read: boolean; readonly why: string; readonly patterns: readonly string[] }[] = [',
    ...table.outside.map((rule) => `  ${quoted(rule)},`),
    '];',
    '',
  );
  return lines.join('\n');
}

const text = render(readTable(readFileSync(TABLE, 'utf8')));
if (process.argv.includes('--check')) {
  if (readFileSync(OUTPUT, 'utf8') !== text) {
    console.error('plugin/channel/messages.generated.ts is older than protocol/protocol.tsv; run `npm run generate`.');
    process.exit(1);
  }
} else {
  writeFileSync(OUTPUT, text);
}
