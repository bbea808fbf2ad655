import { z } from 'zod';
import { Slug, TaskId, textOf } from './fields.ts';
import { INNER_FILES, NAME_LENGTH, TEAM_FILE_BYTES } from './limits.ts';
import { Sandbox } from './sandbox.ts';
import { Usage } from './usage.ts';

const FilePath = z.string().min(1).max(4_096);

/**
 * The team that runs a member: the file that describes it, and the files of the teams inside it. The texts are as a
 * person had them when the team was brought up, so that no agent can change what its team runs.
 */
export const InnerTeam = z.strictObject({
  /** The absolute path of its file. */
  path: FilePath,
  /** The folder in which the member works, as its team file says: paths in the team's own file are relative to it. */
  folder: FilePath,
  /** The texts of all these files, by their absolute paths. */
  files: z
    .record(FilePath, textOf(TEAM_FILE_BYTES))
    .refine((files) => Object.keys(files).length <= INNER_FILES, `has more than ${INNER_FILES} team files`),
  /** Of all members of the team around it that say nothing else. */
  sandbox: Sandbox.optional(),
});
export type InnerTeam = z.output<typeof InnerTeam>;

/** The task of another team that a team works on, and the member whose task it is. */
export const TeamParent = z.object({
  teamId: Slug,
  memberId: Slug,
  taskId: TaskId,
  /** If that team is inside a member, too: where that is, from the outermost team: `alpha/rev`. */
  around: z.string().optional(),
});
export type TeamParent = z.output<typeof TeamParent>;

/** The team that works on a task for its holder. */
export const TaskInner = z.object({
  teamId: Slug,
  memberId: Slug,
  /** What it used, as far as that is counted to the task and its holder. */
  usage: Usage,
});
export type TaskInner = z.output<typeof TaskInner>;

/** The name of the team that works on a task: that of its parts, and a number if it is taken. */
export function nameOfInner({ teamId, memberId, taskId }: TeamParent, isTaken: (name: string) => boolean): string {
  const tail = `-${memberId}-${taskId}`;
  for (let attempt = 1; ; attempt++) {
    const end = attempt === 1 ? tail : `${tail}-${attempt}`;
    const name = `${teamId.slice(0, Math.max(1, NAME_LENGTH - end.length))}${end}`.slice(-NAME_LENGTH);
    const slug = name.replace(/^[^a-z0-9]+/, '');
    if (!isTaken(slug)) return slug;
  }
}
