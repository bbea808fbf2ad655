import type { TeamState } from '../state.ts';

/** Ids have the form of Claude Code's own, which contain the time; two in one millisecond must still differ. */
export function freeId(state: TeamState, at: number, make: (at: number) => string): string {
  let tick = at;
  while (state.requests.has(make(tick))) tick++;
  return make(tick);
}
