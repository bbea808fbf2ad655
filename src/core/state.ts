import type { Account } from './account.ts';
import type { Granted } from './budget.ts';
import type { Heap } from './heap.ts';
import { REMEMBERED_COMMANDS } from './limits.ts';
import type { TeamMember } from './member.ts';
import type { TeamMessage } from './message.ts';
import type { TeamNote } from './note.ts';
import type { OverlapRecord } from './overlap.ts';
import type { TeamRequest } from './request.ts';
import type { SharedTask, StoredTaskStatus } from './task.ts';
import type { TeamConfig } from './team.ts';
import type { Usage } from './usage.ts';

/** A task's record, without derived fields. */
export type TaskRecord = Omit<SharedTask, 'status' | 'blockedBy' | 'filesHeldBy' | 'blocks' | 'blockedReason'> & {
  status: StoredTaskStatus;
  /** What people granted of its budget. */
  granted?: Granted | undefined;
  /** How long it was worked on before its present or next holder claimed it, in milliseconds. */
  workedMs?: number | undefined;
};

/** A member's record, without derived fields. */
export type MemberRecord = Omit<TeamMember, 'assignedTasks' | 'planModeRequired'> & {
  planApproved: boolean;
  /** When it first joined, if it came back since. A new member may join under the name of one that left. */
  firstJoinedAt?: number | undefined;
  /** When it was last restarted after a crash, newest last; only as many as the next decision needs. */
  restarts?: number[] | undefined;
  /** How often a turn of it was ended without asking anybody, and why the last time. */
  interruptions?: { readonly times: number; readonly last: string } | undefined;
  /** When it last started other members, newest last; only as many as the next decision needs. */
  spawns?: number[] | undefined;
  /** What people granted of its budget. */
  granted?: Granted | undefined;
  /** How long it was not stopped before it last joined, in milliseconds. */
  ranMs?: number | undefined;
  /** When the time price of its messages will be paid off; see message-price.ts. */
  sendsPaidAt?: number | undefined;
};

/** Live, or stopped and expected back: its mail, its reserved tasks and its place in the team are kept. */
export function isExpected(member: Pick<MemberRecord, 'status' | 'returning'>): boolean {
  return member.status !== 'stopped' || member.returning === true;
}

/** Whether Troupe has run members of the team and none is expected: nothing of it runs until a person brings one up. */
export function isDown({ members }: Pick<TeamState, 'members'>): boolean {
  const run = [...members.values()].filter(({ agent }) => agent !== undefined);
  return run.length > 0 && !run.some(isExpected);
}

/** A team's record, without its members. */
export type TeamRecord = Omit<TeamConfig, 'members'> & {
  /** What people granted of its budget. */
  granted?: Granted | undefined;
  /** Since when a member with an agent is not stopped, in milliseconds since 1970; absent if all are. */
  runsSince?: number | undefined;
  /** How long that was so before, in milliseconds. */
  ranMs?: number | undefined;
  /** How often the lead was replaced. What a new lead needs carries this number, so that it comes exactly once. */
  leadTerm?: number | undefined;
  /** When the time price of the messages from each other team will be paid off; see message-price.ts. */
  peersPaidAt?: Readonly<Record<string, number>> | undefined;
};

/** What a command did, remembered so that the same command sent again has no second effect. */
export interface Receipt {
  by: string;
  /** The command's fingerprint, to detect another command under its id. */
  print?: string;
  taskId?: string;
  memberId?: string;
  messageIds?: string[];
  requestId?: string;
  noteId?: string;
}

/** The mail to one member in order, and the messages that no session has acknowledged. */
export interface Inbox {
  ids: string[];
  waiting: Set<string>;
}

/**
 * The whole state of a team. One owner changes it in place. Records are immutable and only replaced, through the `put`
 * functions of tables.ts, which maintain every index. Measured: 1.3 us per claim and complete at any size; copying a
 * Map per batch took 15 us at 100 tasks and 1,463 us at 10,000.
 */
export interface TeamState {
  readonly teamId: string;
  team: TeamRecord | undefined;
  readonly members: Map<string, MemberRecord>;
  readonly tasks: Map<string, TaskRecord>;
  /** Deleted tasks that can be reopened, in the order of their deletion. */
  readonly deleted: Set<string>;
  readonly messages: Map<string, TeamMessage>;
  /** Message ids by broadcast. */
  readonly broadcasts: Map<string, string[]>;
  readonly requests: Map<string, TeamRequest>;
  readonly notes: Map<string, TeamNote>;
  readonly memberUsage: Map<string, Usage>;
  readonly taskUsage: Map<string, Usage>;
  /** What is known about the accounts of its members. */
  readonly accounts: Map<string, Account>;
  /** What members that work now have changed alike, by their two tasks. */
  readonly overlaps: Map<string, OverlapRecord>;
  /** Receipts by command id; the oldest are dropped when there are too many. */
  readonly receipts: Map<string, Receipt>;
  /** The number of the next task. */
  nextTask: number;
  /** How often a task was completed, also those that were reopened or deleted since. */
  completions: number;
  /** The number of the next note. */
  nextNote: number;

  readonly index: Index;
  /** While set, every change is recorded here for a rollback. */
  undo: Undo | undefined;
}

/** Derived data, kept for fast access. */
interface Index {
  /** The tasks that depend on a task. */
  readonly dependents: Map<string, Set<string>>;
  /** How many open dependencies a task has; absent means none. */
  readonly waits: Map<string, number>;
  /** Open tasks by assignee. */
  readonly assigned: Map<string, Set<string>>;
  /** Ready tasks that are not reserved, best first; outdated entries are dropped when they reach the top. */
  readonly free: Heap;
  /** Ready tasks by the member they are reserved for. */
  readonly reserved: Map<string, Heap>;
  /** Tasks in progress that name the files they change. */
  readonly filed: Set<string>;
  /** Tasks that are in no heap because a task in progress changes their files, by that task. */
  readonly parked: Map<string, Set<string>>;
  readonly counts: Record<StoredTaskStatus, number>;
  readonly inboxes: Map<string, Inbox>;
  /** Unanswered requests by the task that they are about; those about no task are under ''. */
  readonly asked: Map<string, Set<string>>;
  /** Iterates over the receipts as they are dropped. */
  oldReceipts: MapIterator<string> | undefined;
}

/** Steps that undo changes; the last one runs first. */
export type Undo = (() => void)[];

/** A team before its first event. */
export function createState(teamId: string): TeamState {
  return {
    teamId,
    team: undefined,
    members: new Map(),
    tasks: new Map(),
    deleted: new Set(),
    messages: new Map(),
    broadcasts: new Map(),
    requests: new Map(),
    notes: new Map(),
    memberUsage: new Map(),
    taskUsage: new Map(),
    accounts: new Map(),
    overlaps: new Map(),
    receipts: new Map(),
    nextTask: 1,
    completions: 0,
    nextNote: 1,
    index: {
      dependents: new Map(),
      waits: new Map(),
      assigned: new Map(),
      free: [],
      reserved: new Map(),
      filed: new Set(),
      parked: new Map(),
      counts: { pending: 0, in_progress: 0, completed: 0, failed: 0, deleted: 0 },
      inboxes: new Map(),
      asked: new Map(),
      oldReceipts: undefined,
    },
    undo: undefined,
  };
}

/** Starts recording changes for a rollback, until `keepChanges`. */
export function noteChanges(state: TeamState): void {
  state.undo = [];
}

/** Keeps the recorded changes and stops recording. */
export function keepChanges(state: TeamState): void {
  state.undo = undefined;
  forgetOldReceipts(state);
}

/** How many changes are recorded so far. */
export function changeMark(state: TeamState): number {
  return state.undo?.length ?? 0;
}

/** Rolls every record back to the mark; 0 is where recording started. */
export function takeBackTo(state: TeamState, mark: number): void {
  const undo = state.undo;
  if (!undo) return;
  state.undo = undefined;
  while (undo.length > mark) undo.pop()?.();
  state.undo = undo;
}

/**
 * Drops the oldest receipts: a Map keeps its insertion order. It also keeps the slots of deleted entries for a while.
 * So one iterator is reused instead of starting over: that takes 0.3 us instead of 4 to 20 us.
 */
export function forgetOldReceipts(state: TeamState): void {
  for (let extra = state.receipts.size - REMEMBERED_COMMANDS; extra > 0; extra--) {
    // All receipts before its place are gone, so it has a next one.
    const oldest = (state.index.oldReceipts ??= state.receipts.keys()).next();
    state.receipts.delete(oldest.value as string);
  }
}
