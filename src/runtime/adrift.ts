import type { MemberRecord } from '../core/state.ts';

/** How long a member may have neither a process nor a pending step. */
const ADRIFT_MS = 2_000;

/**
 * Finds members that should have a process but have none, and nothing is being done about it. The cause: the journal
 * was unreachable when they should have been started, restarted or declared dead, and that step gave up. Only members
 * that are in this state for a while count: between two steps every member is, for a moment.
 */
export function watchAdrift() {
  const since = new Map<string, number>();

  return {
    /** Those of the unattended members that have been so for long enough; their time then starts again. */
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
