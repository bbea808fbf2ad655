import { SYSTEM } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Mailbox } from '../ledger/mailbox.ts';
import { fullDigest } from './digest.ts';
import type { Supervisor } from './supervisor.ts';

/**
 * Makes sure that a change of the lead loses nothing: the new lead gets a digest of the team. If we run it, it is
 * restarted with a lead's tools.
 */
export function keepLeads(
  parts: { ledger: Ledger; mailbox: Mailbox; supervisor: Supervisor },
  onError: (error: unknown, teamId: string) => void,
): () => void {
  const { ledger, mailbox, supervisor } = parts;
  return ledger.subscribe((teamId, { seq, events }) => {
    for (const event of events) {
      if (event.type !== 'team:updated' || event.leadId === undefined) continue;
      welcome(teamId, event.leadId, seq).catch((error: unknown) => onError(error, teamId));
    }
  });

  async function welcome(teamId: string, leadId: string, seq: number): Promise<void> {
    const { text } = await ledger.view(teamId, (state, last) => fullDigest(state, last));
    try {
      // With a fixed id: if there are several daemons, one sends it.
      const messageId = `new-lead-${seq}`;
      await mailbox.send(teamId, SYSTEM, { toId: leadId, content: text, type: 'system' }, { messageId });
    } catch (error) {
      const isTold = error instanceof TeamError && ['conflict', 'member_stopped', 'team_closed'].includes(error.code);
      if (!isTold) throw error;
    }
    await supervisor.restart(teamId, leadId);
  }
}
