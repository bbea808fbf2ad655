import { z } from 'zod';
import { describeLimit, showTime } from './account-words.ts';
import { whyBlocked } from './blocked.ts';
import { showAmount } from './budget-words.ts';
import { InnerReport } from './inner-report.ts';
import { TeamParent } from './inner.ts';
import { isVacant } from './person.ts';
import { answeredRemarks, troubleRemarks } from './report-answers.ts';
import { Remark, TEXT_LENGTH } from './report-remark.ts';
import { answererOf } from './request.ts';
import { isExpected } from './state.ts';
import type { MemberRecord, TaskRecord, TeamState } from './state.ts';
import { pendingRequests } from './tables.ts';
import { shorten } from './text.ts';
import { Timestamp } from './time.ts';
import type { AccountCause } from './trouble.ts';
import { addUsage, NO_USAGE, Usage } from './usage.ts';
import { requireTeam, viewTask } from './view.ts';
import { workedOn } from './work-time.ts';

const DoneTask = z.object({
  id: z.string(),
  title: z.string(),
  by: z.string().optional(),
  /** How long its holder worked on it, without waits for answers. Milliseconds. */
  worked: z.number().optional(),
  result: z.string().optional(),
  /** Its work is on the branch of the team. */
  landed: z.boolean(),
  /** The commit of the branch that has it. */
  commit: z.string().optional(),
  usage: Usage.optional(),
});

const ReportedMember = z.object({
  id: z.string(),
  role: z.string(),
  completed: z.number().int(),
  failed: z.number().int(),
  usage: Usage,
});

/** What a team did: the tasks, the members, the cost, what waits, what went wrong, what landed. */
export const TeamReport = z.object({
  team: z.string(),
  description: z.string(),
  status: z.string(),
  createdAt: Timestamp,
  /** When its last task ended, completed or failed. */
  endedAt: Timestamp.optional(),
  closedAt: Timestamp.optional(),
  /** The task of another team that it works on: its work goes into that. */
  parent: TeamParent.optional(),
  tasks: z.object({ completed: z.number().int(), failed: z.number().int(), open: z.number().int() }),
  done: z.array(DoneTask),
  members: z.array(ReportedMember),
  usage: Usage,
  waits: z.array(Remark),
  wrong: z.array(Remark),
  /** What the user answered, without answers about trouble: these are in `wrong`. */
  answered: z.array(Remark).default([]),
  /** Work that was sent back, and accepted after another try: the gates did their job. */
  improved: z.array(Remark).default([]),
  /** The branch that holds the work, and the tasks whose work is on it. */
  landed: z.object({ branch: z.string(), base: z.string(), tip: z.string(), tasks: z.array(z.string()) }).optional(),
  /** The last answer of a lead that is an agent. */
  answer: z.string().optional(),
  /** What the teams inside its members did, each after the one around it. */
  inner: z.array(InnerReport).default([]),
});
export type TeamReport = z.output<typeof TeamReport>;

/** The report of a team, from its state and what the teams inside its members did. */
export function reportOf(state: TeamState, now: number, inner: InnerReport[] = []): TeamReport {
  const team = requireTeam(state);
  const { id, description, status, createdAt, closedAt, leadId, work, parent } = team;
  const tasks = [...state.tasks.values()].filter((task) => task.status !== 'deleted');
  const members = [...state.members.values()];
  const lead = members.find((member) => member.id === leadId && member.agent !== undefined);
  const endedAt = Math.max(0, ...tasks.map(({ completedAt }) => completedAt?.getTime() ?? 0));
  const landed = tasks.filter((task) => task.work?.state === 'landed').map((task) => task.id);
  const { completed, failed, pending, in_progress: inProgress } = state.index.counts;
  return {
    team: id,
    description,
    status,
    createdAt,
    ...(endedAt > 0 && { endedAt: new Date(endedAt) }),
    ...(closedAt && { closedAt }),
    ...(parent && { parent }),
    tasks: { completed, failed, open: pending + inProgress },
    done: tasks.filter((task) => task.status === 'completed').map((task) => doneTask(state, task, now)),
    members: members.filter((member) => !isVacant(member)).map((member) => reportMember(state, member, tasks)),
    usage: [...state.memberUsage.values()].reduce(addUsage, NO_USAGE),
    waits: [...requestRemarks(state), ...limitRemarks(state), ...openRemarks(state, tasks)],
    improved: tasks.filter(({ status }) => status === 'completed').flatMap(sentBackRemarks),
    wrong: [...taskRemarks(tasks), ...memberRemarks(members), ...freedRemarks(state), ...troubleRemarks(state)],
    answered: answeredRemarks(state),
    ...(work && { landed: { branch: work.branch, base: work.base, tip: work.tip, tasks: landed } }),
    ...(lead?.lastResult !== undefined && { answer: lead.lastResult }),
    inner,
  };
}

function doneTask(state: TeamState, task: TaskRecord, now: number): z.output<typeof DoneTask> {
  const { id, title, assigneeId: by, startedAt, completedAt, result, work } = task;
  const usage = state.taskUsage.get(id);
  return {
    id,
    title,
    ...(by !== undefined && { by }),
    ...(startedAt && completedAt && { worked: workedOn(viewTask(state, task), state.requests.values(), now) }),
    ...(result !== undefined && { result: shorten(result, TEXT_LENGTH) }),
    landed: work?.state === 'landed',
    ...(work?.state === 'landed' && work.merged !== undefined && { commit: work.merged }),
    ...(usage && { usage }),
  };
}

function reportMember(state: TeamState, { id, role }: MemberRecord, tasks: readonly TaskRecord[]) {
  const own = tasks.filter((task) => task.assigneeId === id);
  return {
    id,
    role,
    completed: own.filter(({ status }) => status === 'completed').length,
    failed: own.filter(({ status }) => status === 'failed').length,
    usage: state.memberUsage.get(id) ?? NO_USAGE,
  };
}

/** What waits for a person or a lead. A shutdown waits for its member. */
function requestRemarks(state: TeamState): Remark[] {
  return pendingRequests(state)
    .filter(({ kind }) => answererOf(kind) !== 'member')
    .map(({ id, kind, memberId, taskId, content }) => ({
      what: 'request',
      kind,
      requestId: id,
      memberId,
      ...(taskId !== undefined && { taskId }),
      text: shorten(content, TEXT_LENGTH),
    }));
}

function openRemarks(state: TeamState, tasks: readonly TaskRecord[]): Remark[] {
  return tasks
    .filter(({ status }) => status === 'pending' || status === 'in_progress')
    .map((task) => {
      const view = viewTask(state, task);
      const why = view.status === 'blocked' ? whyBlocked(view, (ids) => `waits for ${ids.join(', ')}`) : '';
      return {
        what: view.status === 'blocked' ? 'blocked' : 'open',
        taskId: task.id,
        ...(task.assigneeId !== undefined && { memberId: task.assigneeId }),
        text: why === '' ? task.title : `${task.title} (${why})`,
      };
    });
}

/** The accounts whose members wait now. About a login a person is asked. */
function limitRemarks({ accounts, members }: TeamState): Remark[] {
  const used = new Set([...members.values()].filter(isExpected).map(({ account }) => account));
  return [...accounts.values()].flatMap(({ id, limit }): Remark[] =>
    limit && limit.cause !== 'unauthorised' && used.has(id)
      ? [{ what: 'limited', text: `the account is ${describeLimit(limit, id)}: ${shorten(limit.reason, TEXT_LENGTH)}` }]
      : [],
  );
}

/** A shorter time without an account is not worth a line. */
const WORTH_MS = 60_000;

/** Every limit that was reached and is over. */
function freedRemarks({ accounts }: TeamState): Remark[] {
  const all = [...accounts.values()].flatMap(({ id, past = [] }) => past.map((limit) => ({ id, ...limit })));
  return all
    .filter(({ since, ended }) => ended - since >= WORTH_MS)
    .toSorted((a, b) => a.since - b.since)
    .map(({ id, cause, since, ended, waiting }): Remark => {
      const span = showAmount('minutes', (ended - since) / 60_000);
      const who = waiting === 0 ? 'nobody' : waiting === 1 ? '1 member' : `${waiting} members`;
      const when = `from ${showTime(since, since)} to ${showTime(ended, since)}`;
      return {
        what: 'limited',
        text: `the account ${id} was ${WORDS[cause]} ${when} (could not be used for ${span}); ${who} waited with a turn`,
      };
    });
}

const WORDS: Readonly<Record<AccountCause, string>> = {
  limited: 'limited',
  overloaded: 'overloaded',
  unauthorised: 'not logged in',
};

function taskRemarks(tasks: readonly TaskRecord[]): Remark[] {
  return tasks.flatMap((task): Remark[] => {
    const { id: taskId, title, status, failure, assigneeId } = task;
    const about = { taskId, ...(assigneeId !== undefined && { memberId: assigneeId }) };
    if (status === 'failed') {
      return [{ what: 'failed', ...about, text: `${title}: ${shorten(failure ?? 'no reason given', TEXT_LENGTH)}` }];
    }
    return status === 'completed' ? [] : sentBackRemarks(task);
  });
}

function sentBackRemarks({ id: taskId, title, rejections, feedback, assigneeId }: TaskRecord): Remark[] {
  if (rejections === 0) return [];
  const about = { taskId, ...(assigneeId !== undefined && { memberId: assigneeId }) };
  const why = feedback === undefined ? '' : ` Last: ${shorten(feedback, TEXT_LENGTH)}`;
  return [{ what: 'sent back', ...about, text: `${title}: sent back ${times(rejections)}.${why}` }];
}

function memberRemarks(members: readonly MemberRecord[]): Remark[] {
  return members.flatMap((member): Remark[] => {
    const { id: memberId, restarts = [], interruptions, status, stopReason, returning } = member;
    const remarks: Remark[] = [];
    if (status === 'stopped' && !returning && stopReason?.startsWith('crashed')) {
      remarks.push({ what: 'stopped', memberId, text: shorten(stopReason, TEXT_LENGTH) });
    } else if (restarts.length > 0) {
      remarks.push({ what: 'crashed', memberId, text: `restarted after a crash, ${times(restarts.length)} lately` });
    }
    if (interruptions) {
      const text = `a turn was ended and done again, ${times(interruptions.times)}. Last: ${interruptions.last}`;
      remarks.push({ what: 'interrupted', memberId, text: shorten(text, TEXT_LENGTH) });
    }
    return remarks;
  });
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
