import { isVacant } from './person.ts';
import { isExpected } from './state.ts';
import type { MemberRecord } from './state.ts';

/** What decides whether a member counts. */
type Counted = Pick<MemberRecord, 'id' | 'status' | 'returning' | 'agentType'> & { readonly agent?: unknown };

/** The team, as far as it matters for the count. */
interface Of {
  readonly leadId: string;
  readonly status: string;
}

/**
 * Whether a member counts wherever members are counted. The place of a missing lead does not, and neither do members
 * that left. Of a closed team, everybody counts who was in it.
 */
export function isCounted(member: Counted, team: Pick<Of, 'status'> | undefined): boolean {
  return !isVacant(member) && (isExpected(member) || team?.status === 'cleaned-up');
}

/** How many members a team has, and how many of them are teammates of its lead. */
export function countMembers(
  members: Iterable<Counted>,
  team: Of | undefined,
): { readonly members: number; readonly teammates: number } {
  const counted = [...members].filter((member) => isCounted(member, team));
  return { members: counted.length, teammates: counted.filter(({ id }) => id !== team?.leadId).length };
}
