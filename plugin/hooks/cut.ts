// Texts are cut before they are sent to be remembered, and secrets are looked for after that: half a secret would not be known for one.

/** A run of characters without a blank that is longer than this is cut anyhow. */
const WORD = 500;

/** The start of TEXT, at most LIMIT characters, without the word that the limit falls into. */
export function cutAtWord(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = text.slice(0, limit);
  if (/[\s"'`,;(){}[\]<>]/.test(text[limit]!)) return head;
  const word = /[^\s"'`,;(){}[\]<>]*$/.exec(head.slice(-WORD))![0];
  return word.length === WORD ? head : head.slice(0, head.length - word.length);
}
