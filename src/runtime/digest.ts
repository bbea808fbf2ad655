import { wrapText } from '../core/envelope.ts';
import type { TeamEvent } from '../core/event.ts';
import { isAnsweredBy } from '../core/request.ts';
import type { TeamRequest } from '../core/request.ts';
import { isTrouble, situationOf } from '../core/situation.ts';
import type { TeamState } from '../core/state.ts';
import { pendingRequests } from '../core/tables.ts';
import { joinSome, shorten } from '../core/text.ts';
import { requireTeam, viewTask } from '../core/view.ts';
import type { Stored } from '../journal/journal.ts';

/** One summary of a team for its lead. */
export interface Digest {
  /** The last batch in the digest: ask for the next digest after it. */
  readonly seq: number;
  /** For the lead to read; empty if nothing worth telling happened. */
  readonly text: string;
  /** Nothing is open any more, or what is open cannot go on by itself. */
  readonly settled: boolean;
  /** Worth waking the lead for: the work is settled, a task failed, or a plan waits for approval. */
  readonly due: boolean;
}

/** How much of each result, in characters; the lead can look up the rest. */
const RESULT_LENGTH = 200;

/** How much of a plan that the lead must judge, in characters. */
const PLAN_LENGTH = 8_000;

/** How much of why work was sent back; its holder knows the rest. */
const WHY_LENGTH = 120;

/** Ended tasks listed one by one; beyond that, only their number. */
const ENDS = 20;

/** Open tasks listed one by one for a new lead. */
const OPEN_TASKS = 50;

/** How many batches a digest reads, in 20 ms. For a lead further behind it says more about the present state. */
export const BATCHES_TOLD = 2_000;

/** The input of a digest. */
export interface Happened {
  /** The last batch added. */
  seq: number;
  /** Adds one batch. */
  add(batch: Stored): void;
  readonly ended: ReadonlySet<string>;
  /** Submitted plans. */
  readonly submitted: ReadonlySet<string>;
  /** Tasks whose work landed. */
  readonly landed: ReadonlySet<string>;
  /** Why work was sent back, by task: what a gate said, or the files that conflict. */
  readonly sentBack: ReadonlyMap<string, string>;
  /** Members' last words before they went idle. */
  readonly said: ReadonlyMap<string, string>;
  /** A member went idle or stopped. */
  hasChanged: boolean;
  hasFailed: boolean;
}

/** Collects the events after a batch. Keeps only what a digest tells; skips the lead's own actions. */
export function gather(after: number, leadId: string): Happened {
  const ended = new Set<string>();
  const submitted = new Set<string>();
  const landed = new Set<string>();
  const sentBack = new Map<string, string>();
  const said = new Map<string, string>();
  const happened: Happened = {
    seq: after,
    ended,
    submitted,
    landed,
    sentBack,
    said,
    hasChanged: false,
    hasFailed: false,
    add({ seq, events }) {
      happened.seq = seq;
      for (const event of events) if (event.by !== leadId) take(event);
    },
  };
  return happened;

  function take(event: TeamEvent): void {
    if (event.type === 'task:completed' || event.type === 'task:failed') ended.add(event.taskId);
    if (event.type === 'task:failed') happened.hasFailed = true;
    if (event.type === 'work:landed') landed.add(event.taskId);
    if (event.type === 'task:rejected') sentBack.set(event.taskId, event.feedback);
    if (event.type === 'work:conflicted') sentBack.set(event.taskId, `conflicts in ${joinSome(event.files, ', ')}`);
    if (event.type === 'plan:submitted') submitted.add(event.requestId);
    if (event.type === 'teammate:idle' || event.type === 'teammate:stopped') happened.hasChanged = true;
    if (event.type === 'teammate:idle' && event.result) said.set(event.memberId, briefly(event.result));
  }
}

/**
 * The events after a batch in a few lines: ended tasks and their results, idle members, pending answers, and what is
 * left. One digest replaces a message per completion and per idle notice.
 */
export function makeDigest(state: TeamState, happened: Happened): Digest {
  const { seq, ended, submitted, said, hasChanged, hasFailed } = happened;
  // A plan that was already told is not repeated in every digest.
  const plans = pendingPlans(state).filter(({ id }) => submitted.has(id));
  const settled = isSettled(state);
  if (ended.size === 0 && plans.length === 0 && !hasChanged) return { seq, text: '', settled, due: false };
  const lines = [
    ...endLines(state, ended),
    ...workLines(state, happened),
    ...answerLines(state, said, ended),
    ...planLines(plans),
    ...troubleLine(state),
    stateLine(state),
    countLine(state),
  ];
  // A team that shuts down needs no more answers: a turn about members that stop would be paid for nothing.
  const ends = state.team?.status === 'shutting-down';
  return { seq, settled, due: !ends && (settled || hasFailed || plans.length > 0), text: lines.join('\n') };
}

/** The whole team, for a new lead. */
export function fullDigest(state: TeamState, seq: number): Digest {
  const { id, description } = requireTeam(state);
  const open = [...state.tasks.values()].filter((task) => task.status === 'pending' || task.status === 'in_progress');
  const lines = open
    .slice(0, OPEN_TASKS)
    .map(
      (task) =>
        `#${task.id} [${viewTask(state, task).status}] ${task.title}${task.assigneeId ? ` (${task.assigneeId})` : ''}`,
    );
  const { completed, failed } = state.index.counts;
  const text = [
    `Team ${id}${description ? `: ${description}` : ''}.`,
    ...troubleLine(state),
    stateLine(state),
    `Open tasks (${open.length}; ${completed} completed, ${failed} failed)${open.length > 0 ? ':' : '.'}`,
    ...lines,
    ...(open.length > lines.length ? [`and ${open.length - lines.length} more`] : []),
    ...planLines(pendingPlans(state)),
  ].join('\n');
  return { seq, text, settled: open.length === 0, due: true };
}

/** Nobody works, and there is nothing to claim. */
function isSettled(state: TeamState): boolean {
  const isAtWork = [...state.members.values()].some(
    ({ id, status }) => (status === 'active' || status === 'spawning') && id !== state.team?.leadId,
  );
  return state.index.counts.in_progress === 0 && !isAtWork;
}

function endLines(state: TeamState, ended: ReadonlySet<string>): string[] {
  const lines = [...ended].slice(0, ENDS).flatMap((id) => {
    const task = state.tasks.get(id);
    if (!task) return [];
    const said = (task.status === 'failed' ? task.failure : task.result) ?? '';
    return `#${id} ${task.status}: ${task.title}${task.assigneeId ? ` (${task.assigneeId})` : ''}${said ? ` — ${briefly(said)}` : ''}`;
  });
  if (ended.size > ENDS) lines.push(`and ${ended.size - ENDS} more`);
  return lines;
}

/** What became of the work that members handed in: one line for each outcome, and only what still holds. */
function workLines({ team, tasks }: TeamState, { landed, sentBack }: Happened): string[] {
  if (!team?.work) return [];
  const { branch, queue = [] } = team.work;
  const stateOf = (id: string) => tasks.get(id)?.work?.state;
  const list = (ids: readonly string[]): string =>
    joinSome(
      ids.map((id) => `#${id}`),
      ', ',
    );
  const line = (title: string, ids: readonly string[]): string[] =>
    ids.length === 0 ? [] : [`${title}: ${list(ids)}.`];
  const isBack = (id: string): boolean => tasks.get(id)?.status === 'in_progress' && stateOf(id) !== 'submitted';
  const back = [...sentBack]
    .filter(([id]) => isBack(id) && tasks.get(id)?.work)
    .map(([id, why]) => `#${id} (${tasks.get(id)?.assigneeId ?? ''}: ${shorten(briefly(why), WHY_LENGTH)})`);
  const beside = [...landed, ...sentBack.keys()].filter(
    (id) => tasks.get(id)?.status === 'completed' && stateOf(id) === 'conflicted',
  );
  return [
    ...line(
      `Landed on ${branch}`,
      [...landed].filter((id) => stateOf(id) === 'landed'),
    ),
    ...(back.length === 0 ? [] : [`Sent back: ${joinSome(back, '; ')}.`]),
    ...line('Completed beside the branch, because it conflicts', beside),
    ...line('Waits to land', queue),
  ];
}

/** Results of members that went idle after something other than a task, such as a message. */
function answerLines(state: TeamState, said: Happened['said'], ended: ReadonlySet<string>): string[] {
  const told = new Set([...ended].map((id) => state.tasks.get(id)?.assigneeId));
  return [...said].flatMap(([memberId, answer]) => (told.has(memberId) ? [] : `${memberId} says: ${answer}`));
}

/** The plans that wait for the lead. Its own waits for a person. */
function pendingPlans(state: TeamState): TeamRequest[] {
  const { leadId } = requireTeam(state);
  return pendingRequests(state).filter(
    (request) => request.kind === 'plan' && isAnsweredBy(request, { memberId: leadId, leadId }),
  );
}

function planLines(plans: readonly TeamRequest[]): string[] {
  const boundary = crypto.randomUUID().slice(0, 8);
  return plans.map(({ id, memberId, content }) => {
    const plan = wrapText(shorten(content, PLAN_LENGTH), boundary, { teammate_id: memberId, type: 'plan' });
    return `${memberId} waits for you to approve or reject its plan (request_id ${id}):\n${plan}`;
  });
}

/** The beginning of a text, in one line. */
function briefly(text: string): string {
  return shorten(text, RESULT_LENGTH).replaceAll(/\s*\n\s*/g, ' ');
}

/** Why the work does not go on by itself, in the words of all faces. */
function troubleLine(state: TeamState): string[] {
  const situation = situationOf(state, Date.now());
  return isTrouble(situation) ? [`${situation.text}.`] : [];
}

function countLine(state: TeamState): string {
  const { pending, in_progress: inProgress, completed, failed } = state.index.counts;
  return `Tasks: ${completed} completed, ${inProgress} in progress, ${pending} to do, ${failed} failed.`;
}

function stateLine(state: TeamState): string {
  const by = (status: string): string[] =>
    [...state.members.values()]
      .filter((member) => member.status === status && member.id !== state.team?.leadId)
      .map((member) => member.id);
  const parts = [
    ['Working', by('active')],
    ['idle', by('idle')],
    // A lead that starts before its teammates must not think that they are missing.
    ['starting', by('spawning')],
    ['stopping', by('shutting-down')],
    ['stopped', by('stopped')],
  ] as const;
  return `${parts.flatMap(([word, names]) => (names.length > 0 ? `${word}: ${names.join(', ')}` : [])).join('; ') || 'No teammates'}.`;
}
