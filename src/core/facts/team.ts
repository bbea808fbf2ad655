import { mergeMetadata } from '../json.ts';
import { putTeam } from '../tables.ts';
import type { StandingWork } from '../work.ts';
import { defined, withdrawBudgets, withdrawRequests } from './apply.ts';
import type { ApplyTo } from './apply.ts';

export const TEAM_FACTS: ApplyTo<'team' | 'hook'> = {
  'team:created': (state, { type: _type, at, by: _by, cause: _cause, print: _print, work, ...data }) =>
    putTeam(state, {
      ...data,
      id: data.name,
      createdAt: new Date(at),
      status: 'active',
      hooks: [],
      ...(work && { work: { ...work, tip: work.base } }),
    }),

  'team:updated': (state, { type: _type, at: _at, by: _by, cause: _cause, print: _print, work, ...changes }) => {
    if (!state.team) return;
    const { budget: before, leadId, leadTerm = 0 } = state.team;
    const isReplaced = changes.leadId !== undefined && changes.leadId !== leadId;
    const metadata = mergeMetadata(state.team.metadata, changes.metadata);
    const granted = changes.budget ? changes.granted : state.team.granted;
    putTeam(state, {
      ...state.team,
      ...defined(changes),
      granted,
      metadata,
      ...(isReplaced && { leadTerm: leadTerm + 1 }),
      // The branch goes on from its tip, and what waits to land still does.
      ...(work && { work: { ...standingOf(state.team.work), ...work, tip: state.team.work?.tip ?? work.base } }),
    });
    if (changes.budget) withdrawBudgets(state, { before, after: changes.budget });
  },

  'team:closed': (state, { at }) => {
    if (state.team) putTeam(state, { ...state.team, status: 'cleaned-up', closedAt: new Date(at) });
    withdrawRequests(state, () => true);
  },

  'hook:registered': (state, { hook }) => {
    if (state.team) putTeam(state, { ...state.team, hooks: [...state.team.hooks, hook] });
  },

  'hook:removed': (state, { hookType }) => {
    if (state.team) putTeam(state, { ...state.team, hooks: state.team.hooks.filter((hook) => hook.type !== hookType) });
  },
};

/** What only events about work change. */
function standingOf(work: Partial<StandingWork> = {}): Partial<StandingWork> {
  const { queue, landing, queueHost, ended, rewritten, lost } = work;
  return defined({ queue, landing, queueHost, ended, rewritten, lost });
}
