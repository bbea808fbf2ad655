import { putTeam } from '../tables.ts';
import type { ApplyTo } from './apply.ts';

export const TIP_FACTS: ApplyTo<'tip'> = {
  'tip:moved': (state, { to, rewritten, base }) => {
    const { team } = state;
    if (!team?.work) return;
    const work = { ...team.work, tip: to, ...(base !== undefined && { base }), ...(rewritten && { rewritten }) };
    putTeam(state, { ...team, work });
  },

  // A ref keeps the commit; the event says when.
  'tip:refused': () => {},
};
