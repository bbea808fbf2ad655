import { z } from 'zod';
import { indentText } from '../../core/envelope.ts';
import { TASKS_PER_TEAM } from '../../core/limits.ts';
import { CreateTaskInput, SharedTaskPriority } from '../../core/task.ts';
import type { SharedTask } from '../../core/task.ts';
import type { EndedTask } from '../../operations/task.ts';
import { tool } from '../tool.ts';
import { fromTaskWords, toListedTask } from '../words.ts';
import { aboutTask, describeInList, LANDING_MS, showTask, waitsToLand, whatWasSkipped } from './about-task.ts';
import { claimTask } from './claim.ts';
import { epochFor, forgetEpoch } from './epoch.ts';
import { Epoch, Id, LeaseMinutes, LONGEST_WAIT, WaitSeconds } from './inputs.ts';
import { withOwner } from './roster.ts';
import { updateTask } from './update.ts';

/** How many tasks a model can use; the others are only counted. */
const LISTED_TASKS = 200;

/** The id of the last task that the caller has seen; 0 is before all. */
const After = z.string().regex(/^\d{1,15}$/, 'is not a task id such as "7"');

const NO_TASKS = 'No tasks found. Create them with TaskCreate.';

const Words = {
  subject: z
    .string()
    .min(1)
    .max(CreateTaskInput.shape.title.maxLength as number),
  description: z.string(),
  activeForm: z.string(),
  owner: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  files: z.array(z.string()),
};

export const taskTools = [
  tool({
    name: 'TaskCreate',
    description:
      'Add a task to the shared list. Say in blockedBy what it waits for: else it may be claimed at once. Tasks that change the same files ("src/parser/**") take turns.',
    for: 'member',
    input: z.strictObject({
      subject: Words.subject,
      description: Words.description,
      activeForm: Words.activeForm.optional(),
      metadata: Words.metadata.optional(),
      blockedBy: z.array(Id).optional(),
      owner: Words.owner.optional(),
      priority: SharedTaskPriority.optional(),
      files: Words.files.optional(),
    }),
    run: async (visit, { blockedBy, ...words }) => {
      const { call, teamId } = visit;
      const task = await call<SharedTask>(
        'task.create',
        {
          teamId,
          ...fromTaskWords(await withOwner(visit, words)),
          ...(blockedBy && { dependencies: blockedBy }),
        },
        { once: true },
      );
      return aboutTask(`Task #${task.id} created successfully: ${indentText(task.title)}`, task);
    },
  }),

  tool({
    name: 'TaskGet',
    description: 'Show one task in full: description, owner, what it waits for, its result.',
    for: 'reader',
    reads: true,
    input: z.strictObject({ taskId: Id }),
    run: async ({ call, teamId }, { taskId }) => {
      const task = await call<SharedTask>('task.show', { teamId, taskId });
      return showTask('', task);
    },
  }),

  tool({
    name: 'TaskList',
    description: 'List the tasks of the team.',
    for: 'reader',
    reads: true,
    input: z.strictObject({ after: After.optional() }),
    run: async ({ call, teamId }, { after }) => {
      const all = await call<SharedTask[]>('task.list', {
        teamId,
        limit: TASKS_PER_TEAM,
        ...(Number(after) > 0 && { after }),
      });
      const listed = after === undefined ? mostUseful(all) : all.slice(0, LISTED_TASKS);
      const tasks = listed.map(toListedTask);
      const left = all.length - tasks.length;
      const lines = listed.map(describeInList);
      // The first answer lists open tasks first. Pages after it go through all tasks by id.
      const next = after === undefined ? '0' : (tasks.at(-1)?.id ?? after);
      if (left > 0) lines.push(`... and ${left} more: TaskList with after "${next}" continues in the order of ids`);
      return {
        text: lines.join('\n') || (after === undefined ? NO_TASKS : `No tasks come after #${after}.`),
        data: { tasks, ...(left > 0 && { not_listed: left, more: true, after: next }) },
      };
    },
  }),

  tool({
    name: 'TaskUpdate',
    description:
      'Change a task. status in_progress claims it for you, pending gives it back, deleted removes it; owner reserves it for a member ("" for nobody); metadata is merged, null removes a key. To finish with a result use TaskComplete.',
    for: 'member',
    input: z.strictObject({
      taskId: Id,
      subject: Words.subject.optional(),
      description: Words.description.optional(),
      activeForm: Words.activeForm.optional(),
      status: z.enum(['pending', 'in_progress', 'completed', 'deleted']).optional(),
      owner: Words.owner.optional(),
      addBlocks: z.array(Id).optional(),
      addBlockedBy: z.array(Id).optional(),
      metadata: Words.metadata.optional(),
      files: Words.files.optional(),
      epoch: Epoch.optional(),
    }),
    run: updateTask,
  }),

  tool({
    name: 'TaskClaim',
    description: `Take a task to work on: the one you name, or the best that is ready. Only one member gets it. wait_seconds (up to ${LONGEST_WAIT}) waits for one; mail ends the wait. lease_minutes, if Troupe does not run you: it is released when you call nothing for so long.`,
    for: 'member',
    works: true,
    input: z.strictObject({ taskId: Id.optional(), wait_seconds: WaitSeconds, lease_minutes: LeaseMinutes.optional() }),
    run: claimTask,
  }),

  tool({
    name: 'TaskComplete',
    description: 'Finish a task that you hold (the lead: any open one), with its result, which the others see.',
    for: 'member',
    works: true,
    input: z.strictObject({ taskId: Id, result: z.string().optional(), epoch: Epoch.optional() }),
    run: async (visit, { taskId, result, epoch: said }) => {
      const { call, teamId } = visit;
      const epoch = await epochFor(visit, taskId, said);
      const task = await call<EndedTask>(
        'task.complete',
        {
          teamId,
          taskId,
          ...(result !== undefined && { result }),
          ...(epoch !== undefined && { epoch }),
          wait: LANDING_MS,
        },
        { once: true },
      );
      if (task.status === 'in_progress') return aboutTask(waitsToLand(task), task);
      forgetEpoch(visit, taskId);
      return aboutTask(`Task #${taskId} completed${whatWasSkipped(task)}. Call TaskClaim for your next task.`, task);
    },
  }),
];

/** Open tasks first, then the newest finished ones; sorted by id. */
function mostUseful(tasks: readonly SharedTask[]): SharedTask[] {
  if (tasks.length <= LISTED_TASKS) return [...tasks];
  const isOver = ({ status }: SharedTask): boolean => status === 'completed' || status === 'failed';
  const open = tasks.filter((task) => !isOver(task)).slice(0, LISTED_TASKS);
  const left = LISTED_TASKS - open.length;
  const over = left > 0 ? tasks.filter(isOver).slice(-left) : [];
  return [...open, ...over].sort((a, b) => Number(a.id) - Number(b.id));
}
