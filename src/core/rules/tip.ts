import { SYSTEM } from '../actor.ts';
import type { CommandOf } from '../command.ts';
import { shortId } from '../commit-id.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import type { TeamState } from '../state.ts';
import { requireTeam } from '../view.ts';
import { readersOf, requirePerson } from './guard.ts';
import type { RulesOf } from './rule.ts';
import { requireWork } from './work.ts';

/** The branch belongs to the person: the person may move it, and the queue goes on from there. */
export const TIP_RULES: RulesOf<'tip'> = { 'tip.move': moveTip, 'tip.refuse': refuseTip };

/** What was being judged was merged onto the tip before, so it has to be merged again. */
function moveTip(state: TeamState, command: CommandOf<'tip.move'>): TeamEvent[] {
  const { tip, branch, roots, landing } = requireWork(state);
  const { by, from, to, rewritten, base, pack } = command;
  requirePerson(by, 'move the branch');
  if (tip === to) return [];
  if (tip !== from) {
    throw new TeamError(
      'stale_revision',
      `The branch ${branch} is at ${shortId(tip)} now, not at ${shortId(from)}: look at it again`,
    );
  }
  if (roots && !pack) {
    throw new TeamError('conflict', `Commit ${shortId(to)} lies on one machine only: store its pack first`);
  }
  const why = 'a person moved the branch';
  return [
    ...(landing ? [event(command, 'landing:ended', { landingId: landing.id, how: 'dropped', why })] : []),
    event(command, 'tip:moved', { from, to, rewritten, base, pack }),
  ];
}

/** Tells the lead, too: nobody else may look. */
function refuseTip(state: TeamState, command: CommandOf<'tip.refuse'>): TeamEvent[] {
  const { tip, branch } = requireWork(state);
  const { at, by, commit, ref } = command;
  if (by !== SYSTEM) throw new TeamError('not_allowed', `${by} may not put the branch back: only Troupe itself may`);
  const refused = event(command, 'tip:refused', { commit, ref });
  const [leadId] = readersOf(state, [requireTeam(state).leadId]);
  if (leadId === undefined) return [refused];
  const content =
    `Somebody moved ${branch} to ${shortId(commit)}, which does not descend from ${shortId(tip)}, its last commit. ` +
    `The branch is at ${shortId(tip)} again, and ${ref} keeps the other commit. To go on from that one, a person runs: ` +
    `troupe work take ${shortId(commit)} --rewrite --team ${state.teamId}`;
  // Two refusals in one millisecond are two messages.
  let tick = at;
  while (state.messages.has(`tip-${tick}/${leadId}`)) tick++;
  return [
    refused,
    event(command, 'message:sent', {
      copies: [{ id: `tip-${tick}/${leadId}`, toId: leadId }],
      messageType: 'system',
      content,
      priority: 'normal',
    }),
  ];
}
