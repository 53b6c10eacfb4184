// Calls that wait for their replies: ids, rows, the last line. Knows lines, not processes, so it is tested without one.

import { cancelledFault, Fault } from './fault.ts';
import { decodeField, encodeLine } from './fields.ts';
import { columns, errorCodes, type OperationName, operations, type StructureName } from './messages.generated.ts';

export interface Listener {
  /** Each row as its structure and its still escaped fields. */
  onRow(structure: StructureName, fields: readonly string[]): void;
  onProgress?: ((stage: string, done: number, total: number) => void) | undefined;
}

interface Call extends Listener {
  operation: OperationName;
  resolve(): void;
  reject(fault: Fault): void;
}

/** The calls that wait for a reply, by id. Every one settles: by its reply, by its caller leaving, or when the child ends. */
export class Pending {
  readonly #calls = new Map<string, Call>();
  /** Ids whose caller left: what still comes for them is dropped. */
  readonly #abandoned = new Set<string>();
  readonly #write: (line: string) => void;
  readonly #note: (level: string, text: string) => void;
  #next = 1;

  constructor(write: (line: string) => void, note: (level: string, text: string) => void) {
    this.#write = write;
    this.#note = note;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Sends a request; settles with its last line. When SIGNAL aborts, rejects at once and tells the sidecar. */
  send(operation: OperationName, fields: readonly string[], listener: Listener, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(cancelledFault());
    const id = String(this.#next++);
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#calls.delete(id);
        this.#abandoned.add(id);
        this.#write(encodeLine(['cancel', id]));
        reject(cancelledFault());
      };
      // A host may abort a signal long after the call that took it has settled: nothing may be left listening.
      const settled =
        <A extends unknown[]>(settle: (...values: A) => void) =>
        (...values: A) => {
          signal?.removeEventListener('abort', abort);
          settle(...values);
        };
      signal?.addEventListener('abort', abort, { once: true });
      this.#calls.set(id, { ...listener, operation, resolve: settled(resolve), reject: settled(reject) });
      this.#write(encodeLine([id, operation, ...fields]));
    });
  }

  /** Takes one line of the sidecar. Throws a Fault when it is none that the contract allows; the sidecar is then not to be trusted further. */
  take(line: string): void {
    const [id, kind, ...fields] = line.split('\t');
    const call = this.#calls.get(id!);
    if (!call) {
      this.#takeOther(id!, kind, fields);
      return;
    }
    switch (kind) {
      case 'row': {
        const structure = fields[0] as StructureName;
        if (!operations[call.operation].rows.includes(structure)) {
          throw new Fault('protocol', `${call.operation} was answered with the row ${JSON.stringify(structure)}`);
        }
        call.onRow(structure, fields.slice(1));
        return;
      }
      case 'progress':
        call.onProgress?.(decodeField(fields[0] ?? ''), Number(fields[1]), Number(fields[2]));
        return;
      case 'ok':
        this.#calls.delete(id!);
        call.resolve();
        return;
      case 'error':
        this.#calls.delete(id!);
        call.reject(this.#faultOf(fields));
        return;
      default:
        throw new Fault('protocol', `the line ${JSON.stringify(line.slice(0, 80))} is no reply`);
    }
  }

  #faultOf(fields: readonly string[]): Fault {
    const code = errorCodes.find((one) => one === fields[0]) ?? 'internal';
    return new Fault(code, decodeField(fields[1] ?? ''));
  }

  #takeOther(id: string, kind: string | undefined, fields: readonly string[]): void {
    if (id === '0' && kind === 'row' && fields[0] === 'note' && fields.length === columns.note.length + 1) {
      this.#note(decodeField(fields[1]!), decodeField(fields[2]!));
    } else if (id === '0' && kind === 'error') {
      this.#note('warning', decodeField(fields[1] ?? ''));
    } else if (!this.#abandoned.has(id)) {
      throw new Fault('protocol', `a line came for the request ${JSON.stringify(id.slice(0, 80))}, which is none`);
    } else if (kind === 'ok' || kind === 'error') {
      this.#abandoned.delete(id);
    }
  }

  /** Rejects every waiting call with FAULT. */
  failAll(fault: Fault): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.reject(fault);
  }
}
