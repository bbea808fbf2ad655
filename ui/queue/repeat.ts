/** How much of a feedback is enough to know it by. */
const KNOWN_BY = 120;

/** What a request says, up to the feedback that is shown beside it: a gate that gives up repeats what it said last. */
export function withoutRepeat(content: string, feedback: string | undefined): string {
  const at = placeOf(feedback?.trim() ?? '', content);
  if (at <= 0) return content;
  const before = content.slice(0, at).trimEnd();
  // The sentence that introduces it goes with it.
  return before.endsWith(':') ? before.replace(/(^|[.!?])[^.!?]*:$/, '$1') : before;
}

/** Where the feedback begins with which the content ends; a short one may also be a word of what is said before. */
function placeOf(feedback: string, content: string): number {
  if (feedback === '') return -1;
  const known = feedback.slice(0, KNOWN_BY);
  for (let at = content.indexOf(known); at >= 0; at = content.indexOf(known, at + 1)) {
    if (feedback.startsWith(content.slice(at).trimEnd())) return at;
  }
  return content.lastIndexOf(known);
}
