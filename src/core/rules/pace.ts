import type { CommandEnvelope } from '../command.ts';
import { TeamError } from '../errors.ts';
import { SPAWNS_PER_MINUTE } from '../limits.ts';
import { MINUTE_MS, pricesOf } from '../message-price.ts';
import type { TeamState } from '../state.ts';

/*
 * Rate limits for members: an agent in a loop must neither flood others with messages nor start members without end. A
 * person and Troupe itself are not members and have no limit.
 */

/** Each message has a price in time. A member that owes more than the burst has to wait. A broadcast is one message. */
export function requireMessagePace(state: TeamState, { by, at }: CommandEnvelope): void {
  const { price, burst } = pricesOf(state);
  const wait = (state.members.get(by)?.sendsPaidAt ?? at) + price - burst - at;
  // A longer wait than one price means that the clock was set back; nobody has to be silent for that.
  if (wait <= 0 || wait > price) return;
  throw new TeamError(
    'limit',
    `${by} sends too fast (${Math.round(MINUTE_MS / price)} messages a minute, ${Math.floor(burst / price)} at once after a pause): try again in ${seconds(wait)}, and say it in one message`,
    { retryMs: wait },
  );
}

/** Only managers add members, so teammates never spawn. Agents among the managers have this rate limit. */
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
