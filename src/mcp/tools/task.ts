import { z } from 'zod';
import { escapeVoices } from '../../core/envelope.ts';
import { TeamError } from '../../core/errors.ts';
import { CreateTaskInput, SharedTaskPriority } from '../../core/task.ts';
import type { SharedTask } from '../../core/task.ts';
import { tool } from '../tool.ts';
import type { Answer, Visit } from '../tool.ts';
import { fromMemberName, fromTaskWords, toListedTask } from '../words.ts';
import { aboutTask, showTask } from './about-task.ts';
import { claimTask } from './claim.ts';
import { Id, LONGEST_WAIT, WaitSeconds } from './inputs.ts';
import { rosterOf } from './roster.ts';

/** As many tasks as a model can use; the rest is counted. */
const LISTED_TASKS = 200;

const Words = {
  subject: z
    .string()
    .min(1)
    .max(CreateTaskInput.shape.title.maxLength as number),
  description: z.string(),
  activeForm: z.string(),
  owner: z.string(),
  metadata: z.record(z.string(), z.unknown()),
};

export const taskTools = [
  tool({
    name: 'TaskCreate',
    description:
      'Add a task to the shared list. Say what it waits for here (blockedBy): a task that waits for nothing may be claimed at once.',
    for: 'member',
    input: z.strictObject({
      subject: Words.subject,
      description: Words.description,
      activeForm: Words.activeForm.optional(),
      metadata: Words.metadata.optional(),
      blockedBy: z.array(Id).optional(),
      owner: Words.owner.optional(),
      priority: SharedTaskPriority.optional(),
    }),
    run: async (visit, { blockedBy, ...words }) => {
      const { call, teamId } = visit;
      const task = await call<SharedTask>(
        'task.create',
        {
          teamId,
          ...fromTaskWords(await named(visit, words)),
          ...(blockedBy && { dependencies: blockedBy }),
        },
        { once: true },
      );
      return aboutTask(`Task #${task.id} created successfully: ${escapeVoices(task.title)}`, task);
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
    input: z.strictObject({}),
    run: async ({ call, teamId }) => {
      const all = await call<SharedTask[]>('task.list', { teamId });
      const tasks = mostUseful(all).map(toListedTask);
      const left = all.length - tasks.length;
      const lines = tasks.map(({ id, status, subject, owner, blockedBy }) => {
        const holder = owner === undefined ? '' : ` (${owner})`;
        const waits = blockedBy.length > 0 ? ` [blocked by ${blockedBy.map((one) => `#${one}`).join(', ')}]` : '';
        return `#${id} [${status}] ${escapeVoices(subject)}${holder}${waits}`;
      });
      if (left > 0) lines.push(`... and ${left} more that are over`);
      return {
        text: lines.join('\n') || 'No tasks found. Create them with TaskCreate.',
        data: { tasks, ...(left > 0 && { not_listed: left }) },
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
    }),
    run: updateTask,
  }),

  tool({
    name: 'TaskClaim',
    description: `Take a task to work on: the one you name, or the best one that is ready. One member only can win it. With wait_seconds (up to ${LONGEST_WAIT}) it waits for one, and ends early when mail comes.`,
    for: 'member',
    works: true,
    input: z.strictObject({ taskId: Id.optional(), wait_seconds: WaitSeconds }),
    run: claimTask,
  }),

  tool({
    name: 'TaskComplete',
    description: 'Finish a task that you hold, with what it produced: the result is what the others get to see.',
    for: 'member',
    works: true,
    input: z.strictObject({ taskId: Id, result: z.string().optional() }),
    run: async ({ call, teamId, session }, { taskId, result }) => {
      const epoch = session.epochs.get(taskId);
      const task = await call<SharedTask>(
        'task.complete',
        {
          teamId,
          taskId,
          ...(result !== undefined && { result }),
          ...(epoch !== undefined && { epoch }),
        },
        { once: true },
      );
      return aboutTask(`Task #${taskId} completed. Call TaskClaim for your next task.`, task);
    },
  }),
];

/**
 * Dependencies come first: they can only change while a task is pending. The rest is one step of the ledger, so that a
 * new owner, status and text are there together or not at all. Said again, what is done already changes nothing.
 */
async function updateTask(
  visit: Visit,
  {
    taskId,
    status,
    addBlocks = [],
    addBlockedBy = [],
    ...words
  }: {
    taskId: string;
    status?: string | undefined;
    addBlocks?: string[] | undefined;
    addBlockedBy?: string[] | undefined;
    subject?: string | undefined;
    description?: string | undefined;
    activeForm?: string | undefined;
    owner?: string | undefined;
    metadata?: Record<string, unknown> | undefined;
  },
): Promise<Answer> {
  const { call, teamId, memberId, session, delegating } = visit;
  const changes = fromTaskWords(await named(visit, words));
  const owner = changes['assigneeId'] as string | null | undefined;
  // Claude Code lets a lead write that another has begun. Here only who works on a task can begin it.
  const reserves = status === 'in_progress' && typeof owner === 'string' && owner !== memberId;
  if (delegating && !reserves && (status === 'in_progress' || status === 'completed')) {
    throw new TeamError(
      'not_allowed',
      'In delegate mode the lead does no work itself: give the task to a teammate (owner)',
    );
  }
  const done: string[] = [];
  const step = async <R>(name: string, work: () => Promise<R>): Promise<R> => {
    try {
      const value = await work();
      done.push(name);
      return value;
    } catch (error) {
      if (done.length === 0 || !(error instanceof TeamError)) throw error;
      throw new TeamError(error.code, `${error.message} (done before it: ${done.join(', ')})`, { cause: error });
    }
  };

  let task: SharedTask | undefined;
  if (addBlockedBy.length > 0) {
    task = await step('blockedBy', () =>
      call<SharedTask>('task.depend', { teamId, taskId, dependencies: addBlockedBy }, { once: 'blockedBy' }),
    );
  }
  for (const blocked of addBlocks) {
    await step(`blocks #${blocked}`, () =>
      call<SharedTask>(
        'task.depend',
        { teamId, taskId: blocked, dependencies: [taskId] },
        { once: `blocks-${blocked}` },
      ),
    );
  }
  const newStatus = reserves ? undefined : status;
  if (newStatus !== undefined || Object.keys(changes).length > 0) {
    const epoch = newStatus === 'completed' ? session.epochs.get(taskId) : undefined;
    task = await step('fields', () =>
      call<SharedTask>('task.update', {
        teamId,
        taskId,
        ...changes,
        ...(newStatus !== undefined && { status: newStatus }),
        ...(epoch !== undefined && { epoch }),
      }),
    );
  }
  task ??= await call<SharedTask>('task.show', { teamId, taskId });
  if (newStatus === 'in_progress') session.epochs.set(taskId, task.epoch);

  const names = [
    ...Object.keys(words).filter((name) => words[name as keyof typeof words] !== undefined),
    ...(newStatus === undefined ? [] : ['status']),
    ...(addBlocks.length > 0 ? ['blocks'] : []),
    ...(addBlockedBy.length > 0 ? ['blockedBy'] : []),
  ];
  const next = reserves ? `It is reserved for ${owner} and begins when ${owner} claims it.` : NEXT[newStatus ?? ''];
  const said = names.length > 0 ? `Updated task #${taskId} ${names.join(', ')}` : `Task #${taskId} is unchanged`;
  return aboutTask(next === undefined ? said : `${said}\n\n${next}`, task);
}

const NEXT: Readonly<Record<string, string | undefined>> = {
  in_progress: 'You hold it now. Finish it with TaskComplete.',
  completed: 'Task completed. Call TaskClaim for your next task, or TaskList to see what your work unblocked.',
};

/** The owner by the name that the team knows. */
async function named<W extends { owner?: string | undefined }>(visit: Visit, words: W): Promise<W> {
  if (!words.owner) return words;
  return { ...words, owner: fromMemberName(words.owner, await rosterOf(visit)) };
}

/** What is open first; of what is over, the newest. In the order of the ids. */
function mostUseful(tasks: readonly SharedTask[]): SharedTask[] {
  if (tasks.length <= LISTED_TASKS) return [...tasks];
  const isOver = ({ status }: SharedTask): boolean => status === 'completed' || status === 'failed';
  const open = tasks.filter((task) => !isOver(task)).slice(0, LISTED_TASKS);
  const left = LISTED_TASKS - open.length;
  const over = left > 0 ? tasks.filter(isOver).slice(-left) : [];
  return [...open, ...over].sort((a, b) => Number(a.id) - Number(b.id));
}
