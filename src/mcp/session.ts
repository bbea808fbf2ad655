import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { ChosenId, Slug } from '../core/fields.ts';
import { quote } from '../core/text.ts';
import type { Caller } from '../operations/caller.ts';

/** What a client may say when it connects. None of it widens the rights of its credential. */
export const Greeting = z.object({
  team: Slug.optional().describe("the team of a person's calls that name none"),
  as: Slug.optional().describe('the member that a person acts for'),
  known: z.boolean().optional().describe('whether that team and that member must already exist'),
  teams: z.boolean().optional().describe('whether to offer the team tools (default: as the credential says)'),
  session: ChosenId.optional().describe("the agent's session, when the client knows it"),
  began: z.number().int().min(0).optional().describe('when that session began (default: now)'),
  epochs: z.record(z.string().max(200), z.number().int().min(0)).optional().describe('what it claimed'),
});
export type Greeting = z.input<typeof Greeting>;

/** A message in an answer. Whether the agent got the answer is open until its next call. */
export interface Handed {
  readonly teamId: string;
  readonly memberId: string;
  /** The request that the answer was for. */
  readonly request: RequestId | undefined;
  /** False while the message is still being delivered. */
  readonly isAnswered: boolean;
}

/** The client's id of a request. */
export type RequestId = string | number;

/** One client's conversation. It grants nothing: rights come with the credential of each request. */
export interface Session {
  /** The session that messages are delivered to. */
  readonly id: string;
  readonly caller: Caller;
  readonly teams: boolean;
  /** Why there are no tools. Not set if the client turned them off: then its agent is told nothing about teams. */
  readonly why?: string;
  /** Whether several clients with one credential share it. Then no client may change it for the others. */
  readonly shared: boolean;
  team: string | undefined;
  as: string | undefined;
  /** Requests that the agent has seen. Waiting for news must not end with these. */
  readonly shown: Set<string>;
  /** Requests that the agent made and expects an answer to. */
  readonly asked: Set<string>;
  /** When it began, by the wall clock, possibly under an earlier daemon. */
  readonly began: number;
  /** The epoch under which the agent claimed each task. Its writes count only while this epoch is current. */
  readonly epochs: Map<string, number>;
  /** Messages in answers, until a later call shows that the agent got them. */
  readonly handed: Map<string, Handed>;
  /** Messages that may have been lost. They are shown once more. */
  readonly doubted: Set<string>;
}

const NOT_ASKED =
  "This is a person's credential, so Troupe offers no tools until you ask for them. " +
  'Over HTTP send the header x-troupe-teams: 1, with x-troupe-team: TEAM and x-troupe-as: MEMBER to act for a member. ' +
  'On stdio use: troupe mcp --team TEAM --as MEMBER';

/** Begins a conversation, or says why this credential may not. */
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
    // A member's credential was made for an agent that Troupe runs. A person's credential says nothing about teams.
    teams: teams ?? caller.teamId !== undefined,
    ...(teams === undefined && caller.teamId === undefined && { why: NOT_ASKED }),
    shared,
    team: caller.teamId ?? team,
    as,
    shown: new Set(),
    asked: new Set(),
    // It is unknown when the clients of a shared session began.
    began: shared ? 0 : (began ?? Date.now()),
    epochs: new Map(Object.entries(epochs)),
    handed: new Map(),
    doubted: new Set(),
  };
}

/** The member that the session acts for; undefined for a person who named none. */
export function memberOf({ caller, as }: Session): string | undefined {
  return caller.scope === 'admin' ? as : caller.memberId;
}
