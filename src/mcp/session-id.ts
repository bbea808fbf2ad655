/**
 * A new id of an HTTP session: a UUID of version 7, which contains the time. The client sends it with each request. So
 * a daemon that does not know the session, or forgot it, still knows when it began.
 */
export function newSessionId(now = Date.now()): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`;
}

/** When a session began, in milliseconds, according to its id; 0 for other ids. */
export function beginningOf(id: string): number {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : 0;
}
