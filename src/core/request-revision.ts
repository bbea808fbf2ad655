import { TeamError } from './errors.ts';
import type { TeamRequest } from './request.ts';

/** What of a request a person reads before the answer. */
type Shown = Pick<
  TeamRequest,
  'id' | 'kind' | 'memberId' | 'content' | 'filePath' | 'taskId' | 'detail' | 'question' | 'deadline'
>;

/**
 * A fingerprint of everything that a person reads before an answer. An answer that names it holds only for what was
 * shown. All of the text counts: the dangerous part of a command may be at its end.
 */
export function revisionOf(request: Shown): string {
  const { id, kind, memberId, content, filePath, taskId, detail, question, deadline } = request;
  const text = canonical([id, kind, memberId, content, filePath, taskId, detail, question, deadline?.getTime()]);
  // Two hashes of 32 bits. Nobody gains by a collision: an id is used once, and what it asks never changes.
  let [a, b] = [0x811c9dc5, 0x9e3779b9];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b) ^ (b >>> 13);
  }
  return `${(a >>> 0).toString(36)}-${(b >>> 0).toString(36)}`;
}

/** An answer to something else than what waits now does not count. */
export function requireShown({ id, kind, revision }: TeamRequest, shown: string | undefined): void {
  if (shown === undefined || shown === revision) return;
  throw new TeamError(
    'stale_revision',
    `The ${kind} request ${id} is not the one that was shown (${shown}, now ${revision ?? 'none'}): look at it again, then answer`,
  );
}

/** JSON with sorted keys: journals and connections may change their order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([x], [y]) => (x < y ? -1 : 1)))
      : part,
  );
}
