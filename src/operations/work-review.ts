import { readComment, ReviewWorkInput, WrittenComments } from '../core/review.ts';
import { SharedTask } from '../core/task.ts';
import { requireTask, viewTask } from '../core/view.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';

/** Verdicts about work before it lands. */
export const workReviewOperations = [
  operation({
    name: 'work.review',
    summary: 'Approve work that waits for a review, or send it back with comments',
    scope: 'member',
    input: ReviewWorkInput.extend({
      ...InTeam.shape,
      comments: WrittenComments.optional().describe('what you say about single lines, such as "src/a.ts:12: too long"'),
    }),
    result: SharedTask,
    route: 'POST /api/teams/:teamId/tasks/:taskId/review',
    cli: {
      args: ['taskId', 'commit'],
      said: 'was reviewed',
      examples: [
        'troupe work review 3 4a5b6c7 --approve --team demo',
        'troupe work review 3 4a5b6c7 --no-approve --comments "src/a.ts:12: too long" --team demo --as eyes',
      ],
    },
    run: ({ ledger, actor, once }, { teamId, comments = [], ...input }) =>
      ledger.execute(
        teamId,
        { type: 'work.review', by: actor, ...once, ...input, comments: comments.map(readComment) },
        (state) => viewTask(state, requireTask(state, input.taskId)),
      ),
  }),
] as const;
