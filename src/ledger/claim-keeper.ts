import type { SharedTask } from '../core/task.ts';

/** Has the last word on a claim, where the tasks of a team are also another program's. */
export interface ClaimKeeper {
  /** Whether the tasks of this team are. */
  keeps(teamId: string): boolean;
  /** Whether the member really has the task; if not, the journal already says who has. */
  confirm(teamId: string, task: SharedTask, memberId: string): Promise<boolean>;
}
