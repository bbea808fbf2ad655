import { z } from 'zod';
import { Slug, TaskId } from '../core/fields.ts';
import type { QueueView } from '../core/queue-view.ts';
import { EndedLanding } from '../core/work.ts';
import { refreshWork } from '../runtime/work/refresh.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';
import type { Context } from './operation.ts';
import { requireOwn, requireWorks } from './work-services.ts';

/** The merge queue; times are milliseconds since 1970. */
export const WorkQueue = z.object({
  entries: z.array(
    z.object({
      taskId: TaskId,
      title: z.string(),
      memberId: Slug,
      epoch: z.number().int(),
      commit: z.string().describe('what was handed in'),
      place: z.number().int().describe('the first is 1'),
      since: z.number().describe('when it was first handed in'),
      files: z.number().int(),
      added: z.number().int(),
      removed: z.number().int(),
      isLanding: z.boolean().describe('whether the gates judge it for its landing now'),
      hasLeft: z.boolean().describe('whether its holder has stopped since'),
      alone: z
        .enum(['judging', 'green'])
        .optional()
        .describe('whether it is being judged alone while it waits, or was found good'),
    }),
  ),
  asked: z
    .array(
      z.object({
        taskId: TaskId,
        title: z.string(),
        memberId: Slug,
        commit: z.string().describe('what was handed in'),
        files: z.number().int(),
        added: z.number().int(),
        removed: z.number().int(),
        reviewerId: Slug.optional().describe('the member that reviews it; absent: a person is asked'),
        since: z.number().describe('since when somebody is asked'),
      }),
    )
    .describe('what the gates accepted and waits for its approval, outside the queue'),
  landingSince: z.number().optional().describe('since when a landing is judged'),
  ended: EndedLanding.optional().describe(
    'the last landing, if it brought nothing onto the branch and one of its tasks is still open',
  ),
  sentBack: z
    .array(
      z.object({
        taskId: TaskId,
        title: z.string(),
        memberId: Slug,
        why: z.string().describe('the first line of what its holder was told'),
        conflicts: z.array(z.string()).describe('the files that conflict; none if a gate rejected it'),
        at: z.number().describe('when the task last changed'),
      }),
    )
    .describe('what was in the queue and went back to its holder, the newest first'),
});

/** The queue of a team without workspaces. */
export const NO_QUEUE = { entries: [], asked: [], sentBack: [] };

/** With what this daemon found out about works that wait. Only these two verdicts say anything to people. */
export function withAlone({ queues }: Context, teamId: string, { entries, asked, sentBack, ...queue }: QueueView) {
  return {
    ...queue,
    asked: [...asked],
    sentBack: sentBack.map((one) => ({ ...one, conflicts: [...one.conflicts] })),
    entries: entries.map((entry) => {
      const alone = entry.isLanding ? undefined : queues?.aloneOf(teamId, entry);
      return { ...entry, ...((alone === 'judging' || alone === 'green') && { alone }) };
    }),
  };
}

export const workQueueOperations = [
  operation({
    name: 'work.refresh',
    summary: 'Merge what landed into the workspace of a member, beside its own changes',
    scope: 'member',
    input: InTeam.extend({ memberId: Slug.optional().describe('the member (default: the caller)') }),
    result: z.object({
      memberId: Slug,
      base: z.string().describe('the tip that its folder has now'),
      behind: z.number().int().describe('by how many commits it was behind'),
      files: z.array(z.string()).describe('the files of the repository that landed work changed in it'),
    }),
    route: 'POST /api/teams/:teamId/work/refresh',
    cli: { args: ['memberId'], examples: ['troupe work refresh worker-1 --team demo'] },
    run: async (context, { teamId, memberId = context.actor }) => {
      requireOwn(context, memberId);
      const isOwner = context.actor === memberId;
      return refreshWork(context.ledger, requireWorks(context), { teamId, memberId, isOwner });
    },
  }),
] as const;
