import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Abilities, Agent, AgentEvent, Mode, TeamTools, Turn, TurnEnd } from '../../src/agents/agent.ts';
import { OWN_AGENTS } from '../../src/agents/catalog.ts';
import { turnByTurn } from '../../src/agents/turns.ts';
import type { LiveAgent } from '../../src/agents/turns.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import type { SharedTask } from '../../src/core/task.ts';
import type { OperationName } from '../../src/operations/index.ts';
import type { Door } from '../../src/teammate/door.ts';
import { localDoor } from '../../src/teammate/local-door.ts';
import type { Ending } from '../../src/teammate/teammate-steps.ts';
import { runTeammate } from '../../src/teammate/teammate.ts';
import type { TeammateOptions } from '../../src/teammate/teammate.ts';
import type { House } from '../mcp/house.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Plays a member: does one turn and returns its result, or throws if the turn fails. */
export type Play = (turn: Turn, stage: PlayStage) => string | Promise<string>;

export interface PlayStage {
  /** The number of the turn, from 1. */
  readonly count: number;
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
}

/** Thrown by a play if the agent itself ended its turn, as with Escape in its terminal. */
export class Cancelled extends Error {}

/** Thrown by a play if its model refuses, in the words of an agent. */
export class Refused extends Error {
  readonly end: Pick<TurnEnd, 'trouble' | 'resetsAt'>;

  constructor(end: Refused['end']) {
    super(`refused: ${end.trouble}`);
    this.end = end;
  }
}

/** Intercepts a member's calls: may look, wait, fail, or do something before and after. */
export type Rule = (next: () => Promise<unknown>, input: unknown) => Promise<unknown>;

export interface MemberOptions extends Partial<
  Pick<
    TeammateOptions,
    | 'permissions'
    | 'workMode'
    | 'retryAfter'
    | 'toolsNow'
    | 'silence'
    | 'graceMs'
    | 'spendingMs'
    | 'account'
    | 'switches'
    | 'fallbackAccounts'
    | 'handover'
    | 'agent'
    | 'worksApart'
  >
> {
  readonly abilities?: Partial<Abilities>;
  readonly live?: LiveAgent;
  readonly mode?: Mode;
  readonly resume?: string;
  /** Where it works and keeps its transcripts; its own without one. */
  readonly folder?: string;
  /** Sees every call; `rules` are for single operations. */
  readonly onCall?: (name: OperationName, next: () => Promise<unknown>) => Promise<unknown>;
}

/** A member at work in this process, on a real ledger. */
export interface Member {
  /** The turns that its agent got. */
  readonly turns: Turn[];
  /** The options of each start of its agent. */
  readonly sessions: { readonly mode: Mode; readonly resume: string | undefined; readonly tools?: TeamTools }[];
  readonly errors: unknown[];
  /** The operations that it called. */
  readonly calls: OperationName[];
  readonly rules: Map<OperationName, Rule>;
  readonly ended: Promise<Ending>;
  stop(): void;
  /** The number of transcripts. */
  conversations(): number;
}

/** Starts a member of the team `demo`. It is stopped when the test ends. */
export function startMember(house: House, memberId: string, play: Play, options: MemberOptions = {}): Member {
  const folder = options.folder ?? temporaryFolder();
  const turns: Turn[] = [];
  const sessions: Member['sessions'] = [];
  const errors: unknown[] = [];
  const calls: OperationName[] = [];
  const rules: Member['rules'] = new Map();
  const stop = new AbortController();
  const inner = localDoor(house.services, { teamId: 'demo', memberId, isLead: memberId === 'lead' });
  const door: Door = {
    ...inner,
    call: (async (name: OperationName, input: never, how: never) => {
      calls.push(name);
      // As over a connection: the call begins after the caller has gone on.
      await new Promise(setImmediate);
      const call = (): Promise<unknown> => inner.call(name, input, how);
      const rule = rules.get(name);
      const ruled = (): Promise<unknown> => (rule ? rule(call, input) : call());
      return options.onCall ? options.onCall(name, ruled) : ruled();
    }) as Door['call'],
  };
  const agent: Agent = options.agent ?? {
    kind: 'function',
    abilities: { ...OWN_AGENTS.function, ...options.abilities },
    async start({ mode, resume, tools }) {
      sessions.push({ mode, resume, ...(tools && { tools }) });
      return turnByTurn(
        resume ?? crypto.randomUUID(),
        async (turn, emit, signal) => {
          const cancelled = new Promise<never>((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
          });
          const count = turns.push(turn);
          const played = async (): Promise<string> => play(turn, { count, signal, emit });
          const text = await Promise.race([played(), cancelled]).catch((error: unknown) => {
            if (error instanceof Cancelled) return undefined;
            if (error instanceof Refused) return error;
            throw error;
          });
          if (text instanceof Refused) {
            return { type: 'turnEnd', reason: 'failed', text: '', error: text.message, ...text.end };
          }
          if (text === undefined) return { type: 'turnEnd', reason: 'cancelled', text: '' };
          emit({ type: 'shown', messageIds: turn.messages.map(({ id }) => id) });
          return { type: 'turnEnd', reason: 'done', text };
        },
        options.live,
      );
    },
  };
  const { permissions, workMode, retryAfter, toolsNow, silence, graceMs, spendingMs, mode = 'edit', resume } = options;
  const { account = `function@${memberId}`, switches, fallbackAccounts, handover } = options;
  const ended = runTeammate({
    door,
    agent,
    start: { teamId: 'demo', memberId, cwd: folder, env: {}, role: '', mode, resume, tools: toolsNow?.() },
    ...(toolsNow && { toolsNow }),
    ...(permissions && { permissions }),
    ...(workMode && { workMode }),
    ...(retryAfter && { retryAfter }),
    ...(silence && { silence }),
    ...(options.worksApart && { worksApart: true }),
    ...(graceMs !== undefined && { graceMs }),
    account,
    ...(switches && { switches, fallbackAccounts, handover }),
    ...(spendingMs !== undefined && { spendingMs }),
    transcriptPath: (sessionId) => join(folder, `${sessionId}.jsonl`),
    signal: stop.signal,
    onError: (error) => errors.push(error),
  });
  // A test that does not look at the end must not fail because of it.
  ended.catch(() => {});
  onTestFinished(async () => {
    stop.abort();
    await house.call('team.close', { teamId: 'demo', force: true }).catch(() => {});
    await ended.catch(() => {});
  });
  return {
    turns,
    sessions,
    errors,
    calls,
    rules,
    ended,
    stop: () => stop.abort(),
    conversations: () => readdirSync(folder).length,
  };
}

/** A turn that lasts until it is released or cancelled. */
export function holding(): { play: Play; begun: Promise<void>; letGo: (text?: string) => void } {
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<string>();
  return {
    play: () => {
      begun.resolve();
      return go.promise;
    },
    begun: begun.promise,
    letGo: (text = 'done') => go.resolve(text),
  };
}

/** Calls that tests make on the team `demo`. */
export function ask(house: House) {
  const teamId = 'demo';
  return {
    task: (taskId: string) => house.call<SharedTask>('task.show', { teamId, taskId }),
    create: (title: string, more: object = {}) => house.call<SharedTask>('task.create', { teamId, title, ...more }),
    send: (toId: string, content: string, more: object = {}) =>
      house.call('message.send', { teamId, toId, content, ...more }),
    member: (memberId: string) =>
      house.call<{ status: string; metadata?: Record<string, unknown> }>('member.show', { teamId, memberId }),
    count: async (status: string): Promise<number> =>
      (await house.call<{ tasks: Record<string, number> }>('team.status', { teamId })).tasks[status] ?? 0,
    /** The events of a type, in order. */
    events: async <T extends TeamEvent['type']>(type: T) =>
      (await house.events(teamId)).filter((event) => event.type === type) as Extract<TeamEvent, { type: T }>[],
  };
}
