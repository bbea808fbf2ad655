import { putTeam } from '../tables.ts';
import type { Apply } from './apply.ts';

/** The tasks stay completed: somebody did them, and a person decides what is done again. */
export const applyLost: Apply['work:lost'] = (state, { to, works }) => {
  const { team } = state;
  if (!team?.work) return;
  const lost = [...(team.work.lost ?? []), ...works];
  putTeam(state, { ...team, work: { ...team.work, tip: to, lost } });
};
