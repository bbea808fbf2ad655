import type { z } from 'zod';
import type { OperationName } from '../operations/index.ts';
import type { Services } from '../operations/operation.ts';
import type { RequestId, Session } from './session.ts';

/** The answer of a tool: a short text for the model that names the next step, and the same as data. */
export interface Answer {
  readonly text: string;
  /** Always an object: some clients refuse a list. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** One call of a tool. */
export interface Visit {
  readonly services: Services;
  readonly session: Session;
  /** The client's id of this call. */
  readonly request: RequestId | undefined;
  /** Aborts when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
  /** Tells the client, if it asked for progress, that the call still waits. */
  readonly progress?: ((message: string) => void) | undefined;
  /** The team the call is about. */
  readonly teamId: string;
  /** The member that acts; undefined for a person who named none. */
  readonly memberId: string | undefined;
  /** Runs an operation in the name, and with the rights, of the caller. */
  readonly call: <R>(name: OperationName, input: object, options?: CallOptions) => Promise<R>;
}

/** How a tool runs one of its operations. */
export interface CallOptions {
  /**
   * Runs once, even if the client sends the same call again after a lost answer. A tool with several operations gives
   * each its own name.
   */
  readonly once?: true | string;
  /** Replaces the signal of the visit. */
  readonly signal?: AbortSignal;
}

/** A tool as agents see it. */
export interface Tool<I extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: I;
  /** Who gets it. A reader's tool is for members and leads too, a member's tool for leads too. */
  readonly for: 'reader' | 'member' | 'lead';
  /** It changes nothing. */
  readonly reads?: true;
  /** It does work rather than coordinate it: a lead in delegate mode does not get it. */
  readonly works?: true;
  /** Only for teams whose members have workspaces of their own. */
  readonly apart?: true;
  /** Only for the member that reviews the team's work. */
  readonly reviews?: true;
  /** It needs no team. */
  readonly teamless?: true;
  run(visit: Visit, input: z.output<I>): Promise<Answer>;
}

/** Keeps the type of a tool's input while checking its form. */
export function tool<I extends z.ZodObject>(definition: Tool<I>): Tool {
  return definition;
}
