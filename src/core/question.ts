/** How much of a question is repeated, in characters. */
const LENGTH = 500;

/**
 * The question at the end of an answer: the last sentence, if it ends with a question mark. Only what comes last counts,
 * because a question in the middle was usually answered by the rest.
 */
export function questionIn(answer: string): string | undefined {
  // Closing marks of Markdown and quotes may follow.
  const text = answer.trim().replace(/[*_"'”’»)\]]+$/u, '');
  if (!/[?？]$/u.test(text)) return undefined;
  const line = text.split('\n').at(-1) ?? '';
  const sentence = line.split(/(?<=[.!?？])\s+/u).at(-1) ?? line;
  return sentence.replace(/^[\s*_>#-]+/u, '').slice(-LENGTH);
}
