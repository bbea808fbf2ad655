import { z } from 'zod';
import { TeamParent } from './inner.ts';
import type { TeamState } from './state.ts';

/** What a team inside a member did: a part of the report of the team around it. */
export const InnerReport = z.object({
  team: z.string(),
  /** The task that it worked on, and the member whose task it is. */
  parent: TeamParent,
  status: z.string(),
  tasks: z.array(z.object({ id: z.string(), title: z.string(), status: z.string() })),
});
export type InnerReport = z.output<typeof InnerReport>;

/** What a team did for the team around it; undefined if it is in no member. */
export function innerReportOf({ team, tasks }: TeamState): InnerReport | undefined {
  if (!team?.parent) return undefined;
  const { name, parent, status } = team;
  const own = [...tasks.values()].filter((task) => task.status !== 'deleted');
  return {
    team: name,
    parent,
    status,
    tasks: own.map((task) => ({ id: task.id, title: task.title, status: task.status })),
  };
}
