// Ids of parts that a plugin adds. OpenCode orders the parts of a message by their ids, so an added one must come after the last.

import { randomBytes } from 'node:crypto';

/** `prt_`, 12 hexadecimal digits of time, 14 letters and digits. */
const SHAPE = /^prt_([0-9a-f]{12})/;

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** An id that sorts after LAST (an id of OpenCode's, or nothing), and before those of later messages. */
export function nextPartID(last: string | undefined): string {
  const time = SHAPE.exec(last ?? '')?.[1] ?? (BigInt(Date.now()) * 0x1000n).toString(16).slice(-12);
  const next = (BigInt(`0x${time}`) + 1n).toString(16).padStart(12, '0').slice(-12);
  const tail = [...randomBytes(14)].map((octet) => LETTERS[octet % LETTERS.length]).join('');
  return `prt_${next}${tail}`;
}
