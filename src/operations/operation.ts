import type { z } from 'zod';
import type { Bridge } from '../bridge/bridge.ts';
import type { Actor } from '../core/actor.ts';
import type { AgentSpec } from '../core/agent.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Mailbox } from '../ledger/mailbox.ts';
import type { SharedTaskList } from '../ledger/task-list.ts';
import type { DaemonConfig } from '../runtime/config.ts';
import type { TeamCoordinator } from '../runtime/coordinator.ts';
import type { TeamHooks } from '../runtime/hooks/team-hooks.ts';
import type { SessionManager } from '../runtime/sessions.ts';
import type { TeamMemory } from '../runtime/team-memory.ts';
import type { Caller, Scope } from './caller.ts';
import type { DaemonStatus } from './daemon-status.ts';

/** What operations work with. */
export interface Services {
  readonly ledger: Ledger;
  readonly tasks: SharedTaskList;
  readonly mailbox: Mailbox;
  readonly coordinator: TeamCoordinator;
  readonly sessions: SessionManager;
  readonly hooks: TeamHooks;
  readonly memory: TeamMemory;
  readonly daemon: DaemonService;
  /** Claude Code's own teams. */
  readonly native: Bridge;
  /** Sees every call of every face, for counting and tracing; `operation` is `unknown` for a name that is none. */
  readonly watch?: <R>(operation: string, call: WatchedCall, work: () => Promise<R>) => Promise<R>;
}

/** What may be known of a call by those who watch calls. */
export interface WatchedCall {
  readonly caller: Caller;
  readonly input: unknown;
  readonly as?: string | undefined;
  /** The span that it is part of, as W3C Trace Context writes it. */
  readonly traceparent?: string | undefined;
}

/** What operations ask of the process they run in. */
export interface DaemonService {
  /** Its name among the daemons that share the journal, where several can. */
  readonly hostId?: string;
  /** What `daemon.status` answers with. */
  status(): Promise<DaemonStatus>;
  /** Ends the daemon after the answer is out; with `keep`, the members' processes go on and are taken over later. */
  stop(options: { keep: boolean }): void;
  /** The folder with the transcripts of a member. */
  transcriptFolder(teamId: string, memberId: string): string;
  /** What a person set for this state directory. */
  config?(): DaemonConfig;
  /** What runs a teammate where neither the caller nor its team says. Refuses where there is nothing. */
  defaultAgent(): AgentSpec;
  /** Refuses agents that could not be started where they are to work. */
  requireAgents?(
    agents: readonly { readonly spec: AgentSpec; readonly cwd: string | undefined; readonly leads?: boolean }[],
  ): void;
  /** Which of these variables its environment does not have; of other machines that share the journal nothing is known. */
  lacking?(names: readonly string[]): string[];
  /** What the members of a team that is gone did and were told goes with it, and so does a folder of theirs that is empty. */
  removeTranscripts(teamId: string): Promise<void>;
  /** Asks another daemon that shares the journal; undefined if the name is ours, or nobody of that name lives. */
  askHost?(name: string, question: unknown, options: { timeoutMs: number }): Promise<unknown>;
  /** Makes a credential for one member of a team. */
  memberToken(teamId: string, memberId: string, scope: 'member' | 'lead' | 'reader'): Promise<string>;
  /** Makes every credential given out so far void. */
  rotateTokens(): Promise<void>;
  /** Where the dashboard opens without being asked who one is, once and within a minute. */
  loginUrl(): Promise<string>;
}

/** Resolves when a long answer may be made, for faces that make theirs from those of several operations. */
export type TakePlace = () => Promise<AnswerPlace>;

/** Counts a call that waits for something to happen, or refuses it where too many do; returns the way to count it no more. */
export type TakeWait = () => () => void;

/** A place among the few long answers that are made at a time. */
export interface AnswerPlace {
  /** The answer was handed over: the next one may be made when its client has read it. */
  readonly sent: () => void;
  /** Nothing of it goes out: the next one may be made at once. */
  readonly over: () => void;
}

/** One call. */
export interface Context extends Services {
  readonly caller: Caller;
  /** In whose name. */
  readonly actor: Actor;
  /**
   * Goes into the command: the id under which the same call, sent again after a lost answer, is not done twice, and, where
   * daemons share the journal, the one through which a member speaks.
   */
  readonly once: { readonly commandId?: string; readonly onHost?: string };
  /** Aborts when the caller has gone or given up. */
  readonly signal: AbortSignal;
  /** Tells a caller who waits that it still waits. */
  readonly progress?: (message: string) => void;
  /** Says of a list that it is not all: asked with this as `after`, the operation goes on with what follows. */
  readonly more?: (after: Cursor) => void;
  /** Tells later whether the answer went out, for what must be taken back where nobody hears of it. Not every face can. */
  readonly whenAnswered?: WhenAnswered;
}

/** Calls back once when the answer went out, as far as one can tell, or when it is clear that it never will. */
export type WhenAnswered = (hear: (isHeard: boolean) => Promise<void>) => void;

/** From where a list goes on: the id or number of the last thing in it. */
export type Cursor = string | number;

/** How a command line names an operation. */
export interface CommandLine {
  /** `task add`; the operation's own name with a space when not given. */
  readonly command?: string;
  /** Inputs that are given by place, in order. */
  readonly args?: readonly string[];
  /** Flags whose name differs from the input's: `dependencies` is `--needs`. */
  readonly flags?: Readonly<Record<string, string>>;
}

/** A verb of Troupe, written once; every face is made from it. */
export interface Operation<I extends z.ZodObject = z.ZodObject, R extends z.ZodType = z.ZodType> {
  /** `noun.verb`. */
  readonly name: string;
  /** One line for help texts and documents. */
  readonly summary: string;
  readonly scope: Scope;
  /** Its answer may be long, or much must be read for it: few of them are made at a time. */
  readonly long?: true;
  readonly input: I;
  readonly result: R;
  /** `POST /api/teams/:teamId/tasks`; inputs in the path are named there, the others are the body or the query. */
  readonly route: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /api/${string}`;
  /** The WebSocket message that asks for it, the one that answers, and what that says. */
  readonly message?: {
    readonly type: string;
    readonly answer: string;
    fields(result: z.output<R>): object;
    /** The field of its payload in which the first design names who speaks; here the credential, or `as`, says it. */
    readonly speaker?: string;
    /** Fields of the first design that can say only this. */
    readonly settled?: Readonly<Record<string, string>>;
  };
  readonly cli?: CommandLine;
  run(context: Context, input: z.output<I>): Promise<z.output<R>>;
}

/** Keeps the exact types of an operation while checking its form. */
export function operation<I extends z.ZodObject, R extends z.ZodType, const N extends string>(
  definition: Operation<I, R> & { readonly name: N },
): Operation<I, R> & { readonly name: N } {
  return definition;
}
