import { hasScope } from '../operations/caller.ts';
import type { Services } from '../operations/operation.ts';
import { memberOf } from './session.ts';
import type { Session } from './session.ts';
import type { Tool } from './tool.ts';
import { TOOLS } from './tools.ts';

/** Which tools a session gets. */
export interface Access {
  readonly tools: readonly Tool[];
  /** Whether the caller is a lead in delegate mode. */
  readonly delegating: boolean;
}

/** Computed for every call, because leads and their rights change. */
export async function accessOf(
  services: Services,
  session: Session,
  team: string | undefined = session.team,
): Promise<Access> {
  if (!session.teams) return { tools: [], delegating: false };
  const { caller } = session;
  const memberId = memberOf(session);
  const standing = team === undefined ? undefined : await services.ledger.view(team, (state) => state.team);
  const isLead = memberId !== undefined && memberId === standing?.leadId;
  const delegating = isLead && standing.delegateMode;
  const isPerson = caller.scope === 'admin' && (memberId === undefined || standing === undefined);
  const mayLead = hasScope(caller, 'lead') && (isLead || isPerson);
  return {
    delegating,
    tools: TOOLS.filter((tool) => {
      if (tool.apart && standing && !standing.work) return false;
      if (tool.reviews && (memberId === undefined || standing?.work?.review !== memberId)) return false;
      if (tool.for === 'lead') return mayLead;
      if (tool.for === 'member') return hasScope(caller, 'member') && !(delegating && tool.works);
      return true;
    }),
  };
}
