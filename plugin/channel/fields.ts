// Fields of a line: text to escaped text and back. The grammar is that of ctags' tags(5): TAB between fields, \\ \t \n \r for what would break
// a line; \a \b \f \v and \xHH, which ctags writes, are read as well and never written.

const LETTERS: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

const ESCAPED: Record<string, number> = {
  '\\': 0x5c,
  t: 0x09,
  n: 0x0a,
  r: 0x0d,
  a: 0x07,
  b: 0x08,
  f: 0x0c,
  v: 0x0b,
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A field that does not decode. The message says which rule it breaks. */
export class FieldError extends Error {
  override name = 'FieldError';
}

/** The text of one field, escaped. Lone surrogates become U+FFFD, for UTF-8 cannot hold them. */
function encodeField(text: string): string {
  return text.replace(/[\\\t\n\r]/g, (character) => LETTERS[character]!).replace(/\p{Surrogate}/gu, '\ufffd');
}

/** The fields as one line, without its LF. */
export function encodeLine(fields: readonly string[]): string {
  return fields.map(encodeField).join('\t');
}

/** The text that an escaped field stands for. Throws FieldError. */
export function decodeField(field: string): string {
  if (!field.includes('\\')) return field;
  const octets: Buffer[] = [];
  let plain = 0;
  for (let at = field.indexOf('\\'); at >= 0; at = field.indexOf('\\', plain)) {
    octets.push(Buffer.from(field.slice(plain, at)));
    const letter = field[at + 1];
    if (letter === undefined) throw new FieldError('a field ends with a lone backslash');
    const hex = letter === 'x' ? /^[0-9a-fA-F]{2}/.exec(field.slice(at + 2)) : null;
    const octet = hex ? Number.parseInt(hex[0], 16) : ESCAPED[letter];
    if (octet === undefined) throw new FieldError(`the escape \\${letter} is not known`);
    octets.push(Buffer.of(octet));
    plain = at + (hex ? 4 : 2);
  }
  octets.push(Buffer.from(field.slice(plain)));
  return decodeText(Buffer.concat(octets));
}

function decodeText(octets: Uint8Array): string {
  try {
    return utf8.decode(octets);
  } catch {
    throw new FieldError('a field is not UTF-8');
  }
}

/** The fields of a line (without its LF). Throws FieldError. */
export function decodeLine(line: string): string[] {
  return line.split('\t').map(decodeField);
}

/** The fields of a line given as octets, which must be UTF-8. Throws FieldError. */
export function decodeOctets(line: Uint8Array): string[] {
  return decodeLine(decodeText(line));
}
