import { z } from 'zod';
import { Budget, Granted } from './budget.ts';
import { Metadata } from './json.ts';
import { DependencyFailurePolicy, SharedTaskPriority } from './task.ts';

/** The data of each event about a task. An event is a fact: it is never refused, so its texts have no limits here. */
export const TASK_EVENT_DATA = {
  'task:created': z.object({
    taskId: z.string(),
    title: z.string(),
    description: z.string(),
    activeForm: z.string().optional(),
    priority: SharedTaskPriority,
    assigneeId: z.string().optional(),
    dependencies: z.array(z.string()),
    files: z.array(z.string()).optional(),
    onDependencyFailure: DependencyFailurePolicy,
    budget: Budget.optional(),
    metadata: Metadata.optional(),
    /** Nobody can claim it before an update clears this. */
    unjudged: z.literal(true).optional(),
  }),
  'task:updated': z.object({
    taskId: z.string(),
    title: z.string().optional(),
    description: z.string().optional(),
    activeForm: z.string().optional(),
    priority: SharedTaskPriority.optional(),
    /** None: it no longer names any. */
    files: z.array(z.string()).optional(),
    onDependencyFailure: DependencyFailurePolicy.optional(),
    /** Without limits: it no longer has a budget. */
    budget: Budget.optional(),
    granted: Granted.optional(),
    metadata: Metadata.optional(),
    unjudged: z.literal(false).optional(),
    /** Why nobody can claim it now; null clears it. */
    withheld: z.string().nullable().optional(),
    /** The team that works on it for its holder. */
    inner: z.object({ teamId: z.string(), memberId: z.string() }).optional(),
  }),
  /** Reserved for a member, or (null) for nobody. `epoch` is new if the task was taken from a holder. */
  'task:assigned': z.object({ taskId: z.string(), assigneeId: z.string().nullable(), epoch: z.number().int() }),
  'task:claimed': z.object({
    taskId: z.string(),
    memberId: z.string(),
    epoch: z.number().int(),
    lease: z.number().int().optional(),
  }),
  /** Its lease begins again. */
  'task:renewed': z.object({ taskId: z.string(), memberId: z.string() }),
  'task:released': z.object({
    taskId: z.string(),
    memberId: z.string(),
    epoch: z.number().int(),
    reason: z.string().optional(),
  }),
  /** A gate sent the work back to its holder; `gate` is the command of its hook, if it has one. */
  'task:rejected': z.object({
    taskId: z.string(),
    memberId: z.string().optional(),
    feedback: z.string(),
    gate: z.string().optional(),
  }),
  'task:completed': z.object({
    taskId: z.string(),
    memberId: z.string().optional(),
    result: z.string().optional(),
  }),
  'task:failed': z.object({ taskId: z.string(), memberId: z.string().optional(), reason: z.string() }),
  'task:reopened': z.object({ taskId: z.string(), epoch: z.number().int(), reason: z.string().optional() }),
  'task:deleted': z.object({ taskId: z.string(), epoch: z.number().int() }),
  /** It no longer waits for anything. Follows from the events before it; members that look for work listen for it. */
  'task:unblocked': z.object({ taskId: z.string() }),
  'task:dependencies-added': z.object({ taskId: z.string(), dependencies: z.array(z.string()) }),
  'task:dependencies-removed': z.object({ taskId: z.string(), dependencies: z.array(z.string()) }),
} as const;
