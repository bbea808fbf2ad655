import { z } from 'zod';
import { durationOf } from './duration.ts';
import { Slug, TaskId } from './fields.ts';
import { Sandbox } from './sandbox.ts';
import { Timestamp } from './time.ts';
import { RUNS_CODE } from './variables.ts';

/** When a hook runs. */
export const HookType = z.enum(['TeammateIdle', 'TaskCompleted', 'TaskCreated']);
export type HookType = z.infer<typeof HookType>;

/** 0 allows, 1 means that the hook itself failed, 2 rejects with feedback. */
export const HookExitCode = z.union([z.literal(0), z.literal(1), z.literal(2)]);
export type HookExitCode = z.infer<typeof HookExitCode>;

/** The name of a variable that a hook may request. */
export const HookVariable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
  .refine((name) => !RUNS_CODE.test(name), 'would run code in every program that the hook starts');

/** A registered hook. */
export const HookConfig = z.strictObject({
  type: HookType.describe(
    'when it runs: before a task completes, when a teammate becomes idle, when a task is created',
  ),
  /** A shell command, run as it is. Its context comes as JSON on standard input, never as words of the command. */
  command: z.string().min(1).max(8_192).describe('the command'),
  /** `node`: the command is the path of a module whose default export is the hook. */
  executor: z.enum(['shell', 'node']).default('shell').describe('shell, or node for a module'),
  cwd: z.string().max(4_096).optional().describe('the directory it runs in'),
  /** Variables that it may see besides the few that programs need; by name, so that no value is stored. */
  env: z.array(HookVariable).max(32).optional().describe('names of variables that it may see'),
  /** For a hook from a checkout: the hash of the content that a person approved. Changed content does not run. */
  approved: z.string().max(128).optional().describe('the hash of the content that was approved'),
  /** Milliseconds until it is killed. */
  timeout: durationOf(1, 3_600_000).default(120_000),
  /** It sometimes rejects good work: a rejection counts only if it rejects twice. */
  flaky: z.boolean().optional().describe('ask once more before a rejection counts'),
  enabled: z.boolean().default(true).describe('whether it runs'),
  /** Runs it apart from the rest of the machine: it runs what agents wrote. */
  sandbox: Sandbox.optional().describe('whether it runs in a sandbox, and what is open there'),
  /** What any exit code but 0 and 2 means: allow, or send the work back. Gates should block. */
  onFailure: z.enum(['allow', 'block']).default('allow').describe('whether a failing hook allows or blocks'),
});
export type HookConfig = z.output<typeof HookConfig>;

/** The result of running a hook. */
export const HookResult = z.object({
  exitCode: HookExitCode,
  stdout: z.string(),
  stderr: z.string(),
  /** Milliseconds. */
  duration: z.number(),
  timedOut: z.boolean(),
  /** The exit code of its program; unset if a signal ended it. */
  code: z.number().int().optional(),
  /** Why it could not judge at all, and how to fix that; changing the judged work would not help. */
  unable: z.string().optional(),
  /** The judged work changes what it would run: the hash of that, for a person's approval. */
  unapproved: z.string().optional(),
  /** The command that answered; unset for a function. */
  command: z.string().optional(),
  /** Of several hooks together: at least one judged, and accepted. Unset if there is none, or all of them failed. */
  accepted: z.boolean().optional(),
});
export type HookResult = z.output<typeof HookResult>;

/** How many characters of each output go back as feedback; both together fit into a task. */
const FEEDBACK_LENGTH = 10_000;

/**
 * A hook's feedback: its standard error, then its standard output. Some tools report on one, some on the other, and
 * `make` or npm add a line of their own to the first. The end of each says what went wrong.
 */
export function feedbackOf({ stderr, stdout }: Pick<HookResult, 'stderr' | 'stdout'>): string {
  return [stderr, stdout].map(endOf).filter(Boolean).join('\n\n');
}

function endOf(output: string): string {
  const text = output.trim();
  if (text.length <= FEEDBACK_LENGTH) return text;
  // Don't begin with half a surrogate pair.
  return `…${text.slice(-FEEDBACK_LENGTH).replace(/^[\uDC00-\uDFFF]/, '')}`;
}

/** The input of a TeammateIdle hook. */
export const TeammateIdleHookContext = z.object({
  teamId: Slug,
  memberId: Slug,
  memberName: Slug,
  completedTaskIds: z.array(TaskId),
  remainingTasks: z.number().int(),
  idleSince: Timestamp,
});
export type TeammateIdleHookContext = z.output<typeof TeammateIdleHookContext>;

/** The input of a TaskCompleted hook. */
export const TaskCompletedHookContext = z.object({
  teamId: Slug,
  taskId: TaskId,
  taskTitle: z.string(),
  completedBy: z.string(),
  memberName: z.string(),
  /** Milliseconds since the task was claimed. */
  duration: z.number(),
  dependentTaskIds: z.array(TaskId),
  /** All tasks whose work is judged together, if there are several; `taskId` is the first of them. */
  taskIds: z.array(TaskId).optional(),
});
export type TaskCompletedHookContext = z.output<typeof TaskCompletedHookContext>;

/** The input of a TaskCreated hook. */
export const TaskCreatedHookContext = z.object({
  teamId: Slug,
  taskId: TaskId,
  taskTitle: z.string(),
  createdBy: z.string(),
});
export type TaskCreatedHookContext = z.output<typeof TaskCreatedHookContext>;

/** The data of each event about a hook. */
export const HOOK_EVENT_DATA = {
  'hook:registered': z.object({ hook: HookConfig }),
  'hook:removed': z.object({ hookType: HookType }),
} as const;
