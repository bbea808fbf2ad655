import { z } from 'zod';
import { Slug, TaskId } from '../core/fields.ts';
import { TASKS_PER_TEAM } from '../core/limits.ts';
import { isOpen } from '../core/obstacles.ts';
import {
  CompleteTaskInput,
  CreateTaskInput,
  Lease,
  SharedTask,
  SharedTaskPriority,
  SharedTaskStatus,
  UpdateTaskInput,
} from '../core/task.ts';
import { requireTask, requireTeam, viewTask } from '../core/view.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { filterTasks } from '../ledger/task-filter.ts';
import { claimWaiting } from './claim.ts';
import { InTeam, Milliseconds, Wait } from './inputs.ts';
import { operation } from './operation.ts';
import { pageOf } from './page.ts';

const OfTask = InTeam.extend({ taskId: TaskId.describe('the task') });
const TASK_UPDATE = { answer: 'team_task_update', fields: (task: SharedTask | null) => ({ task }) } as const;

/** Work that was done apart lands before its task is completed, and that may take a while. */
const Landing = {
  wait: Milliseconds.optional().describe(
    'answer after so many milliseconds, even if the work still waits in the merge queue (default: wait for its landing)',
  ),
};

/** An ended task. A manager may end a task that waits; `skipped` then lists its open dependencies. */
const EndedTask = SharedTask.extend({
  skipped: z.array(TaskId).optional().describe('its dependencies that are not completed'),
});
export type EndedTask = z.output<typeof EndedTask>;

export const taskOperations = [
  operation({
    name: 'task.create',
    summary: 'Create a task',
    scope: 'member',
    input: CreateTaskInput.extend(InTeam.shape),
    result: SharedTask,
    route: 'POST /api/teams/:teamId/tasks',
    message: { type: 'team_create_task', speaker: 'createdBy', ...TASK_UPDATE },
    cli: {
      command: 'task add',
      args: ['title'],
      flags: { dependencies: 'needs', assigneeId: 'assign' },
      examples: [
        'troupe task add "Write the parser" --team demo --priority high',
        'troupe task add "Test it" --team demo --needs 1,2 --assign worker-1 --description - < brief.md',
        "troupe task add 'Rename the tokens' --team demo --files 'src/parser/**,docs/grammar.md'",
      ],
    },
    run: ({ tasks, actor, once }, { teamId, ...input }) => tasks.createTask(teamId, actor, input, once),
  }),
  operation({
    name: 'task.list',
    summary: 'List the tasks of a team',
    scope: 'reader',
    long: true,
    input: InTeam.extend({
      status: SharedTaskStatus.optional().describe('only with this status'),
      assigneeId: Slug.optional().describe('held by or reserved for this member'),
      priority: SharedTaskPriority.optional().describe('only with this priority'),
      after: TaskId.optional().describe('only tasks with a greater id'),
      limit: z
        .number()
        .int()
        .min(1)
        .max(TASKS_PER_TEAM)
        .default(1_000)
        .describe('at most this many, oldest first; fewer if they are long'),
    }),
    result: z.array(SharedTask),
    route: 'GET /api/teams/:teamId/tasks',
    message: { type: 'team_list_tasks', answer: 'team_tasks', fields: (tasks) => ({ tasks }) },
    cli: {
      flags: { assigneeId: 'assignee' },
      examples: [
        'troupe task list --team demo',
        'troupe task list --team demo --status pending',
        `troupe task list --team demo --json | jq -r '.[].title'`,
      ],
    },
    run: ({ ledger, more }, { teamId, limit, after, status, assigneeId, priority }) =>
      ledger.view(teamId, (state) => {
        requireTeam(state);
        const found = filterTasks(state, {
          ...(after && { after }),
          ...(status && { status }),
          ...(assigneeId && { assigneeId }),
          ...(priority && { priority }),
        });
        return pageOf(found, { limit, more });
      }),
  }),
  operation({
    name: 'task.show',
    summary: 'Show a task',
    scope: 'reader',
    input: OfTask,
    result: SharedTask,
    route: 'GET /api/teams/:teamId/tasks/:taskId',
    cli: { args: ['taskId'], examples: ['troupe task show 1 --team demo'] },
    run: ({ ledger }, { teamId, taskId }) =>
      ledger.view(teamId, (state) => viewTask(state, requireTask(state, taskId, { deleted: true }))),
  }),
  operation({
    name: 'task.update',
    summary: 'Change a task; a new status or assignee works like the command for it',
    scope: 'member',
    input: UpdateTaskInput.extend({ ...OfTask.shape, ...Landing }),
    result: EndedTask,
    route: 'PATCH /api/teams/:teamId/tasks/:taskId',
    message: { type: 'team_update_task', ...TASK_UPDATE },
    cli: {
      args: ['taskId'],
      flags: { assigneeId: 'assign', addDependencies: 'add-needs', addDependents: 'add-needed-by' },
      examples: ['troupe task update 1 --team demo --title "Write the lexer" --assign none'],
    },
    run: async ({ ledger, tasks, actor, once }, { teamId, taskId, wait, ...changes }) => {
      const task = await tasks.updateTask(teamId, taskId, changes, actor, {
        ...once,
        ...(wait !== undefined && { wait }),
      });
      return changes.status === 'completed' ? withSkipped(ledger, task) : task;
    },
  }),
  operation({
    name: 'task.claim',
    summary: 'Claim a task, or the best one that is ready',
    scope: 'member',
    input: InTeam.extend({
      taskId: TaskId.optional().describe('the task (default: the best one that is ready)'),
      lease: Lease.optional().describe(
        'release it when the holder has called nothing for so many milliseconds; for members that Troupe does not run',
      ),
      ...Wait,
    }),
    result: SharedTask.nullable(),
    route: 'POST /api/teams/:teamId/claim',
    message: { type: 'team_claim_task', speaker: 'teammateId', ...TASK_UPDATE },
    cli: {
      args: ['taskId'],
      offers: 'pending',
      examples: [
        'troupe task claim --team demo --as worker-1',
        'troupe task claim 3 --team demo --as worker-1',
        'troupe task claim --team demo --as worker-1 --wait 5m --json',
        'troupe task claim 3 --team demo --as worker-1 --lease 30m',
      ],
    },
    // Not `async`: claims are frequent, and this saves a promise.
    run(context, { teamId, taskId, lease, wait = 0 }) {
      const { tasks, actor, once } = context;
      const options = lease === undefined ? once : { ...once, lease };
      if (wait > 0) return claimWaiting(context, { teamId, taskId, wait, lease });
      if (taskId !== undefined) return tasks.claimTask(teamId, taskId, actor, options);
      return tasks.claimNextTask(teamId, actor, options).then(orNull);
    },
  }),
  operation({
    name: 'task.complete',
    summary: 'Complete a task with its result: its work is handed in, judged and landed',
    scope: 'member',
    input: CompleteTaskInput.omit({ revision: true }).extend({ ...InTeam.shape, ...Landing }),
    result: EndedTask,
    route: 'POST /api/teams/:teamId/tasks/:taskId/complete',
    message: { type: 'team_complete_task', speaker: 'teammateId', ...TASK_UPDATE },
    cli: {
      args: ['taskId'],
      offers: 'in_progress',
      examples: [
        'troupe task complete 1 --team demo --as worker-1 --result "In src/parser.ts, 12 tests"',
        'npm test 2>&1 | troupe task complete 1 --team demo --as worker-1 --result -',
      ],
    },
    run: async ({ ledger, tasks, actor, once }, { teamId, taskId, result, refused, epoch, wait }) => {
      const task = await tasks.completeTask(teamId, taskId, actor, {
        ...(result !== undefined && { result }),
        ...(refused && { refused }),
        ...(epoch !== undefined && { epoch }),
        ...(wait !== undefined && { wait }),
        ...once,
      });
      return withSkipped(ledger, task);
    },
  }),
] as const;

function orNull<T>(value: T | undefined): T | null {
  return value ?? null;
}

async function withSkipped(ledger: Ledger, task: SharedTask): Promise<EndedTask> {
  // A task that was claimed had no open dependencies. Most tasks end that way and need no second look.
  if (task.dependencies.length === 0 || task.startedAt !== undefined) return task;
  const skipped = await ledger.view(task.teamId, (state) => {
    const record = state.tasks.get(task.id);
    return record ? task.dependencies.filter((id) => isOpen(record, state.tasks.get(id))) : [];
  });
  return skipped.length > 0 ? { ...task, skipped } : task;
}
