// The one kind of error that leaves the channel: a code for programs, a message for people that says what to do.

import type { ErrorCode } from './messages.generated.ts';

export type FaultCode =
  | ErrorCode
  /** sbcl was not found */
  | 'sbcl-missing'
  /** the sidecar could not be compiled or started */
  | 'start'
  /** the sidecar ended while a call was waiting */
  | 'ended'
  /** what came over the wire is not what protocol.tsv allows */
  | 'protocol'
  /** settings of the user are wrong */
  | 'settings';

/** Any failure that a tool answers with: `message` says what is wrong and what to do, `code` whose fault it is. */
export class Fault extends Error {
  override name = 'Fault';
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A call that its caller gave up: what AbortSignal's own reasons look like. */
export function cancelledFault(): Fault {
  return new Fault('cancelled', 'The call was cancelled.');
}
