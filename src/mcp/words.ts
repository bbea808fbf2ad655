import { whyBlocked } from '../core/blocked.ts';
import { TeamError } from '../core/errors.ts';
import { suggestSlug } from '../core/fields.ts';
import type { TeamRequest } from '../core/request.ts';
import type { SharedTask } from '../core/task.ts';

/*
 * Translates between Claude Code's words and ours. Agents are trained on subject, owner and blockedBy; inside, the
 * fields are title, assigneeId and dependencies.
 */

/** Claude Code's name for the lead of any team. */
export const TEAM_LEAD = 'team-lead';

/** A task in Claude Code's words. */
export interface ClaudeTask {
  readonly id: string;
  readonly subject: string;
  readonly status: 'pending' | 'in_progress' | 'completed' | 'failed' | 'deleted';
  readonly owner?: string;
  /** Only those that are still open. */
  readonly blockedBy: readonly string[];
  /** Why nobody can claim it, besides the tasks in `blockedBy`. */
  readonly blockedReason?: string;
}

/** A task in a list. */
export function toListedTask(task: SharedTask): ClaudeTask {
  const blockedReason = whyBlocked(task, () => '');
  return {
    id: task.id,
    subject: task.title,
    // Being blocked shows in `blockedBy` and `blockedReason`; Claude Code has no status for it.
    status: task.status === 'blocked' ? 'pending' : task.status,
    ...(task.assigneeId !== undefined && { owner: task.assigneeId }),
    blockedBy: task.blockedBy,
    ...(blockedReason !== '' && { blockedReason }),
  };
}

/** A task with everything that an agent may want to know about it. */
export function toClaudeTask(task: SharedTask): ClaudeTask & Readonly<Record<string, unknown>> {
  const { description, activeForm, priority, files, blocks, epoch, result, failure, metadata } = task;
  return {
    ...toListedTask(task),
    description,
    ...(activeForm !== undefined && { activeForm }),
    priority,
    ...(files !== undefined && { files }),
    blocks,
    epoch,
    ...(result !== undefined && { result }),
    ...(failure !== undefined && { failure }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** What an agent says about a task, in Claude Code's words. */
export interface TaskWords {
  readonly subject?: string | undefined;
  readonly description?: string | undefined;
  readonly activeForm?: string | undefined;
  readonly owner?: string | null | undefined;
  readonly priority?: string | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly files?: readonly string[] | undefined;
}

/** The same in our words. An empty owner means nobody. */
export function fromTaskWords({ subject, owner, ...same }: TaskWords): Record<string, unknown> {
  const changes = { ...same, title: subject, assigneeId: owner === '' ? null : owner };
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

/** Task ids as agents write them: `"7"`, `7`, `"#7"`. */
export function fromTaskIds(ids: unknown): unknown {
  if (Array.isArray(ids)) return ids.map(fromTaskIds);
  if (typeof ids === 'number') return String(ids);
  return typeof ids === 'string' ? ids.trim().replace(/^#/, '') : ids;
}

/** The type of a request in the protocol that agents know. */
export const REQUEST_TYPE = {
  shutdown: 'shutdown_request',
  plan: 'plan_approval_request',
  gate: 'gate_request',
  permission: 'permission_request',
  budget: 'budget_request',
  restart: 'restart_request',
  hang: 'hang_request',
  account: 'account_request',
  work: 'work_request',
  review: 'review_request',
  question: 'question_request',
} as const satisfies Readonly<Record<TeamRequest['kind'], string>>;

/** The type of the answer to a request. */
export function answerType(kind: TeamRequest['kind']): string {
  return REQUEST_TYPE[kind].replace(/_request$/, '_response');
}

/** Our field names, and the names that agents use. */
const FIELDS: Readonly<Record<string, string>> = {
  title: 'subject',
  assigneeId: 'owner',
  dependencies: 'blockedBy',
  toId: 'to',
  memberId: 'to',
  content: 'message',
};

/** The name that agents use for one of our fields. */
export function toFieldName(name: string): string {
  return Object.hasOwn(FIELDS, name) ? (FIELDS[name] as string) : name;
}

/** The member that a name means: its own name, `name@team`, or `team-lead` for the lead. */
export function fromMemberName(name: string, team: { leadId: string; memberIds: readonly string[] }): string {
  if (team.memberIds.includes(name)) return name;
  const [plain = ''] = name.split('@');
  if (plain === TEAM_LEAD) return team.leadId;
  const known = team.memberIds.find((id) => id === plain || id === plain.toLowerCase());
  return known ?? name;
}

/** Turns a team name as agents write it into a valid one. */
export function fromTeamName(name: string): string {
  if (/[a-z0-9]/i.test(name)) return suggestSlug(name);
  throw new TeamError('invalid', 'team_name: has no letter or digit');
}
