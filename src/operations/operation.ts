import type { z } from 'zod';
import type { Bridge } from '../bridge/bridge.ts';
import type { Actor } from '../core/actor.ts';
import type { AgentSpec } from '../core/agent.ts';
import type { SharedTaskStatus } from '../core/task.ts';
import type { TeamVariables } from '../core/variables.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Mailbox } from '../ledger/mailbox.ts';
import type { SharedTaskList } from '../ledger/task-list.ts';
import type { Accounts } from '../runtime/account-keeper.ts';
import type { Attendance } from '../runtime/attendance.ts';
import type { DaemonConfig } from '../runtime/config.ts';
import type { TeamCoordinator } from '../runtime/coordinator.ts';
import type { TeamHooks } from '../runtime/hooks/team-hooks.ts';
import type { InnerTeams } from '../runtime/inner/inner-teams.ts';
import type { Queues } from '../runtime/landing/queue-keeper.ts';
import type { Leases } from '../runtime/lease-keeper.ts';
import type { Redactor } from '../runtime/redact.ts';
import type { SessionManager } from '../runtime/sessions.ts';
import type { TeamEnvironment, TeamEnvironments } from '../runtime/team-environments.ts';
import type { TeamMemory } from '../runtime/team-memory.ts';
import type { TeamWorks } from '../runtime/work/team-works.ts';
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
  /** What all teams know about the accounts of their members. */
  readonly accounts: Pick<Accounts, 'enter'>;
  /** Hears of every call of a member: it renews the leases of its tasks. */
  readonly leases?: Pick<Leases, 'heard'>;
  /** The teams that depend on a client. */
  readonly attendance: Pick<Attendance, 'enter'>;
  /** The teams inside members; only a daemon runs them. */
  readonly inner?: InnerTeams | undefined;
  /** The members' own workspaces; a process without a state directory has none. */
  readonly works?: TeamWorks | undefined;
  /** The merge queues of teams with workspaces. */
  readonly queues?: Pick<Queues, 'aloneOf'> | undefined;
  readonly daemon: DaemonService;
  /** Claude Code's own teams. */
  readonly native: Bridge;
  /** Wraps every call of every face, to count and trace it; `operation` is `unknown` for unknown names. */
  readonly watch?: <R>(operation: string, call: WatchedCall, work: () => Promise<R>) => Promise<R>;
}

/** What `watch` gets to know about a call. */
export interface WatchedCall {
  readonly caller: Caller;
  readonly input: unknown;
  readonly as?: string | undefined;
  /** The span that the call is part of, in W3C Trace Context format. */
  readonly traceparent?: string | undefined;
}

/** What operations ask of the process they run in. */
export interface DaemonService {
  /** The daemon's name among those that share the journal; unset if the journal cannot be shared. */
  readonly hostId?: string;
  /** What `daemon.status` answers with. */
  status(): Promise<DaemonStatus>;
  /** Stops the daemon after the answer. With `keep`, members' processes go on, and a later daemon adopts them. */
  stop(options: { keep: boolean }): void;
  /** The folder with the transcripts of a member. */
  transcriptFolder(teamId: string, memberId: string): string;
  /** What a person set for this state directory. */
  config?(): DaemonConfig;
  /** The agent of a teammate if neither the caller nor its team names one. Throws if there is none. */
  defaultAgent(): AgentSpec;
  /** Throws if an agent cannot start in its work folder. */
  requireAgents?(
    agents: readonly { readonly spec: AgentSpec; readonly cwd: string | undefined; readonly leads?: boolean }[],
    given?: TeamEnvironment,
  ): void;
  /** The names of variables that such a team takes from the command that brings it up. */
  variablesOf?(
    agents: readonly AgentSpec[],
    hooks: readonly { readonly env?: readonly string[] | undefined }[],
  ): TeamVariables;
  /** What these commands gave; without it, a process has only its own environment. */
  readonly environments?: TeamEnvironments;
  /** Removes secrets, those of this process and its teams included. */
  readonly redactor?: Pick<Redactor, 'json'>;
  /** Removes the transcripts and the environment of a removed team, and its work folder if that is empty. */
  removeTranscripts(teamId: string): Promise<void>;
  /** Asks another daemon that shares the journal. Returns undefined for our own name, or if no such daemon is alive. */
  askHost?(name: string, question: unknown, options: { timeoutMs: number }): Promise<unknown>;
  /** Makes a credential for one member of a team. */
  memberToken(teamId: string, memberId: string, scope: 'member' | 'lead' | 'reader'): Promise<string>;
  /** Revokes every credential given out so far. */
  rotateTokens(): Promise<void>;
  /** An address that opens the dashboard without a login: once, within a minute. */
  loginUrl(): Promise<string>;
}

/** Resolves when a long answer may be made; for faces that combine answers of several operations. */
export type TakePlace = () => Promise<AnswerPlace>;

/** Counts a waiting call, or refuses it if too many wait. Returns a function that stops counting it. */
export type TakeWait = () => () => void;

/** A place among the few long answers that are made at the same time. */
export interface AnswerPlace {
  /** The answer was handed over: the next one may be made when the client has read it. */
  readonly sent: () => void;
  /** There is nothing to send: the next one may be made at once. */
  readonly over: () => void;
}

/** One call. */
export interface Context extends Services {
  readonly caller: Caller;
  /** Who acts. */
  readonly actor: Actor;
  /**
   * Goes into the command. `commandId` makes the call idempotent: sent again after a lost answer, it is not done twice.
   * `onHost` is the daemon through which a member calls, if several daemons share the journal.
   */
  readonly once: { readonly commandId?: string; readonly onHost?: string };
  /** Aborts when the caller has gone or given up. */
  readonly signal: AbortSignal;
  /** Tells a waiting caller that the call still waits. */
  readonly progress?: (message: string) => void;
  /** Says that a list has more pages: called with this cursor as `after`, the operation returns the next one. */
  readonly more?: (after: Cursor) => void;
  /** Reports whether the answer was sent, for effects to undo if it was not. Not every face can tell. */
  readonly whenAnswered?: WhenAnswered;
}

/** Calls back once: when the answer was sent, as far as one can tell, or when it is clear that it never will be. */
export type WhenAnswered = (hear: (isHeard: boolean) => Promise<void>) => void;

/** Where a list continues: the id or number of its last item. */
export type Cursor = string | number;

/** How a command line names an operation. */
export interface CommandLine {
  /** `task add`; by default the operation's name with a space. */
  readonly command?: string;
  /** Positional inputs, in order. */
  readonly args?: readonly string[];
  /** Flags whose name differs from the input's: `dependencies` is `--needs`. One of `args` may be given as a flag, too. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Command lines for its help. Each of them is valid. */
  readonly examples?: readonly string[];
  /** What it did to its task, after the task's name: `has failed`. A result that needs more words has a view. */
  readonly said?: string;
  /** The status of the tasks that a shell offers for it. */
  readonly offers?: SharedTaskStatus;
}

/** A verb of Troupe, defined once; every face is derived from it. */
export interface Operation<I extends z.ZodObject = z.ZodObject, R extends z.ZodType = z.ZodType> {
  /** `noun.verb`. */
  readonly name: string;
  /** One line for help texts and documents. */
  readonly summary: string;
  readonly scope: Scope;
  /** Its answer may be long or need much reading, so few of them are made at the same time. */
  readonly long?: true;
  readonly input: I;
  readonly result: R;
  /** `POST /api/teams/:teamId/tasks`. Inputs named in the path come from it, all others from the body or the query. */
  readonly route: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /api/${string}`;
  /** The WebSocket message that calls it, the message that answers, and the fields of that answer. */
  readonly message?: {
    readonly type: string;
    readonly answer: string;
    fields(result: z.output<R>): object;
    /** The payload field that names the speaker in the first design. Here the credential or `as` decides that. */
    readonly speaker?: string;
    /** Fields of the first design that allow only this value. */
    readonly settled?: Readonly<Record<string, string>>;
  };
  readonly cli?: CommandLine;
  run(context: Context, input: z.output<I>): Promise<z.output<R>>;
}

/** Keeps the exact types of an operation while checking its shape. */
export function operation<I extends z.ZodObject, R extends z.ZodType, const N extends string>(
  definition: Operation<I, R> & { readonly name: N },
): Operation<I, R> & { readonly name: N } {
  return definition;
}
