/** Aborts on Ctrl-C, so that a call that waits is taken back before we go. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return controller.signal;
}
