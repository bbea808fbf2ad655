import { record } from '../record/head.ts';

/** How far the daemon's clock is ahead of this machine's, in milliseconds. */
let ahead = 0;
/** The daemon reports whole seconds, so a smaller difference may be none. */
const NOTICED_MS = 2_000;

/**
 * The time by the daemon's clock, which all events use: the clock of another machine's browser may differ. In a record,
 * time stands still when it was exported.
 */
export function daemonNow(): number {
  return record?.at ?? Date.now() + ahead;
}

/** Compares the clocks. Called for every new connection, because a machine that slept may have set its clock. */
export async function compareClocks(): Promise<void> {
  const before = Date.now();
  const answer = await fetch('/health', { cache: 'no-store' }).catch(() => undefined);
  const told = Date.parse(answer?.headers.get('date') ?? '');
  if (Number.isNaN(told)) return;
  const difference = told + 500 - (before + Date.now()) / 2;
  ahead = Math.abs(difference) < NOTICED_MS ? 0 : Math.round(difference);
}
