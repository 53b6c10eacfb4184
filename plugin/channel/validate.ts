// JSON Schemas at work: rows off the wire, arguments, settings of users, what a model sends. Schemas are compiled when first used.

import type { ValidateFunction } from 'ajv';
import { Ajv } from 'ajv';
import { Fault, type FaultCode } from './fault.ts';

const exact = new Ajv({ strict: true, allowUnionTypes: true });
const lenient = new Ajv({ strict: true, coerceTypes: true, useDefaults: true });
const compiled = new Map<object, ValidateFunction>();

/** Throws a Fault with CODE unless VALUE keeps SCHEMA; WHAT names it in the message. */
export function validate(schema: object, value: unknown, code: FaultCode, what: string): void {
  check(exact, schema, value, code, what);
}

/** As validate, after what a model gets wrong was put right in VALUE: "5" for 5, and what was left out and has a default. */
export function amend(schema: object, value: unknown, code: FaultCode, what: string): void {
  check(lenient, schema, value, code, what);
}

function check(ajv: Ajv, schema: object, value: unknown, code: FaultCode, what: string): void {
  let run = compiled.get(schema);
  if (!run) {
    run = ajv.compile(schema);
    compiled.set(schema, run);
  }
  if (run(value)) return;
  const error = run.errors![0]!;
  const where = error.instancePath.replace(/^\//, '').replaceAll('/', '.');
  const allowed = error.keyword === 'enum' ? `: ${error.params.allowedValues.join(', ')}` : '';
  const extra = error.keyword === 'additionalProperties' ? `: ${error.params.additionalProperty}` : '';
  throw new Fault(code, `${what}${where ? ` ${where}` : ''} ${error.message}${allowed}${extra}`);
}
