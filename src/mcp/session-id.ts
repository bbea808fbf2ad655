/**
 * A new id of a session over HTTP: a UUID of version 7, which says when it was made. The client gives it back with each
 * request, so that a daemon which has forgotten the session, or never knew it, still knows since when there is one.
 */
export function newSessionId(now = Date.now()): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`;
}

/** When a session began, in milliseconds, as its id says; 0 for an id that says nothing. */
export function beginningOf(id: string): number {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : 0;
}
