// What an evaluation answered, as text.

import type { Output, Remark, Value } from '../channel/messages.generated.ts';

export interface EvaluationReply {
  value: readonly Value[];
  output: readonly Output[];
  remark: readonly Remark[];
}

/** Values with their types, then what was printed, then remarks. */
export function renderEvaluation({ value, output, remark }: EvaluationReply): string {
  const values = value.map((one) => `=> ${one.value}  [${one.type}]`);
  const printed = output.map((one) => `Printed:\n${one.text.trimEnd()}`);
  return [...(values.length ? values : ['=> no value']), ...printed, ...remark.map((one) => one.text)].join('\n');
}
