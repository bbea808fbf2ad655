/** How much of a feedback is enough to know it by. */
const KNOWN_BY = 120;

/** What a request says, up to the feedback that is shown beside it: a gate that gives up repeats what it said last. */
export function withoutRepeat(content: string, feedback: string | undefined): string {
  const at = feedback?.trim() ? content.indexOf(feedback.trim().slice(0, KNOWN_BY)) : -1;
  if (at <= 0) return content;
  const before = content.slice(0, at).trimEnd();
  // The sentence that introduces it goes with it.
  return before.endsWith(':') ? before.replace(/(^|[.!?])[^.!?]*:$/, '$1') : before;
}
