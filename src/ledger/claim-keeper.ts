import type { SharedTask } from '../core/task.ts';

/** Confirms claims in a team whose task list another program shares. */
export interface ClaimKeeper {
  /** Whether another program shares the tasks of this team. */
  keeps(teamId: string): boolean;
  /** Whether the member really got the task. If not, the journal already names the real holder. */
  confirm(teamId: string, task: SharedTask, memberId: string): Promise<boolean>;
}
