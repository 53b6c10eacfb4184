// Rows and arguments: fields of a line to typed objects and back, everything that comes off the wire validated against protocol.tsv.

import { Fault } from './fault.ts';
import { decodeField } from './fields.ts';
import {
  argumentSchemas,
  columns,
  type OperationName,
  type Operations,
  operations,
  rowSchemas,
  type StructureName,
  type Structures,
} from './messages.generated.ts';
import { validate } from './validate.ts';

function decodeValue(type: string, field: string): unknown {
  if (type.endsWith('?')) return field === '' ? null : decodeValue(type.slice(0, -1), field);
  switch (type) {
    case 'natural':
    case 'integer':
    case 'decimal':
      return field === '' ? Number.NaN : Number(field);
    case 'flag':
      return field === 'true' ? true : field === 'false' ? false : field;
    default:
      return decodeField(field);
  }
}

function encodeValue(type: string, value: unknown): string {
  return value === null || value === undefined || (type.endsWith('?') && value === '') ? '' : String(value);
}

/** The row of STRUCTURE that escaped FIELDS spell. Throws a Fault when they do not keep the contract. */
export function decodeRow<S extends StructureName>(structure: S, fields: readonly string[]): Structures[S] {
  const row: Record<string, unknown> = {};
  for (const [index, [name, type]] of columns[structure].entries()) {
    if (type.endsWith('*')) {
      const rest = fields.slice(index);
      // One empty field is what an empty list looks like on a line.
      row[name] = rest.length === 1 && rest[0] === '' ? [] : rest.map((field) => decodeValue(type.slice(0, -1), field));
    } else if (index < fields.length) {
      row[name] = decodeValue(type, fields[index]!);
    }
  }
  const last = columns[structure].at(-1);
  if (!last?.[1].endsWith('*') && fields.length > columns[structure].length) {
    throw new Fault('protocol', `a ${structure} row has ${fields.length} fields, not ${columns[structure].length}`);
  }
  validate(rowSchemas[structure], row, 'protocol', `a ${structure} row:`);
  return row as unknown as Structures[S];
}

/** The fields (not escaped) that spell the ARGUMENTS of OPERATION. Throws a Fault when one is missing or wrong. */
export function encodeArguments<O extends OperationName>(operation: O, values: Operations[O]['arguments']): string[] {
  validate(argumentSchemas[operation], values, 'bad-argument', `${operation}:`);
  const given = values as Record<string, unknown>;
  return operations[operation].arguments.flatMap(([name, type]) => {
    const value = given[name];
    if (!type.endsWith('*')) return [encodeValue(type, value)];
    const list = value as unknown[];
    return list.length === 0 ? [''] : list.map(String);
  });
}
