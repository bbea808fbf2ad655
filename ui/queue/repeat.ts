/** How many characters identify a feedback. */
const KNOWN_BY = 120;

/**
 * The text of a request without the feedback that is shown beside it: a gate that gives up repeats its last feedback.
 */
export function withoutRepeat(content: string, feedback: string | undefined): string {
  const at = placeOf(feedback?.trim() ?? '', content);
  if (at <= 0) return content;
  const before = content.slice(0, at).trimEnd();
  // The sentence that introduces it is removed too.
  return before.endsWith(':') ? before.replace(/(^|[.!?])[^.!?]*:$/, '$1') : before;
}

/** Where the content's final feedback begins. A short feedback may also occur in the text before it. */
function placeOf(feedback: string, content: string): number {
  if (feedback === '') return -1;
  const known = feedback.slice(0, KNOWN_BY);
  for (let at = content.indexOf(known); at >= 0; at = content.indexOf(known, at + 1)) {
    if (feedback.startsWith(content.slice(at).trimEnd())) return at;
  }
  return content.lastIndexOf(known);
}
