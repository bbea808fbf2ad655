/**
 * While a machine sleeps, the timers of Node stand still, and the time of day goes on. So a long wait looks at the time
 * this often: a limit that resets at 03:10 is over at 03:10, also on a laptop that was closed meanwhile.
 */
const LOOK_MS = 30_000;

/** Calls `ring` at a time of day, given in milliseconds since 1970. Returns a function that takes it back. */
export function ringAt(at: number, ring: () => void, { unref = false } = {}): () => void {
  let timer = setTimeout(look, waitFor(at));
  if (unref) timer.unref();
  return () => clearTimeout(timer);

  function look(): void {
    if (Date.now() >= at) return ring();
    timer = setTimeout(look, waitFor(at));
    if (unref) timer.unref();
  }
}

function waitFor(at: number): number {
  return Math.min(LOOK_MS, Math.max(0, at - Date.now()));
}
