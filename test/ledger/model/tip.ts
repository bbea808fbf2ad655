import { needOpenTeam, refused } from './guard.ts';
import type { Rules } from './guard.ts';
import { isExpected, TEAM } from './world.ts';

/* The tip in the model: a person moves it, or Troupe puts it back. */

export const TIP_RULES: Rules<'tip'> = {
  'tip.move'(world, { at, by, from, to, rewritten, base, pack }, attempt) {
    const team = needOpenTeam(world, attempt);
    if (!team?.work) attempt.codes.push('conflict');
    if (!by.startsWith('@')) attempt.codes.push('not_allowed');
    if (!refused(attempt) && team?.work?.tip === to) return;
    if (team?.work && team.work.tip !== from) attempt.codes.push('stale_revision');
    if (team?.work?.roots && !pack) attempt.codes.push('conflict');
    if (refused(attempt) || !team?.work) return;
    const { landing, ...work } = team.work;
    if (landing) {
      const tasks = landing.works.map(({ taskId }) => taskId);
      work.ended = { how: 'dropped', why: 'a person moved the branch', tasks, at };
      attempt.facts.push(`landing:ended ${landing.id}`);
    }
    team.work = { ...work, tip: to, ...(base !== undefined && { base }), ...(rewritten && { rewritten }) };
    attempt.facts.push('tip:moved');
  },

  'tip.refuse'(world, { at, by, commit, ref }, attempt) {
    const team = needOpenTeam(world, attempt);
    if (!team?.work) attempt.codes.push('conflict');
    if (by !== '@system') attempt.codes.push('not_allowed');
    if (refused(attempt) || !team?.work) return;
    attempt.facts.push('tip:refused');
    const lead = world.members.find(({ id }) => id === team.leadId);
    if (!lead || !isExpected(lead)) return;
    const { branch, tip } = team.work;
    const [here, there] = [tip.slice(0, 7), commit.slice(0, 7)];
    const content =
      `Somebody moved ${branch} to ${there}, which does not descend from ${here}, its last commit. ` +
      `The branch is at ${here} again, and ${ref} keeps the other commit. To go on from that one, a person runs: ` +
      `troupe work take ${there} --rewrite --team ${TEAM}`;
    const sent = { type: 'system' as const, content, priority: 'normal', sentAt: at, redeliveries: 0 };
    let tick = at;
    while (world.messages.some(({ id }) => id === `tip-${tick}/${lead.id}`)) tick++;
    world.messages.push({ id: `tip-${tick}/${lead.id}`, toId: lead.id, fromId: '@system', ...sent });
    attempt.facts.push(`message:sent tip-${tick}/${lead.id}`);
  },
};
