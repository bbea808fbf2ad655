/** Aborts on Ctrl-C, so that a waiting call is cancelled before we exit. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return controller.signal;
}

/** How a long-running command is ended. */
export interface Ending {
  /** Aborts when we are told to end: Ctrl-C, a signal, or a closed output. */
  readonly signal: AbortSignal;
  /** Aborts a while later: for a call that must finish, because otherwise its effect would be left behind. */
  readonly late: AbortSignal;
  /** Ends as if a signal had come. */
  end(): void;
  /** Sets what happens at the second signal. */
  onAgain(act: () => void): void;
}

/**
 * `timeout` and terminals signal the whole process group, and a launcher passes signals on. So one wish may come twice.
 */
const ECHO_MS = 1_000;
const LATE_MS = 5_000;

/** Listens for every way to be ended. Without `onAgain`, the second signal exits the process. */
export function listenForEnd(exitCode: number): Ending {
  const [soon, late] = [new AbortController(), new AbortController()];
  let since: number | undefined;
  let again = (): void => process.exit(exitCode);
  const end = (): void => {
    if (since !== undefined) return;
    since = performance.now();
    soon.abort();
    setTimeout(() => late.abort(), LATE_MS).unref();
  };
  // A hangup ends only this process: a closed terminal does not mean that the team should end.
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (since !== undefined && performance.now() - since > ECHO_MS) again();
      else end();
    });
  }
  return { signal: soon.signal, late: late.signal, end, onAgain: (act) => (again = act) };
}
