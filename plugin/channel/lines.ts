// Octets of a pipe as lines. split2 splits; before it stands a stage that lets only whole lines through.

import { Transform } from 'node:stream';
import split2 from 'split2';

const LF = 0x0a;

/** Lets pass what ends with LF. Half a line at the end is dropped: its sender died in the middle of it, and split2 would take it for whole. */
function wholeLines(limit: number): Transform {
  let held: Buffer[] = [];
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const end = chunk.lastIndexOf(LF) + 1;
      if (end > 0) {
        this.push(Buffer.concat([...held, chunk.subarray(0, end)]));
        held = [];
        size = 0;
      }
      if (end < chunk.length) {
        held.push(chunk.subarray(end));
        size += chunk.length - end;
      }
      done(size > limit ? new Error(`a line is longer than ${limit} octets`) : null);
    },
  });
}

/** A stream of the lines (strings without LF) of what is piped into SOURCE; only LF ends a line. Calls onError when one is longer than LIMIT octets. */
export function lineStream(
  source: NodeJS.ReadableStream,
  limit: number,
  onError: (error: Error) => void,
): NodeJS.ReadableStream {
  // split2's own pattern would also eat a CR before the LF.
  return source.pipe(wholeLines(limit).on('error', onError)).pipe(split2(/\n/));
}
