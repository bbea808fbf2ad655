import type { CommandEnvelope } from '../command.ts';
import { TeamError } from '../errors.ts';
import { SPAWNS_PER_MINUTE } from '../limits.ts';
import { MINUTE_MS, pricesOf } from '../message-price.ts';
import type { TeamState } from '../state.ts';

/*
 * How fast members may go: an agent in a loop must neither flood the others nor start others without end. A person and
 * Troupe itself are not members and never held up.
 */

/** Messages have a price in time, which runs off; who owes more than the burst has to wait. A broadcast is one message. */
export function requireMessagePace(state: TeamState, { by, at }: CommandEnvelope): void {
  const { price, burst } = pricesOf(state);
  const wait = (state.members.get(by)?.sendsPaidAt ?? at) + price - burst - at;
  // More than one can owe: the clock was set back, and nobody is to be silent for that.
  if (wait <= 0 || wait > price) return;
  throw new TeamError(
    'limit',
    `${by} sends too fast (${Math.round(MINUTE_MS / price)} messages a minute, ${Math.floor(burst / price)} at once after a pause): try again in ${seconds(wait)}, and say it in one message`,
    { retryMs: wait },
  );
}

/** Only those who decide for others bring members in, so that teammates never spawn; of those, agents not too fast. */
export function requireSpawnPace(state: TeamState, { by, at }: CommandEnvelope): void {
  const spawns = state.members.get(by)?.spawns ?? [];
  const recent = spawns.filter((time) => time <= at && at - time < MINUTE_MS);
  const [first] = recent;
  if (first === undefined || recent.length < SPAWNS_PER_MINUTE) return;
  const wait = first + MINUTE_MS - at;
  throw new TeamError(
    'limit',
    `${by} started ${SPAWNS_PER_MINUTE} teammates within a minute: try again in ${seconds(wait)}`,
    { retryMs: wait },
  );
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1_000)} s`;
}
