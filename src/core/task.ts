import { z } from 'zod';
import { Actor } from './actor.ts';
import { Budget } from './budget.ts';
import { durationOf } from './duration.ts';
import { Line, lineOf, Slug, TaskId, textOf } from './fields.ts';
import { wrongPattern } from './file-patterns.ts';
import { TaskInner } from './inner.ts';
import { Metadata } from './json.ts';
import {
  DEPENDENCIES_PER_TASK,
  DESCRIPTION_BYTES,
  FILES_PER_TASK,
  LONGEST_LEASE_MS,
  PATTERN_LENGTH,
  RESULT_BYTES,
  SHORTEST_LEASE_MS,
  TITLE_LENGTH,
} from './limits.ts';
import { Timestamp } from './time.ts';
import { TaskWork } from './work.ts';

/** The status in a task's record. */
export const StoredTaskStatus = z.enum(['pending', 'in_progress', 'completed', 'failed', 'deleted']);
export type StoredTaskStatus = z.infer<typeof StoredTaskStatus>;

/** The status that faces show: a pending task with open dependencies is `blocked`. That is derived, never stored. */
export const SharedTaskStatus = z.enum([...StoredTaskStatus.options, 'blocked']);
export type SharedTaskStatus = z.infer<typeof SharedTaskStatus>;

/** How soon a task should be taken. */
export const SharedTaskPriority = z.enum(['low', 'medium', 'high', 'critical']);
export type SharedTaskPriority = z.infer<typeof SharedTaskPriority>;

/** What a task does when a dependency fails: stay blocked, go ahead anyway, or fail too. */
export const DependencyFailurePolicy = z.enum(['block', 'proceed', 'fail']);
export type DependencyFailurePolicy = z.infer<typeof DependencyFailurePolicy>;

/** A task as the faces show it. */
export const SharedTask = z.object({
  id: TaskId,
  teamId: Slug,
  title: z.string(),
  description: z.string(),
  /** What is happening while a member works on it: "Running tests". */
  activeForm: z.string().optional(),
  status: SharedTaskStatus,
  priority: SharedTaskPriority,
  /** The holder or, while the task is pending, the member it is reserved for. */
  assigneeId: Slug.optional(),
  /** Someone chose the assignee, so the task stays reserved for it when it is released. */
  reserved: z.boolean(),
  /** The hooks on new tasks have not judged it yet: nobody can claim it. */
  unjudged: z.boolean().optional(),
  /** Why nobody can claim it now, if another program shares the task list. */
  withheld: z.string().optional(),
  dependencies: z.array(TaskId),
  /** Patterns of the files that it changes. It waits while a task of another member in progress has such a file, too. */
  files: z.array(z.string()).optional(),
  /** Dependencies that are still open. Derived. */
  blockedBy: z.array(TaskId),
  /** Tasks in progress that change the same files; absent if there are none. Derived. */
  filesHeldBy: z.array(TaskId).optional(),
  /** Tasks that wait for this one. Derived. */
  blocks: z.array(TaskId),
  /** Why it is blocked, as text. Derived. */
  blockedReason: z.string().optional(),
  onDependencyFailure: DependencyFailurePolicy,
  /** Grows with every change of holder; a write under an old epoch is refused. */
  epoch: z.number().int(),
  /** Grows with every change of the task. */
  revision: z.number().int(),
  result: z.string().optional(),
  /** Why it failed. */
  failure: z.string().optional(),
  /** How often a gate sent the work back, and its last feedback. */
  rejections: z.number().int(),
  feedback: z.string().optional(),
  /** What its holder changed, if its members work apart. */
  work: TaskWork.optional(),
  /** The team that works on it for its holder, if that is a team. */
  inner: TaskInner.optional(),
  /** How much all its holders together may use for it. */
  budget: Budget.optional(),
  /** How long its holder may be silent, in milliseconds, and until when it may be now. Then the task is released. */
  lease: z.number().int().optional(),
  leaseUntil: Timestamp.optional(),
  createdBy: Actor,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  startedAt: Timestamp.optional(),
  completedAt: Timestamp.optional(),
  metadata: Metadata.optional(),
});
export type SharedTask = z.output<typeof SharedTask>;

/** The subject of a task, in one line. */
export const Title = lineOf(TITLE_LENGTH).min(1, 'must not be empty');
const Description = textOf(DESCRIPTION_BYTES);
const Dependencies = z.array(TaskId).max(DEPENDENCIES_PER_TASK);

/** A pattern of files, relative to the project: `src/parser/**`. */
const FilePattern = lineOf(PATTERN_LENGTH)
  .min(1)
  .superRefine((pattern, context) => {
    const wrong = wrongPattern(pattern);
    if (wrong !== undefined) context.addIssue({ code: 'custom', message: wrong });
  });
/** Patterns of the files that a task changes. */
export const FilePatterns = z.array(FilePattern).max(FILES_PER_TASK);
const BUDGET = 'what it may use before a person is asked';
const FILES = 'the files that it changes, such as src/parser/**: tasks that change the same files wait for each other';

/** The input that creates a task. */
export const CreateTaskInput = z.strictObject({
  title: Title.describe('what to do, in one line'),
  description: Description.default('').describe('what to do'),
  activeForm: Line.optional().describe('the text to show while it is in progress: "Running tests"'),
  priority: SharedTaskPriority.default('medium').describe('how soon it should be done'),
  assigneeId: Slug.optional().describe('the member it is reserved for'),
  dependencies: Dependencies.default([]).describe('tasks that must be completed first'),
  files: FilePatterns.optional().describe(FILES),
  onDependencyFailure: DependencyFailurePolicy.default('block').describe('what to do when a task it waits for fails'),
  budget: Budget.optional().describe(BUDGET),
  metadata: Metadata.optional(),
});
export type CreateTaskInput = z.output<typeof CreateTaskInput>;

/** What the caller last saw of the task; if the task changed since, the write is refused. */
const Seen = {
  epoch: z.number().int().min(0).optional().describe('refuse if the task changed hands since this epoch'),
  revision: z.number().int().min(0).optional().describe('refuse if it changed since this revision'),
};

/** The fields of a task that can be changed in place. */
export const ChangeTaskInput = z.strictObject({
  taskId: TaskId,
  title: Title.optional().describe('what to do, in one line'),
  description: Description.optional().describe('what to do'),
  activeForm: Line.optional().describe('the text to show while it is in progress: "Running tests"'),
  priority: SharedTaskPriority.optional().describe('how soon it should be done'),
  files: FilePatterns.optional().describe(FILES),
  onDependencyFailure: DependencyFailurePolicy.optional().describe('what to do when a task it waits for fails'),
  budget: Budget.optional().describe(BUDGET),
  metadata: Metadata.optional(),
  ...Seen,
});
export type ChangeTaskInput = z.output<typeof ChangeTaskInput>;

/** An update for the task list: changes in place, new dependencies, and a status or assignee that stands for a step. */
export const UpdateTaskInput = ChangeTaskInput.omit({ taskId: true }).extend({
  status: SharedTaskStatus.optional().describe('the new status'),
  assigneeId: Slug.nullable().optional().describe('the member it is reserved for; null to free it'),
  addDependencies: Dependencies.optional().describe('more tasks that it waits for'),
  addDependents: Dependencies.optional().describe('more tasks that wait for it'),
});
export type UpdateTaskInput = z.output<typeof UpdateTaskInput>;

/** Reserves a task for a member, or for nobody. A task in progress is taken from its holder. */
export const AssignTaskInput = z.strictObject({
  taskId: TaskId.describe('the task'),
  assigneeId: Slug.nullable(),
  ...Seen,
});
export type AssignTaskInput = z.output<typeof AssignTaskInput>;

/** How long the holder of a task may be silent, in milliseconds. */
export const Lease = durationOf(SHORTEST_LEASE_MS, LONGEST_LEASE_MS);

/** Takes one task; without an id, the best one that is ready. A manager may start a task for a member. */
export const ClaimTaskInput = z.strictObject({
  taskId: TaskId.optional(),
  memberId: Slug.optional(),
  lease: Lease.optional(),
});
export type ClaimTaskInput = z.output<typeof ClaimTaskInput>;

/** The holder of a task with a lease was heard: the lease begins again. */
export const RenewTaskInput = z.strictObject({ taskId: TaskId, ...Seen });
export type RenewTaskInput = z.output<typeof RenewTaskInput>;

/** Gives a task back. */
export const ReleaseTaskInput = z.strictObject({
  taskId: TaskId.describe('the task'),
  reason: Line.optional().describe('why'),
  ...Seen,
});
export type ReleaseTaskInput = z.output<typeof ReleaseTaskInput>;

/** Completes a task, with its result. */
export const CompleteTaskInput = z.strictObject({
  taskId: TaskId.describe('the task'),
  result: textOf(RESULT_BYTES).optional().describe('its result'),
  refused: z
    .boolean()
    .optional()
    .describe('the model refused: the task is completed only if a gate accepts it, else a person is asked'),
  ...Seen,
});
export type CompleteTaskInput = z.output<typeof CompleteTaskInput>;

/** Marks a task as failed, with the reason. */
export const FailTaskInput = z.strictObject({
  taskId: TaskId.describe('the task'),
  reason: textOf(RESULT_BYTES).describe('why'),
  ...Seen,
});
export type FailTaskInput = z.output<typeof FailTaskInput>;

/** Makes an ended or deleted task pending again. */
export const ReopenTaskInput = z.strictObject({
  taskId: TaskId.describe('the task'),
  reason: Line.optional().describe('why'),
  ...Seen,
});
export type ReopenTaskInput = z.output<typeof ReopenTaskInput>;

/** Deletes a task; its dependents no longer wait for it. */
export const DeleteTaskInput = z.strictObject({ taskId: TaskId.describe('the task'), ...Seen });
export type DeleteTaskInput = z.output<typeof DeleteTaskInput>;

/** Adds or removes dependencies of a task. */
export const DependenciesInput = z.strictObject({
  taskId: TaskId.describe('the task'),
  dependencies: Dependencies.min(1).describe('tasks that must be completed first'),
  ...Seen,
});
export type DependenciesInput = z.output<typeof DependenciesInput>;

/** A gate sends the work back to its holder and says what has to change. */
export const RejectTaskInput = z.strictObject({
  taskId: TaskId,
  feedback: textOf(RESULT_BYTES),
  /** The result of the work: a person may accept it as it is. */
  result: textOf(RESULT_BYTES).optional(),
  /** The command of the hook that judged, if there was one. */
  gate: z.string().max(8_192).optional(),
  /** The gate could not judge; the feedback says why. It counts as no try, and a person is asked at once. */
  unable: z.boolean().optional(),
  /** The model refused, and no gate accepts what is there. A person is asked at once: it would refuse again. */
  refused: z.boolean().optional(),
  ...Seen,
});
export type RejectTaskInput = z.output<typeof RejectTaskInput>;

/** The input of each command about a task. Some commands have more fields, which no face can send (`command.ts`). */
export const TASK_COMMANDS = {
  'task.create': CreateTaskInput,
  'task.update': ChangeTaskInput,
  'task.assign': AssignTaskInput,
  'task.claim': ClaimTaskInput,
  'task.renew': RenewTaskInput,
  'task.release': ReleaseTaskInput,
  'task.complete': CompleteTaskInput,
  'task.reject': RejectTaskInput,
  'task.fail': FailTaskInput,
  'task.reopen': ReopenTaskInput,
  'task.delete': DeleteTaskInput,
  'task.addDependencies': DependenciesInput,
  'task.removeDependencies': DependenciesInput,
} as const;

/** The same, parsed. */
export type TaskCommandData = { [T in keyof typeof TASK_COMMANDS]: z.output<(typeof TASK_COMMANDS)[T]> };
