import type { CommandType } from '../core/command.ts';
import { Slug } from '../core/fields.ts';
import {
  AssignTaskInput,
  DeleteTaskInput,
  DependenciesInput,
  FailTaskInput,
  ReleaseTaskInput,
  ReopenTaskInput,
  SharedTask,
} from '../core/task.ts';
import { requireTask, viewTask } from '../core/view.ts';
import type { NewCommand } from '../ledger/ledger.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';
import type { Context } from './operation.ts';

/** The steps of one task that need nothing but their rule. */
export const taskStepOperations = [
  operation({
    name: 'task.assign',
    summary: 'Reserve a task for a member; without a member, free it',
    scope: 'member',
    input: AssignTaskInput.extend({
      ...InTeam.shape,
      assigneeId: Slug.nullable().default(null).describe('the member; leave it out to free the task'),
    }),
    result: SharedTask,
    route: 'POST /api/teams/:teamId/tasks/:taskId/assign',
    cli: {
      args: ['taskId', 'assigneeId'],
      examples: ['troupe task assign 1 worker-1 --team demo', 'troupe task assign 1 --team demo'],
    },
    run: (context, input) => doTask(context, 'task.assign', input),
  }),
  operation({
    name: 'task.release',
    summary: 'Give a task back',
    scope: 'member',
    input: ReleaseTaskInput.extend(InTeam.shape),
    result: SharedTask,
    route: 'POST /api/teams/:teamId/tasks/:taskId/release',
    cli: {
      args: ['taskId'],
      said: 'was given back',
      offers: 'in_progress',
      examples: ['troupe task release 1 --team demo --as worker-1 --reason "needs a Mac"'],
    },
    run: (context, input) => doTask(context, 'task.release', input),
  }),
  operation({
    name: 'task.fail',
    summary: 'Mark a task as failed, with the reason',
    scope: 'member',
    input: FailTaskInput.extend(InTeam.shape),
    result: SharedTask,
    route: 'POST /api/teams/:teamId/tasks/:taskId/fail',
    cli: {
      args: ['taskId', 'reason'],
      said: 'has failed',
      offers: 'in_progress',
      examples: ['troupe task fail 1 "The compiler is broken" --team demo --as worker-1'],
    },
    run: (context, input) => doTask(context, 'task.fail', input),
  }),
  operation({
    name: 'task.reopen',
    summary: 'Make a completed, failed or deleted task pending again',
    scope: 'member',
    input: ReopenTaskInput.extend(InTeam.shape),
    result: SharedTask,
    route: 'POST /api/teams/:teamId/tasks/:taskId/reopen',
    cli: { args: ['taskId'], examples: ['troupe task reopen 1 --team demo --reason "the tests fail again"'] },
    run: (context, input) => doTask(context, 'task.reopen', input),
  }),
  operation({
    name: 'task.delete',
    summary: 'Delete a task; other tasks no longer wait for it',
    scope: 'member',
    input: DeleteTaskInput.extend(InTeam.shape),
    result: SharedTask,
    route: 'DELETE /api/teams/:teamId/tasks/:taskId',
    cli: { args: ['taskId'], said: 'is deleted', examples: ['troupe task delete 1 --team demo'] },
    run: (context, input) => doTask(context, 'task.delete', input),
  }),
  operation({
    name: 'task.depend',
    summary: 'Add dependencies to a task',
    scope: 'member',
    input: DependenciesInput.extend(InTeam.shape),
    result: SharedTask,
    route: 'POST /api/teams/:teamId/tasks/:taskId/dependencies',
    cli: { args: ['taskId', 'dependencies'], examples: ['troupe task depend 3 1 2 --team demo'] },
    run: (context, input) => doTask(context, 'task.addDependencies', input),
  }),
  operation({
    name: 'task.undepend',
    summary: 'Remove dependencies from a task',
    scope: 'member',
    input: DependenciesInput.extend(InTeam.shape),
    result: SharedTask,
    route: 'POST /api/teams/:teamId/tasks/:taskId/dependencies/remove',
    cli: { args: ['taskId', 'dependencies'], examples: ['troupe task undepend 3 1 --team demo'] },
    run: (context, input) => doTask(context, 'task.removeDependencies', input),
  }),
] as const;

function doTask(
  { ledger, actor, once }: Context,
  type: Extract<CommandType, `task.${string}`>,
  { teamId, ...input }: { teamId: string; taskId: string },
): Promise<SharedTask> {
  const command = { type, by: actor, ...once, ...input } as NewCommand;
  return ledger.execute(teamId, command, (state) =>
    viewTask(state, requireTask(state, input.taskId, { deleted: true })),
  );
}
