/**
 * All error codes of Troupe, with the HTTP status and the process exit code for each. An MCP client gets the code and
 * the message as a tool error.
 */
export const ERROR_CODES = {
  /** The input does not have the right shape or breaks a limit of one value. */
  invalid: { status: 400, exit: 2 },
  /** The team, task, member, message or request does not exist. */
  not_found: { status: 404, exit: 3 },
  /** The name is taken. */
  exists: { status: 409, exit: 4 },
  /** Another member holds the task or has it reserved: a lost race. */
  claim_conflict: { status: 409, exit: 4 },
  /** The task waits for other tasks. */
  blocked: { status: 409, exit: 4 },
  /** The caller lost the task since it claimed it. */
  stale_epoch: { status: 409, exit: 4 },
  /** The task, note or request changed since the caller read it. */
  stale_revision: { status: 409, exit: 4 },
  /** The dependency would close a cycle. */
  cycle: { status: 409, exit: 4 },
  /** The request does not fit the current state. */
  conflict: { status: 409, exit: 4 },
  /** A gate sent the work back. */
  gate_rejected: { status: 409, exit: 4 },
  /** The team is closed and can only be read. */
  team_closed: { status: 409, exit: 4 },
  /** The member is stopped and takes no mail or work. */
  member_stopped: { status: 409, exit: 4 },
  /** A count of the team is at its limit. */
  limit: { status: 429, exit: 4 },
  /** Too much is waiting; try again. */
  overloaded: { status: 503, exit: 4 },
  /** The caller may not do this. */
  not_allowed: { status: 403, exit: 5 },
  /** The caller has not authenticated. */
  unauthenticated: { status: 401, exit: 5 },
  /** Another writer was first: decide again. Only journals use this code, and the ledger handles it. */
  journal_conflict: { status: 409, exit: 4 },
  /** The disk or server behind the journal refused; nothing was changed. */
  storage: { status: 503, exit: 1 },
  /** Data in the journal cannot be read; nothing is written back. */
  corrupt: { status: 500, exit: 1 },
  /** A newer Troupe wrote the data. */
  unsupported: { status: 501, exit: 1 },
  /** No daemon answers. */
  no_daemon: { status: 503, exit: 75 },
  /** A bug in Troupe. */
  internal: { status: 500, exit: 1 },
} as const satisfies Record<string, { status: number; exit: number }>;

/** The machine-readable name of an error. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Machine-readable facts about an error, so that no program parses the message. Sent along over every connection. */
export interface ErrorFacts {
  /** What is wrong with the input. `field` is a path such as `tasks.2.title`, or empty for the whole input. */
  readonly problems?: readonly { readonly field: string; readonly problem: string }[];
  /** The caller has to name the member that it acts for, or a person has to log in to an agent. */
  readonly needs?: 'speaker' | 'login';
  /** An input that would allow the call, and its effect. */
  readonly option?: { readonly field: string; readonly effect: string };
  /** The list that shows what exists. */
  readonly list?: 'task' | 'note' | 'request';
  /** The setting of an agent that is refused. */
  readonly setting?: 'effort' | 'mcp' | 'skills' | 'tools' | 'sandbox';
  /** The operating system's error code, if it refused. */
  readonly errno?: string;
}

/** The error class of Troupe: what went wrong, with which thing, and what to do next. */
export class TeamError extends Error {
  readonly code: ErrorCode;
  readonly facts: ErrorFacts | undefined;
  /** How long to wait before a retry makes sense, if known. */
  readonly retryMs: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    { facts, retryMs, ...options }: { cause?: unknown; facts?: ErrorFacts; retryMs?: number } = {},
  ) {
    super(message, options);
    this.name = 'TeamError';
    this.code = code;
    this.facts = facts;
    this.retryMs = retryMs;
  }
}

/** Whether an error, whatever was thrown, is a `TeamError` with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly ErrorCode[]): error is TeamError {
  return error instanceof TeamError && codes.includes(error.code);
}

/** A lost race for a task: take another one. */
export class ClaimConflictError extends TeamError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('claim_conflict', message, options);
    this.name = 'ClaimConflictError';
  }
}
