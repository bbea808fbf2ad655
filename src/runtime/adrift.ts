import type { MemberRecord } from '../core/state.ts';

/** How long a member may have neither a process nor anybody who is at it. */
const ADRIFT_MS = 2_000;

/**
 * Finds members that should have a process and for whom nothing is under way: the journal could not be reached at the
 * moment when they were to be started, brought back or declared dead, and whoever was at it gave up. Only those that were
 * so for a while: between two steps everybody is for a moment.
 */
export function watchAdrift() {
  const since = new Map<string, number>();

  return {
    /** Of those that are unattended now, those that have been so for long enough; they count anew from then on. */
    find(teamId: string, unattended: readonly MemberRecord[]): MemberRecord[] {
      const now = performance.now();
      const keyOf = ({ id }: MemberRecord): string => `${teamId}/${id}`;
      const keys = new Set(unattended.map(keyOf));
      for (const key of since.keys()) if (key.startsWith(`${teamId}/`) && !keys.has(key)) since.delete(key);
      return unattended.filter((member) => {
        const key = keyOf(member);
        const from = since.get(key) ?? now;
        const isAdrift = now - from >= ADRIFT_MS;
        if (isAdrift) since.delete(key);
        else since.set(key, from);
        return isAdrift;
      });
    },
  };
}
