import { innerStanding } from '../../core/inner-standing.ts';
import type { InnerStanding } from '../../core/inner-standing.ts';
import { NEEDS_YOU, situationOf } from '../../core/situation.ts';
import type { TeamState } from '../../core/state.ts';
import { OVER_BUDGET, waitingOf } from '../../core/waiting.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { digestSince } from '../digest-since.ts';

/** How far a team is, at one moment of its journal. */
export interface Standing {
  readonly seq: number;
  readonly kind: InnerStanding;
  /** What it waits for besides its own work, in words: a person, an account. */
  readonly waiting: string | undefined;
  /** The last answer of its lead. */
  readonly answer: string | undefined;
  /** Whether a part of its work has landed on its branch. */
  readonly hasLanded: boolean;
  /** What is in the way, one line each. */
  readonly obstacles: readonly string[];
}

/** Looks at a team. */
export async function standingOf(ledger: Ledger, teamId: string): Promise<Standing> {
  const { knows, at } = await ledger.view(teamId, ({ team, members }, seq) => ({
    knows: members.get(team?.leadId ?? '')?.metadata?.['knows'],
    at: seq,
  }));
  // Only what happened after the last look of the lead can wake it.
  const isDue = typeof knows === 'number' && knows < at && (await digestSince(ledger, teamId, knows)).due;
  return ledger.view(teamId, (state, seq) => ({
    seq,
    kind: innerStanding(state, isDue),
    waiting: waitingIn(state),
    answer: state.members.get(state.team?.leadId ?? '')?.lastResult,
    hasLanded: state.team?.work !== undefined && state.team.work.tip !== state.team.work.base,
    obstacles: obstaclesIn(state),
  }));
}

const WAITS: ReadonlySet<string> = new Set(['needs-you', 'limited', 'silent']);

function waitingIn(state: TeamState): string | undefined {
  const { kind, text } = situationOf(state, Date.now());
  if (WAITS.has(kind)) return text;
  // What the teams inside this one wait for a person for goes up as well.
  const inside = [...state.members.values()].filter(({ agent, status }) => agent?.team && status === 'active');
  return inside.map(waitingOf).find((reason) => reason?.startsWith(NEEDS_YOU));
}

function obstaclesIn({ tasks, members }: TeamState): string[] {
  const stopped = [...members.values()].flatMap((member) => {
    const { id, agent, status, stopReason, metadata } = member;
    if (agent === undefined) return [];
    if (status === 'stopped') return [`${id} is stopped${stopReason === undefined ? '' : `: ${stopReason}`}`];
    if (waitingOf(member) === OVER_BUDGET) return [`${id} has used up its budget, or that of its team`];
    const failure = metadata?.['failure'];
    return typeof failure === 'string' ? [`the last turn of ${id} failed: ${failure}`] : [];
  });
  const left = [...tasks.values()].flatMap(({ id, title, status, failure }) =>
    status === 'failed'
      ? [`#${id} ${title} failed: ${failure ?? 'no reason was given'}`]
      : status === 'pending' || status === 'in_progress'
        ? [`#${id} ${title} is not done`]
        : [],
  );
  return [...stopped, ...left];
}
