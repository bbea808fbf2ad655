import type { Heap } from './heap.ts';
import { REMEMBERED_COMMANDS } from './limits.ts';
import type { TeamMember } from './member.ts';
import type { TeamMessage } from './message.ts';
import type { TeamNote } from './note.ts';
import type { TeamRequest } from './request.ts';
import type { SharedTask, StoredTaskStatus } from './task.ts';
import type { TeamConfig } from './team.ts';
import type { Usage } from './usage.ts';

/** A task without what is derived. */
export type TaskRecord = Omit<SharedTask, 'status' | 'blockedBy' | 'blocks' | 'blockedReason'> & {
  status: StoredTaskStatus;
};

/** A member without what is derived. */
export type MemberRecord = Omit<TeamMember, 'assignedTasks' | 'planModeRequired'> & {
  planApproved: boolean;
  /** Since when it is the same one, where it came back since it joined; another one may join under its name when it has left. */
  firstJoinedAt?: number | undefined;
  /** When it was last to be started again after a crash, the newest last; no more than decide about the next time. */
  restarts?: number[] | undefined;
  /** When it last started others, the newest last; no more than decide about the next time. */
  spawns?: number[] | undefined;
  /** When what it sent will have been paid for with time; see message-price.ts. */
  sendsPaidAt?: number | undefined;
};

/** Live, or stopped and to come back: mail, reserved tasks and a place in the team wait for it. */
export function isExpected(member: MemberRecord): boolean {
  return member.status !== 'stopped' || member.returning === true;
}

/** A team without its members. */
export type TeamRecord = Omit<TeamConfig, 'members'>;

/** What a command did, remembered so that the same command sent again is not done twice. */
export interface Receipt {
  by: string;
  /** What tells the command from another one under its id. */
  print?: string;
  taskId?: string;
  memberId?: string;
  messageIds?: string[];
  requestId?: string;
  noteId?: string;
}

/** The order of mail to one member, and what of it no session has acknowledged. */
export interface Inbox {
  ids: string[];
  waiting: Set<string>;
}

/**
 * All of a team. One owner changes it in place; records are replaced and never changed, and only through the `put`
 * functions of tables.ts, which keep every index. Measured: 1.3 us per claim and complete at any size, where copying a Map per
 * batch took 15 us at 100 tasks and 1,463 at 10,000.
 */
export interface TeamState {
  readonly teamId: string;
  team: TeamRecord | undefined;
  readonly members: Map<string, MemberRecord>;
  readonly tasks: Map<string, TaskRecord>;
  /** The tasks that are deleted and can be reopened, in the order in which they were. */
  readonly deleted: Set<string>;
  readonly messages: Map<string, TeamMessage>;
  /** Message ids by broadcast. */
  readonly broadcasts: Map<string, string[]>;
  readonly requests: Map<string, TeamRequest>;
  readonly notes: Map<string, TeamNote>;
  readonly memberUsage: Map<string, Usage>;
  readonly taskUsage: Map<string, Usage>;
  /** Receipts by command id; the oldest goes when there are too many. */
  readonly receipts: Map<string, Receipt>;
  /** The number the next task gets. */
  nextTask: number;
  /** The number the next note gets. */
  nextNote: number;

  readonly index: Index;
  /** While set, every change is noted here so that it can be taken back. */
  undo: Undo | undefined;
}

/** What can be worked out from the records, kept at hand. */
interface Index {
  /** Who waits for a task. */
  readonly dependents: Map<string, Set<string>>;
  /** How many open dependencies a task has; absent means none. */
  readonly waits: Map<string, number>;
  /** Open tasks by assignee. */
  readonly assigned: Map<string, Set<string>>;
  /** Ready tasks that are reserved for nobody, best first; entries that no longer hold are dropped when they surface. */
  readonly free: Heap;
  /** Ready tasks by the member they are reserved for. */
  readonly reserved: Map<string, Heap>;
  readonly counts: Record<StoredTaskStatus, number>;
  readonly inboxes: Map<string, Inbox>;
  /** Requests that nobody has answered, by the task that they are about; those about none under the empty text. */
  readonly asked: Map<string, Set<string>>;
  /** Goes from one receipt to the next as they are dropped. */
  oldReceipts: MapIterator<string> | undefined;
}

/** Steps that take back what was done, the last one first. */
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
    receipts: new Map(),
    nextTask: 1,
    nextNote: 1,
    index: {
      dependents: new Map(),
      waits: new Map(),
      assigned: new Map(),
      free: [],
      reserved: new Map(),
      counts: { pending: 0, in_progress: 0, completed: 0, failed: 0, deleted: 0 },
      inboxes: new Map(),
      asked: new Map(),
      oldReceipts: undefined,
    },
    undo: undefined,
  };
}

/** From here on changes can be taken back, until `keepChanges`. */
export function noteChanges(state: TeamState): void {
  state.undo = [];
}

/** The noted changes stay. */
export function keepChanges(state: TeamState): void {
  state.undo = undefined;
  forgetOldReceipts(state);
}

/** How many changes are noted so far. */
export function changeMark(state: TeamState): number {
  return state.undo?.length ?? 0;
}

/** Puts every record back as it was at the mark; 0 is where noting began. */
export function takeBackTo(state: TeamState, mark: number): void {
  const undo = state.undo;
  if (!undo) return;
  state.undo = undefined;
  while (undo.length > mark) undo.pop()?.();
  state.undo = undo;
}

/**
 * Drops the oldest receipts: a Map keeps its insertion order. It also keeps the places of what was deleted for a while, so
 * the way to the oldest is gone once and not from the start each time: that takes 4 to 20 us where this takes 0.3.
 */
export function forgetOldReceipts(state: TeamState): void {
  while (state.receipts.size > REMEMBERED_COMMANDS) {
    const oldest = (state.index.oldReceipts ??= state.receipts.keys()).next();
    if (oldest.done) state.index.oldReceipts = undefined;
    else state.receipts.delete(oldest.value);
  }
}
