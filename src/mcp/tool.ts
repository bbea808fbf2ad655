import type { z } from 'zod';
import type { OperationName } from '../operations/index.ts';
import type { Services } from '../operations/operation.ts';
import type { RequestId, Session } from './session.ts';

/** What a tool answers: a few words for the model that say the next step, and the same as data. */
export interface Answer {
  readonly text: string;
  /** Always an object: some clients refuse a list. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** One call of a tool. */
export interface Visit {
  readonly services: Services;
  readonly session: Session;
  /** How the client names this call. */
  readonly request: RequestId | undefined;
  /** Aborts when the client gave up or is gone. */
  readonly signal: AbortSignal;
  /** Tells a client that asked for it that the call still waits. */
  readonly progress?: ((message: string) => void) | undefined;
  /** The team the call is about. */
  readonly teamId: string;
  /** In whose name; undefined for a person who named no member. */
  readonly memberId: string | undefined;
  /** Does an operation, in the name and with the rights of the caller. */
  readonly call: <R>(name: OperationName, input: object, options?: CallOptions) => Promise<R>;
}

/** How a tool does one of its operations. */
export interface CallOptions {
  /**
   * Done once, also when the client sends the same call again after a lost answer. A tool that does several operations
   * gives each a name of its own.
   */
  readonly once?: true | string;
  /** In place of the visit's own. */
  readonly signal?: AbortSignal;
}

/** A tool as agents see it. */
export interface Tool<I extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: I;
  /** Who gets it; each includes those after it. */
  readonly for: 'reader' | 'member' | 'lead';
  /** It changes nothing. */
  readonly reads?: true;
  /** It does work rather than coordinate it: a lead in delegate mode does not get it. */
  readonly works?: true;
  /** It is about no team yet. */
  readonly teamless?: true;
  run(visit: Visit, input: z.output<I>): Promise<Answer>;
}

/** Keeps the type of a tool's input while checking its form. */
export function tool<I extends z.ZodObject>(definition: Tool<I>): Tool {
  return definition;
}
