import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { ChosenId, quote, Slug } from '../core/text.ts';
import type { Caller } from '../operations/caller.ts';

/** What a client may say when it connects. None of it can widen what its credential allows. */
export const Greeting = z.object({
  team: Slug.optional().describe("the team that a person's calls are about when they name none"),
  as: Slug.optional().describe('the member that a person speaks for'),
  known: z.boolean().optional().describe('whether that team and that member must be there already'),
  teams: z.boolean().optional().describe('whether the team tools are wanted; else as the credential says'),
  session: ChosenId.optional().describe("the agent's session, when the client knows it"),
  began: z.number().int().min(0).optional().describe('when that session began; now when not given'),
  epochs: z.record(z.string().max(200), z.number().int().min(0)).optional().describe('what it claimed'),
});
export type Greeting = z.input<typeof Greeting>;

/** A message that an answer carried. Whether the agent got the answer is open until it calls again. */
export interface Handed {
  readonly teamId: string;
  readonly memberId: string;
  /** The request whose answer it was. */
  readonly request: RequestId | undefined;
  /** Until then it is being delivered. */
  readonly isAnswered: boolean;
}

/** How a client names a request of its own. */
export type RequestId = string | number;

/** One client's conversation. It gives no rights: those come with the credential, each time. */
export interface Session {
  /** The session to which messages are handed over. */
  readonly id: string;
  readonly caller: Caller;
  readonly teams: boolean;
  /** Several clients with the same credential may share it, so what one of them does must not change it for the others. */
  readonly shared: boolean;
  team: string | undefined;
  as: string | undefined;
  /** Requests that the agent was shown, so that waiting for news does not end with old ones. */
  readonly shown: Set<string>;
  /** Requests that the agent made, whose answers it wants to hear. */
  readonly asked: Set<string>;
  /** When it began, on the wall clock, under whichever daemon. */
  readonly began: number;
  /** The epoch under which the agent claimed each task: what it writes counts only while that is the present one. */
  readonly epochs: Map<string, number>;
  /** Messages that answers carried, until a later call shows that the agent got them. */
  readonly handed: Map<string, Handed>;
  /** Messages of which that was doubted, and which are shown once more. */
  readonly doubted: Set<string>;
}

/** Begins a conversation, or says why this credential cannot have it. */
export function openSession(caller: Caller, greeting: Greeting = {}, { shared = false } = {}): Session {
  const { team, as, teams, session, began, epochs = {} } = greeting;
  if (caller.teamId !== undefined && team !== undefined && team !== caller.teamId) {
    throw new TeamError('not_allowed', `This credential is for team ${caller.teamId}, not ${quote(team)}`);
  }
  if (caller.scope !== 'admin' && as !== undefined && as !== caller.memberId) {
    throw new TeamError('not_allowed', `This credential acts for ${caller.memberId ?? 'nobody'}, not ${quote(as)}`);
  }
  return {
    id: session ?? crypto.randomUUID(),
    caller,
    // A credential made for a member was made for an agent of Troupe's; a person's says nothing about teams.
    teams: teams ?? caller.teamId !== undefined,
    shared,
    team: caller.teamId ?? team,
    as,
    shown: new Set(),
    asked: new Set(),
    // Of one that is shared nobody knows since when those who share it are there.
    began: shared ? 0 : (began ?? Date.now()),
    epochs: new Map(Object.entries(epochs)),
    handed: new Map(),
    doubted: new Set(),
  };
}

/** In whose name the session acts; nobody's for a person who named no member. */
export function memberOf({ caller, as }: Session): string | undefined {
  return caller.scope === 'admin' ? as : caller.memberId;
}
