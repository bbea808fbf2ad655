/** Aborts on Ctrl-C, so that a call that waits is taken back before we go. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return controller.signal;
}

/** How a command that stays for a while is ended. */
export interface Ending {
  /** Aborts when we are told to end: Ctrl-C, a signal, a reader that has gone. */
  readonly signal: AbortSignal;
  /** The same a while later: for a call whose effect would be left behind if it were not waited for. */
  readonly late: AbortSignal;
  /** Ends as if we were told to. */
  end(): void;
  /** What is done when we are told once more. */
  onAgain(act: () => void): void;
}

/** `timeout` and terminals signal the whole group, and a launcher passes on what it got: that is one wish, told twice. */
const ECHO_MS = 1_000;
const LATE_MS = 5_000;

/** Hears of every way of being told to end. Until somebody says what else to do, being told again ends the process. */
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
  // A hangup ends us and nothing else: a terminal that is gone is no wish that the team should end.
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (since !== undefined && performance.now() - since > ECHO_MS) again();
      else end();
    });
  }
  return { signal: soon.signal, late: late.signal, end, onAgain: (act) => (again = act) };
}
