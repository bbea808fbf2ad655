import type { z } from 'zod';
import type { TeamMessage } from '../core/message.ts';
import type { SharedTask } from '../core/task.ts';
import type { Usage } from '../core/usage.ts';

/** A task and a message as JSON has them: what a program gets on standard input. */
export type TaskJson = z.input<typeof SharedTask>;
export type MessageJson = z.input<typeof TeamMessage>;

/** What an agent is given for one turn: a text for those that read, and the things it was made from for those that don't. */
export interface Turn {
  readonly text: string;
  readonly task?: TaskJson | undefined;
  readonly messages: readonly MessageJson[];
  /** What a gate or a person said about the last try. */
  readonly feedback?: string | undefined;
  /** What happened in the team since the last turn, for its lead. */
  readonly digest?: string | undefined;
  /** A plan is wanted, not yet the work. */
  readonly plan?: boolean | undefined;
}

/**
 * When a text should reach the agent: beside what it is doing (`steer`), after it (`next`), or in place of it
 * (`interrupt`).
 */
export type When = 'steer' | 'next' | 'interrupt';

/** What became of it: the running turn has it, a later turn will, or the running turn was ended for it. */
export type Sent = 'injected' | 'queued' | 'restarted';

/** What the agent wants to do and may not without an answer. */
export interface Permission {
  readonly id: string;
  readonly tool: string;
  readonly description: string;
  readonly input: unknown;
  /** Answers once; a second answer is ignored. */
  readonly answer: (verdict: { allow: boolean; message?: string }) => void;
}

/** What a session tells, in order. */
export type AgentEvent =
  /**
   * Begins a line, or `continues` the one before; ends it, or is `unfinished`: more of it may come. Breaks within it and blank lines
   * are as they were said.
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
      /** The model that did it, where the agent says so. */
      readonly model?: string | undefined;
      readonly context?: { readonly used: number; readonly size: number };
    }
  /** Its model is overloaded or limits it; it goes on by itself, at this time (milliseconds since 1970) if it says so. */
  | { readonly type: 'waiting'; readonly reason: string; readonly until?: number }
  /** It shortened its conversation to what it took to be important. */
  | { readonly type: 'compacted' }
  /** The agent's own record shows that it has these messages. */
  | { readonly type: 'shown'; readonly messageIds: readonly string[] }
  | {
      readonly type: 'turnEnd';
      readonly reason: 'done' | 'cancelled' | 'failed';
      /** The final text of the turn: what it produced. */
      readonly text: string;
      readonly error?: string;
      /** It failed because the agent is gone: the work is not to blame, and goes back as it is. */
      readonly lost?: true;
      /** It failed because its model is overloaded or limits its use: the same turn may succeed later. */
      readonly overloaded?: true;
    };

/** How a turn ended. */
export type TurnEnd = Extract<AgentEvent, { type: 'turnEnd' }>;

/** What an agent can do; what it can't is known and said, never found out in mid-flight. */
export interface Abilities {
  /** A text can reach a running turn. */
  readonly steer: boolean;
  /** A running turn can be ended without ending the session. */
  readonly interrupt: boolean;
  /** A session can go on after its process died. */
  readonly resume: boolean;
  /** Mail alone can start a turn. */
  readonly mail: boolean;
  /** It reports what it used. */
  readonly usage: boolean;
  /** It asks before it acts. */
  readonly permissions: boolean;
}

/**
 * What an agent may do without asking: only read (`plan`), only use the tools of its team (`delegate`), also edit, or
 * anything.
 */
export type Mode = 'plan' | 'delegate' | 'edit' | 'full';

/**
 * The tools of a team over MCP, for one session of one member: the endpoint that all members share, and a program that
 * speaks the same on standard input and output, for agents that cannot use the first. The credential never goes into
 * arguments that other users could read.
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

/** Where and as whom an agent runs. */
export interface StartOptions {
  readonly teamId: string;
  readonly memberId: string;
  readonly cwd: string;
  /** The whole environment of its process; nothing else is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Who it is on the team and how it works with it. */
  readonly role: string;
  readonly model?: string | undefined;
  readonly mode: Mode;
  /** How it reaches the tools of its team; without them it only answers. */
  readonly tools?: TeamTools | undefined;
  /** Goes on with this session where the agent can. */
  readonly resume?: string | undefined;
  /** Told of every process before it starts and after, so that none is ever without a record. */
  readonly onProcess?: ((pid: number) => void) | undefined;
}

/** A way to run a kind of agent. */
export interface Agent {
  readonly kind: string;
  readonly abilities: Abilities;
  /** Starts a session. Rejects with a `TeamError` that says what is missing when the program cannot be run. */
  start(options: StartOptions): Promise<AgentSession>;
}

/**
 * One conversation with an agent.
 *
 * `events` may be iterated once; it ends when the session is closed or its process is gone for good. Every `send` that
 * was not injected leads to exactly one `turnEnd`. Nothing here throws because the agent misbehaves: that is a `turnEnd`
 * with `failed`.
 */
export interface AgentSession {
  /** With it the conversation can be resumed. */
  readonly id: string;
  readonly events: AsyncIterable<AgentEvent>;
  send(turn: Turn, options: { when: When }): Promise<Sent>;
  /** Ends the running turn, which then reports `cancelled`; does nothing when none runs. */
  cancel(): Promise<void>;
  /** Goes on under other rights in the same process; false where it has to be started anew for that. */
  changeMode?(mode: Mode): Promise<boolean>;
  /** Asks the agent itself whether it agrees to stop, between two turns; agents without it always do. */
  askToStop?(reason: string): Promise<{ agreed: boolean; reason?: string }>;
  /** Ends the session and every process of it. */
  close(): Promise<void>;
}
