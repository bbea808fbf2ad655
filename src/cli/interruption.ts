/** Aborts on Ctrl-C, so that a call that waits is taken back before we go. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return controller.signal;
}

/** Aborts when we are told to end, which is how those who run us in the background press Ctrl-C. */
export function termination(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGTERM', () => controller.abort());
  return controller.signal;
}
