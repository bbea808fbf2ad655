import { SYSTEM } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import { isExpected } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Mailbox } from '../ledger/mailbox.ts';
import { fullDigest } from './digest.ts';
import type { Supervisor } from './supervisor.ts';

/** Makes sure that a change of the lead loses nothing. */
export interface LeadKeeper {
  /** Looks at all teams: an earlier daemon may have ended right after a change. */
  start(): Promise<void>;
  close(): void;
}

/**
 * A new lead gets a digest of the team. If we run it, it is restarted with a lead's tools; a former lead is restarted as a
 * teammate. All follow from the state: the message and the processes carry the lead's term. So nothing is missing after a
 * crash, and nothing comes twice.
 */
export function keepLeads(
  parts: { ledger: Ledger; mailbox: Mailbox; supervisor: Supervisor },
  onError: (error: unknown, teamId: string) => void,
): LeadKeeper {
  const { ledger, mailbox, supervisor } = parts;
  const unsubscribe = ledger.subscribe((teamId, { events }, state) => {
    if (newLead(state) && events.some((event) => mayBringLead(event, state))) look(teamId);
  });

  return {
    async start() {
      for (const teamId of await ledger.teams()) look(teamId);
    },
    close: unsubscribe,
  };

  function look(teamId: string): void {
    lookAt(teamId).catch((error: unknown) => onError(error, teamId));
  }

  async function lookAt(teamId: string): Promise<void> {
    const found = await ledger.view(teamId, (state, seq) => {
      const lead = newLead(state);
      // With a fixed id: if there are several daemons, one sends it.
      const messageId = `new-lead-${lead?.term}`;
      return lead && { ...lead, messageId, text: state.messages.has(messageId) ? '' : fullDigest(state, seq).text };
    });
    if (!found) return;
    const { leadId, term, messageId, text } = found;
    if (text) await tell(teamId, { messageId, toId: leadId, content: text });
    await supervisor.restartForLead(teamId, { leadId, term });
  }

  async function tell(teamId: string, { messageId, ...message }: Record<'messageId' | 'toId' | 'content', string>) {
    try {
      await mailbox.send(teamId, SYSTEM, { ...message, type: 'system' }, { messageId });
    } catch (error) {
      const isOver = error instanceof TeamError && ['conflict', 'member_stopped', 'team_closed'].includes(error.code);
      if (!isOver) throw error;
    }
  }
}

/** The lead of an open team if it replaced another and is not stopped. A stopped one is looked at when it is back. */
function newLead({ team, members }: TeamState): { leadId: string; term: number } | undefined {
  if (team?.leadTerm === undefined || team.status === 'cleaned-up') return undefined;
  const lead = members.get(team.leadId);
  return lead && isExpected(lead) ? { leadId: lead.id, term: team.leadTerm } : undefined;
}

function mayBringLead(event: TeamEvent, { team }: TeamState): boolean {
  if (event.type === 'team:updated') return event.leadId !== undefined;
  return event.type === 'teammate:joined' && event.memberId === team?.leadId;
}
