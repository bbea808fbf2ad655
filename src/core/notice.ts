import { z } from 'zod';
import { describeLimit, describeWindow, showTime } from './account-words.ts';
import { ACCOUNT_WARNING } from './account.ts';
import type { AccountWindow } from './account.ts';
import type { EventNoun } from './event.ts';
import { wayInto } from './inner-path.ts';
import { wordRequest } from './request-words.ts';
import { answererOf } from './request.ts';
import type { TeamRequest } from './request.ts';
import { countTasks, lastFailed, requestsToPerson } from './situation.ts';
import { isDown, isExpected } from './state.ts';
import type { MemberRecord, TeamState } from './state.ts';
import { pendingRequests } from './tables.ts';
import { inOneLine, shorten } from './text.ts';
import { silentSince, STANDS_STILL, waitingOf } from './waiting.ts';

/**
 * What people are told about outside of Troupe: a person is needed, a team is done, it failed, a budget is used up, an
 * account reached its limit, or a turn or a process hangs.
 */
export const NoticeKind = z.enum(['person', 'done', 'failed', 'budget', 'limited', 'hung']);
export type NoticeKind = z.infer<typeof NoticeKind>;

/** Something that a person should hear of, once for each version of its subject. */
export const Notice = z.object({
  kind: NoticeKind,
  subject: z.string(),
  version: z.string(),
  /** For people, in one line. */
  text: z.string(),
  requestId: z.string().optional(),
  /** The revision of the request, if a link may answer it. */
  revision: z.string().optional(),
  memberId: z.string().optional(),
  taskId: z.string().optional(),
});
export type Notice = z.output<typeof Notice>;

/** Only events about these can begin or end a notice. */
export const NOTICE_NOUNS: readonly EventNoun[] = [
  'task',
  'work',
  'teammate',
  'team',
  'request',
  'plan',
  'account',
  'message',
];

/** How much of a question is repeated, in characters; the dashboard has the rest. */
const TEXT_LENGTH = 300;

/** How many notices a message lists one by one. */
const LISTED = 10;

/** Everything that a person should hear of now. It follows from the state, so no restart loses it. */
export function noticesOf(state: TeamState): Notice[] {
  if (state.team?.status !== 'active') return [];
  // The team around an inner team tells its end, as that of a task.
  const ends = state.team.parent ? [] : endNotices(state);
  return [...requestNotices(state), ...silenceNotices(state), ...limitNotices(state), ...ends];
}

/** Whether a notice that waits is still worth sending. */
export function stillHolds(notice: Notice, state: TeamState): boolean {
  if (notice.requestId !== undefined) return state.requests.get(notice.requestId)?.status === 'pending';
  if (notice.kind === 'limited') return limitNotices(state).some(({ subject }) => subject === notice.subject);
  if (notice.kind === 'hung') return silenceNotices(state).some(({ version }) => version === notice.version);
  // A team that was done or stuck is often closed right after that.
  if (state.team?.status !== 'active') return true;
  const { pending, in_progress: inProgress } = state.index.counts;
  return inProgress === 0 && (notice.kind === 'failed' || pending === 0) && (!leadOf(state) || !isAnyBusy(state));
}

function requestNotices(state: TeamState): Notice[] {
  return requestsToPerson(state).map((request): Notice => {
    const { id, memberId, taskId, kind, content } = request;
    const who = whoIn(state, memberId);
    const about = taskId === undefined ? who : `${who}, task ${taskId}`;
    return {
      kind: kindOf(kind),
      subject: `request ${id}`,
      version: '',
      text: `${wordRequest(request)} (${about}): ${brief(content)}`,
      requestId: id,
      // Nobody should let work land without its differences, which only the dashboard shows.
      ...(kind !== 'work' && kind !== 'review' && { revision: request.revision }),
      memberId,
      ...(taskId !== undefined && { taskId }),
    };
  });
}

/** A member, with the way to it if its team is inside another. */
function whoIn({ team }: TeamState, memberId: string): string {
  return team?.parent ? `${wayInto(team.parent)} › ${memberId}` : memberId;
}

function kindOf(kind: TeamRequest['kind']): NoticeKind {
  if (kind === 'budget') return 'budget';
  if (kind === 'hang') return 'hung';
  // Troupe no longer restarts the member.
  return kind === 'restart' ? 'failed' : 'person';
}

/** Turns and processes of members that are silent for too long. If a person is asked about it, the request is the notice. */
function silenceNotices(state: TeamState): Notice[] {
  const { members, requests } = state;
  return [...members.values()].flatMap((member): Notice[] => {
    const since = silentSince(member);
    if (since === undefined || !isExpected(member)) return [];
    const { id: memberId } = member;
    for (const { kind, status, memberId: whose } of requests.values()) {
      if (kind === 'hang' && status === 'pending' && whose === memberId) return [];
    }
    const who = whoIn(state, memberId);
    const reason = waitingOf(member) ?? '';
    const text =
      reason === STANDS_STILL
        ? `The process of ${who} gives no sign of life. If that lasts, Troupe restarts it.`
        : `A turn is silent (${who}): ${brief(reason)}`;
    return [{ kind: 'hung', subject: `silence ${memberId}`, version: `${memberId} ${since}`, text, memberId }];
  });
}

function limitNotices({ accounts, members }: TeamState): Notice[] {
  return [...accounts.values()].flatMap(({ id, limit, windows }): Notice[] => {
    if (![...members.values()].some((one) => one.account === id && isExpected(one))) return [];
    if (!limit) return windows.filter(isWarned).map((window) => warningOf(id, window));
    // Overloads pass within minutes, and about a login a person is asked.
    if (limit.cause !== 'limited') return [];
    const text = `Its account is ${describeLimit(limit, id)}: ${brief(limit.reason)}`;
    return [{ kind: 'limited', subject: `account ${id}`, version: String(limit.since), text }];
  });
}

function isWarned({ used }: AccountWindow): boolean {
  return used >= ACCOUNT_WARNING && used < 1;
}

/** A warning has no version. It is sent again only after the use of the window fell far below the limit for warnings. */
function warningOf(account: string, window: AccountWindow): Notice {
  const { name, resetsAt } = window;
  const until = resetsAt === undefined ? '' : `; it begins again at ${showTime(resetsAt, resetsAt)}`;
  const text = `Its account ${account} has used ${describeWindow(window)}${until}.`;
  return { kind: 'limited', subject: `${WARNING}${account} ${name}`, version: '', text };
}

/** Begins the subject of a warning. */
export const WARNING = 'use of ';

/** The team has nothing more to do, or nobody can go on. */
function endNotices(state: TeamState): Notice[] {
  const { completed, failed, pending, in_progress: inProgress } = state.index.counts;
  const lead = leadOf(state);
  const isAsked = pendingRequests(state).some(({ kind }) => answererOf(kind) === 'person');
  const mail = lead && state.index.inboxes.get(lead.id)?.waiting.size;
  // Questions are notices of their own; the team goes on with the answer.
  if (inProgress > 0 || isAsked || mail) return [];
  if (pending + failed === 0) {
    // Without a lead the members need not be idle: nothing is left for them.
    const isDone = lead
      ? lead.status === 'idle' && !hasFailed(lead) && !isAnyBusy(state) && !isLimited(state, lead)
      : completed > 0;
    if (!isDone || (completed === 0 && lead?.lastResult === undefined)) return [];
    const text = completed === 0 ? 'The team is done.' : `The team is done: ${countTasks(completed)} completed.`;
    return [{ kind: 'done', subject: 'end', version: `done ${state.completions}`, text }];
  }
  const isWaiting = [...state.members.values()].some((one) => isExpected(one) && isLimited(state, one));
  const last = isAnyBusy(state) || isDown(state) || isWaiting ? undefined : lastFailed(state);
  if (!last) return [];
  const { id: taskId, title, failure } = last;
  const rest = pending > 0 ? ` ${countTasks(pending)} cannot go on.` : '';
  return [
    {
      kind: 'failed',
      subject: 'end',
      version: `failed ${taskId} ${last.updatedAt.getTime()}`,
      text: `Nobody can go on: ${countTasks(failed)} failed, ${completed} completed.${rest} Task ${taskId}, ${brief(title)}: ${brief(failure ?? 'no reason given')}`,
      taskId,
    },
  ];
}

/** Its account cannot be used now. That of an agent for which another one stands in does not matter. */
function isLimited({ accounts }: TeamState, { account }: MemberRecord): boolean {
  return accounts.get(account ?? '')?.limit !== undefined;
}

/** The lead, if Troupe runs it. */
function leadOf({ team, members }: TeamState): MemberRecord | undefined {
  const lead = team && members.get(team.leadId);
  return lead?.agent === undefined ? undefined : lead;
}

function hasFailed({ metadata }: MemberRecord): boolean {
  return metadata?.['failure'] !== undefined;
}

/** Whether a member that Troupe runs is at work, or comes back to it, or work of one is about to land. */
function isAnyBusy({ members, team }: TeamState): boolean {
  if (team?.work?.queue?.length) return true;
  for (const { agent, status, returning } of members.values()) {
    if (agent !== undefined && (status === 'stopped' ? returning === true : status !== 'idle')) return true;
  }
  return false;
}

function brief(text: string): string {
  return shorten(inOneLine(text), TEXT_LENGTH);
}

/** What is sent: one notice, or several that were collected. */
export const NoticeMessage = z.object({
  team: z.string(),
  title: z.string(),
  text: z.string(),
  /** The page on which to answer, or the page of the team. It holds no credential. */
  link: z.string().optional(),
  notices: z.array(
    Notice.pick({ kind: true, text: true, requestId: true, memberId: true, taskId: true }).extend({
      /** Answers the request, without a login. */
      answer: z.string().optional(),
    }),
  ),
});
export type NoticeMessage = z.output<typeof NoticeMessage>;

/** Makes one message of notices. `dashboard` is the address of the dashboard. */
export function composeNotices(
  team: string,
  notices: readonly Notice[],
  dashboard: string | undefined,
  linkTo: (notice: Notice) => string | undefined = () => undefined,
): NoticeMessage {
  const links = notices.map(linkTo);
  const lines = notices.map(({ text }, at) => (links[at] === undefined ? text : `${text}\nAnswer: ${links[at]}`));
  const more = lines.length - LISTED;
  const text = [...lines.slice(0, LISTED), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
  const page = notices.some(({ requestId }) => requestId !== undefined) ? '/queue' : `/t/${team}`;
  return {
    team,
    title: notices.length === 1 ? `Troupe: team ${team}` : `Troupe: team ${team}, ${notices.length} notices`,
    text,
    ...(dashboard !== undefined && { link: new URL(page, dashboard).href }),
    notices: notices.map(({ subject: _subject, version: _version, revision: _revision, ...notice }, at) => ({
      ...notice,
      ...(links[at] !== undefined && { answer: links[at] }),
    })),
  };
}
