import type { z } from 'zod';
import type { AgentSpec, McpServer } from '../core/agent.ts';
import type { TeamMessage } from '../core/message.ts';
import type { SharedTask } from '../core/task.ts';
import type { Trouble } from '../core/trouble.ts';
import type { Usage } from '../core/usage.ts';
import type { SandboxWrap } from './sandbox/wrap.ts';

/** A task and a message as JSON: a program gets them on standard input. */
export type TaskJson = z.input<typeof SharedTask>;
export type MessageJson = z.input<typeof TeamMessage>;

/** The input of one turn: a text for agents that read, and its parts for programs that don't. */
export interface Turn {
  readonly text: string;
  readonly task?: TaskJson | undefined;
  readonly messages: readonly MessageJson[];
  /** A gate's or a person's feedback on the last attempt. */
  readonly feedback?: string | undefined;
  /** Events in the team since the last turn, for its lead. */
  readonly digest?: string | undefined;
  /** A plan is wanted, not the work itself. */
  readonly plan?: boolean | undefined;
}

/** When a text should reach the agent: during its turn (`steer`), after it (`next`), or instead of it (`interrupt`). */
export type When = 'steer' | 'next' | 'interrupt';

/** The outcome: the running turn has it, a later turn will, or the running turn was ended for it. */
export type Sent = 'injected' | 'queued' | 'restarted';

/** Something that the agent wants to do and may not do without an answer. */
export interface Permission {
  readonly id: string;
  readonly tool: string;
  readonly description: string;
  readonly input: unknown;
  /** Answers once; a second answer is ignored. */
  readonly answer: (verdict: { allow: boolean; message?: string }) => void;
}

/** The events of a session, in order. */
export type AgentEvent =
  /**
   * Begins a line, or `continues` the previous one. Ends it, or is `unfinished`: more may come. Line breaks within it
   * and blank lines are the original ones.
   */
  | { readonly type: 'text'; readonly text: string; readonly continues?: true; readonly unfinished?: true }
  | {
      readonly type: 'tool';
      readonly id: string;
      readonly name: string;
      readonly status: 'running' | 'done' | 'failed';
      readonly input?: unknown;
      readonly output?: string;
    }
  | ({ readonly type: 'permission' } & Permission)
  | {
      readonly type: 'usage';
      readonly usage: Usage;
      /** The model, if the agent reports it. */
      readonly model?: string | undefined;
      readonly context?: { readonly used: number; readonly size: number };
    }
  /**
   * Used since the last `usage` or the begin of the turn, not more often than after each model call. The next `usage`
   * includes it.
   */
  | { readonly type: 'spending'; readonly usage: Usage; readonly model?: string | undefined }
  /** The model is overloaded or limits the agent, which goes on by itself, at `until` (ms since 1970) if it says so. */
  | { readonly type: 'waiting'; readonly reason: string; readonly until?: number }
  /** A sign of life without content: the model thinks, or the subagent that a tool runs goes on. */
  | { readonly type: 'alive'; readonly toolId?: string }
  /** How far the windows of its account are used up, as its provider says; windows that it does not name stay. */
  | { readonly type: 'limits'; readonly windows: readonly LimitWindow[] }
  /** It compacted its conversation to what it considered important. */
  | { readonly type: 'compacted' }
  /** The agent's own record shows that it has these messages. */
  | { readonly type: 'shown'; readonly messageIds: readonly string[] }
  | {
      readonly type: 'turnEnd';
      readonly reason: 'done' | 'cancelled' | 'failed';
      /** The final text of the turn: its result. */
      readonly text: string;
      readonly error?: string;
      /** It failed because the agent is gone. The work is not to blame and is released as it is. */
      readonly lost?: true;
      /** The cause, if it is not the work. */
      readonly trouble?: Trouble;
      /** Of `limited`: when the account may be used again, in milliseconds since 1970, if its provider says so. */
      readonly resetsAt?: number;
    };

/** A period in which an account may use so much. */
export interface LimitWindow {
  /** The provider's name for it, such as `five_hour`. */
  readonly name: string;
  /** The used share; 1 is all of it. */
  readonly used: number;
  /** When it begins again, in milliseconds since 1970. */
  readonly resetsAt?: number;
}

/** How a turn ended. */
export type TurnEnd = Extract<AgentEvent, { type: 'turnEnd' }>;

/** What an agent can do. Known beforehand and stated, never found out during the work. */
export interface Abilities {
  /** A text can reach a running turn. */
  readonly steer: boolean;
  /** A running turn can be ended without ending the session. */
  readonly interrupt: boolean;
  /** A session can be resumed after its process died. */
  readonly resume: boolean;
  /** A message alone can start a turn. */
  readonly mail: boolean;
  /** It reports its usage. */
  readonly usage: boolean;
  /** It asks before it acts. */
  readonly permissions: boolean;
}

/**
 * What an agent may do without asking: only read (`plan`), only use the team's tools (`delegate`), also edit, or
 * anything.
 */
export type Mode = 'plan' | 'delegate' | 'edit' | 'full';

/**
 * The tools of a team over MCP, for one session of one member. All members share the HTTP endpoint; agents that cannot
 * use it get a stdio program. The credential never goes into arguments, which other users could read.
 */
export interface TeamTools {
  readonly name: string;
  readonly http?: { readonly url: string; readonly headers: Readonly<Record<string, string>> } | undefined;
  readonly stdio: {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
}

/** An agent's identity, folder and settings. */
export interface StartOptions {
  readonly teamId: string;
  readonly memberId: string;
  readonly cwd: string;
  /** The folder of the user's checkout that `cwd` is a copy of. */
  readonly copyOf?: string | undefined;
  /** The whole environment of its process; nothing else is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Its place in the team and how it works with it. */
  readonly role: string;
  readonly model?: string | undefined;
  readonly mode: Mode;
  /** How long its model thinks, in the agent's own words. */
  readonly effort?: string | undefined;
  /** Servers of tools of its own, by name; `ownServers` says which it has in its mode. */
  readonly servers?: Readonly<Record<string, McpServer>> | undefined;
  /** Which of its own tools it has. */
  readonly ownTools?: AgentSpec['tools'];
  /** The team's tools; without them it only answers. */
  readonly tools?: TeamTools | undefined;
  /** The session to resume, if the agent can. */
  readonly resume?: string | undefined;
  /** Runs its programs apart from everything else. */
  readonly sandbox?: SandboxWrap | undefined;
  /** Called with every process that starts, so that none is without a record. */
  readonly onProcess?: ((pid: number) => void) | undefined;
}

/** A way to run a kind of agent. */
export interface Agent {
  readonly kind: string;
  readonly abilities: Abilities;
  /** Mail that is not urgent joins its running turn, too: its turn lasts as long as its task. */
  readonly takesAllMail?: true;
  /** Starts a session. Rejects with a `TeamError` that says what is missing if the program cannot run. */
  start(options: StartOptions): Promise<AgentSession>;
}

/**
 * One conversation with an agent.
 *
 * `events` may be iterated once. It ends when the session is closed or its process is gone for good. Every `send` that
 * was not injected leads to exactly one `turnEnd`. An agent that misbehaves never causes an exception, but a `turnEnd`
 * with `failed`.
 */
export interface AgentSession {
  /** The id for resuming the conversation. */
  readonly id: string;
  readonly events: AsyncIterable<AgentEvent>;
  send(turn: Turn, options: { when: When }): Promise<Sent>;
  /** Ends the running turn, which then reports `cancelled`; does nothing if none runs. */
  cancel(): Promise<void>;
  /** Changes the mode in the same process; false if that needs a restart. */
  changeMode?(mode: Mode): Promise<boolean>;
  /** Asks the agent, between two turns, whether it agrees to stop. Agents without this are asked in a turn. */
  askToStop?(reason: string): Promise<{ agreed: boolean; reason?: string }>;
  /** Its program keeps the address and credential of the team's tools from its start. It needs a restart for others. */
  readonly holdsTools?: true;
  /** Ends the session and all its processes. */
  close(): Promise<void>;
}
