import { z } from 'zod';
import { Slug, TaskId } from './text.ts';
import { Timestamp } from './time.ts';

/** When a hook runs. */
export const HookType = z.enum(['TeammateIdle', 'TaskCompleted', 'TaskCreated']);
export type HookType = z.infer<typeof HookType>;

/** 0 allows, 1 is an error of the hook itself, 2 rejects with feedback. */
export const HookExitCode = z.union([z.literal(0), z.literal(1), z.literal(2)]);
export type HookExitCode = z.infer<typeof HookExitCode>;

/** Variables that let whoever sets them run code in every program that is started. */
export const RUNS_CODE = /^(NODE_OPTIONS|LD_|DYLD_|BASH_ENV$|ENV$|PYTHONSTARTUP$|GIT_SSH_COMMAND$)/;

/** The name of a variable that a hook may ask for. */
export const HookVariable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
  .refine((name) => !RUNS_CODE.test(name), 'would run code in every program that the hook starts');

/** A hook as it is registered. */
export const HookConfig = z.strictObject({
  type: HookType.describe(
    'when it runs: before a task completes, when a teammate has nothing left, when a task is made',
  ),
  /** A shell command, run as it stands; what it is about reaches it as JSON on standard input, never as words of it. */
  command: z.string().min(1).max(8_192).describe('the command'),
  /** `node`: the command is the path of a module whose default export is the hook. */
  executor: z.enum(['shell', 'node']).default('shell').describe('shell, or node for a module'),
  cwd: z.string().max(4_096).optional().describe('the directory it runs in'),
  /** Variables of ours that it may see besides the few that programs need; by name, so that no value is kept. */
  env: z.array(HookVariable).max(32).optional().describe('names of variables that it may see'),
  /** For a hook from a checkout: the content that a person approved. Changed content does not run. */
  approved: z.string().max(128).optional().describe('the hash of the content that was approved'),
  /** Milliseconds until it is killed. */
  timeout: z.number().int().min(1).max(3_600_000).default(120_000),
  enabled: z.boolean().default(true).describe('whether it runs'),
  /** What anything but 0 and 2 means: go on, or send the work back. Gates should block. */
  onFailure: z.enum(['allow', 'block']).default('allow').describe('what a hook that fails means: allow or block'),
});
export type HookConfig = z.output<typeof HookConfig>;

/** What came of running a hook. */
export const HookResult = z.object({
  exitCode: HookExitCode,
  stdout: z.string(),
  stderr: z.string(),
  /** Milliseconds. */
  duration: z.number(),
  timedOut: z.boolean(),
  /** What its program ended with; none of one that a signal ended. */
  code: z.number().int().optional(),
  /** Why it could not judge at all, and what mends that: nothing that the work it was to judge could change. */
  unable: z.string().optional(),
  /** The command that answered; none of a function. */
  command: z.string().optional(),
});
export type HookResult = z.output<typeof HookResult>;

/** Of each output so many characters come back to who did the work: both together are a text that a task may carry. */
const FEEDBACK_LENGTH = 10_000;

/**
 * What a hook said, in words: what stands on standard error, then standard output. Some tools report on one, some on the
 * other, and `make` or npm add a line of their own to the first; at the end of each stands what went wrong.
 */
export function feedbackOf({ stderr, stdout }: Pick<HookResult, 'stderr' | 'stdout'>): string {
  return [stderr, stdout].map(endOf).filter(Boolean).join('\n\n');
}

function endOf(output: string): string {
  const text = output.trim();
  if (text.length <= FEEDBACK_LENGTH) return text;
  // Half of a character that takes two is none.
  return `…${text.slice(-FEEDBACK_LENGTH).replace(/^[\uDC00-\uDFFF]/, '')}`;
}

/** What a TeammateIdle hook is told. */
export const TeammateIdleHookContext = z.object({
  teamId: Slug,
  memberId: Slug,
  memberName: Slug,
  completedTaskIds: z.array(TaskId),
  remainingTasks: z.number().int(),
  idleSince: Timestamp,
});
export type TeammateIdleHookContext = z.output<typeof TeammateIdleHookContext>;

/** What a TaskCompleted hook is told. */
export const TaskCompletedHookContext = z.object({
  teamId: Slug,
  taskId: TaskId,
  taskTitle: z.string(),
  completedBy: z.string(),
  memberName: z.string(),
  /** Milliseconds since the task was claimed. */
  duration: z.number(),
  dependentTaskIds: z.array(TaskId),
});
export type TaskCompletedHookContext = z.output<typeof TaskCompletedHookContext>;

/** What a TaskCreated hook is told. */
export const TaskCreatedHookContext = z.object({
  teamId: Slug,
  taskId: TaskId,
  taskTitle: z.string(),
  createdBy: z.string(),
});
export type TaskCreatedHookContext = z.output<typeof TaskCreatedHookContext>;
