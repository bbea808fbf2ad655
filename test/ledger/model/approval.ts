import type { CommandOf } from '../../../src/core/command.ts';
import { ask, needOpenTeam, refused, unusedId } from './guard.ts';
import type { Attempt, Rules } from './guard.ts';
import {
  joinQueue,
  leaveQueue,
  needApproval,
  needInLanding,
  needTip,
  setWork,
  settled,
  withoutJudged,
} from './landing.ts';
import { fail, needOpenTask, needTask, sendBackOf, touch } from './task.ts';
import { isExpected } from './world.ts';
import type { Request, Task, World } from './world.ts';

/* Approvals in the model: who is asked about work that the gates accepted, and what follows from the answer. */

export const APPROVAL_RULES: Pick<Rules<'work'>, 'work.ask' | 'work.review'> = {
  'work.ask'(world, command, attempt) {
    const { at, commit, landingId, onto, merged, mergedPack: pack } = command;
    const task = needOpenTask(world, command, attempt);
    if (command.by !== '@system') attempt.codes.push('not_allowed');
    if (task) needInLanding(world, task, { commit, landingId }, attempt);
    needTip(world, onto, attempt);
    if (task?.work?.refused && !command.accepted) attempt.codes.push('conflict');
    if (!world.team?.work || (task && !needApproval(world, task))) attempt.codes.push('conflict');
    if (refused(attempt) || !task || !world.team?.work) return;
    leaveQueue(world, task);
    world.team.work.landing = undefined;
    delete world.team.work.ended;
    const judged = { landingId, ...(pack && { pack }) };
    setWork(task, at, { ...(task.work as NonNullable<Task['work']>), state: 'asked', onto, merged, judged });
    attempt.facts.push(`work:asked ${task.id}`);
    const { review } = world.team.work;
    const reviewer = world.members.find(({ id }) => id === review);
    if (review === undefined) return raise(world, task, { at, attempt });
    if (review === task.work?.memberId) {
      return raise(world, task, { at, attempt, why: `${review} does not review its own work.` });
    }
    if (reviewer && isExpected(reviewer)) return raise(world, task, { at, attempt, reviewer: review });
    raise(world, task, { at, attempt, why: `The reviewer ${review} is not there.` });
  },

  'work.review'(world, command, attempt) {
    const { by, at, taskId, commit, approve, summary } = command;
    needOpenTeam(world, attempt);
    const task = needTask(world, taskId, attempt);
    const request = world.requests.find(
      ({ kind, status, taskId: about }) =>
        about === taskId && status === 'pending' && (kind === 'review' || kind === 'work'),
    );
    if (!request || task?.work?.state !== 'asked') attempt.codes.push('conflict');
    else {
      if (!task.work.commit?.startsWith(commit)) attempt.codes.push('stale_revision');
      const isReviewer = request.kind === 'review' && request.memberId === by;
      if (!isReviewer && by !== '@user') attempt.codes.push('not_allowed');
    }
    if (refused(attempt) || !request || !task) return;
    const answer = { at, by, approve, ...(summary !== undefined && { feedback: summary }) };
    Object.assign(request, {
      status: approve ? 'approved' : 'rejected',
      answeredBy: by,
      answeredAt: at,
      feedback: summary,
    });
    if (by === '@user' && !approve) touch(task, at, { rejections: 0, feedback: summary ?? task.feedback });
    attempt.facts.push(`request:answered ${request.id}`);
    followVerdict(world, task, { request, answer }, attempt);
  },
};

/** What follows from an answer about work. */
export function followVerdict(
  world: World,
  task: Task,
  {
    request,
    answer,
  }: { request: Request; answer: Pick<CommandOf<'request.answer'>, 'at' | 'by' | 'approve' | 'feedback'> },
  attempt: Attempt,
): void {
  const { at, by, approve, feedback = '' } = answer;
  const { team } = world;
  const { work } = task;
  if (work?.state !== 'asked' || work.commit !== request.detail?.['commit'] || !team?.work) return;
  const isReview = request.kind === 'review';
  const short = (work.commit ?? '').slice(0, 7);
  if (approve) {
    if (isReview && by !== '@user' && isForPerson(world, task)) {
      const why = `${request.memberId} reviewed it and approves${feedback ? `: ${feedback}` : '.'}`;
      return raise(world, task, { at, attempt, why });
    }
    const { onto = '', merged = '', result } = work;
    if (team.work.tip !== onto) {
      setWork(task, at, { ...withoutJudged(work), state: 'submitted', approved: work.commit });
      leaveQueue(world, task);
      joinQueue(world, task);
      attempt.facts.push(`work:approved ${task.id}`);
      return;
    }
    leaveQueue(world, task);
    setWork(task, at, { ...settled(task), state: 'landed', onto, merged });
    Object.assign(team.work, { tip: merged, landing: undefined });
    delete team.work.ended;
    attempt.facts.push(`work:landed ${task.id}`);
    touch(task, at, { status: 'completed', result, completedAt: at });
    attempt.facts.push(`task:completed ${task.id}`);
    return;
  }
  if (by !== '@system') {
    const who = by === '@user' ? 'A person' : by;
    const said = `${who} reviewed commit ${short} and sends it back.\n${feedback}`.trim();
    const judge = by === '@user' ? by : '@system';
    return sendBackOf(
      world,
      task,
      { at, by: judge, feedback: said, result: work.result, mayAsk: by !== '@user' },
      attempt,
    );
  }
  if (isReview) {
    return raise(world, task, { at, attempt, why: `The reviewer ${request.memberId} did not answer in time.` });
  }
  leaveQueue(world, task);
  setWork(task, at, { ...settled(task), state: 'begun', withdrawn: 'the task failed' });
  attempt.facts.push(`work:withdrawn ${task.id}`);
  fail(world, task, { at, reason: `${request.content}\nNobody looked at it in time.` }, attempt);
}

/** A person decides in the place of a reviewer that stopped. */
export function replaceReviewer(world: World, reviewer: string, at: number, attempt: Attempt): void {
  const questions = world.requests.filter(
    ({ kind, status, memberId }) => kind === 'review' && status === 'pending' && memberId === reviewer,
  );
  for (const { taskId } of questions) {
    const task = world.tasks.find(({ id }) => id === taskId);
    if (task) raise(world, task, { at, attempt, why: `The reviewer ${reviewer} stopped before it answered.` });
  }
}

function isForPerson({ team }: World, { work }: Task): boolean {
  const { approve = 'never' } = team?.work ?? {};
  const { files = 0, paths = [] } = work ?? {};
  if (typeof approve === 'string') return approve === 'always';
  return files > paths.length || paths.some((path) => path.startsWith('b/'));
}

interface Asking {
  readonly at: number;
  readonly attempt: Attempt;
  readonly why?: string;
  readonly reviewer?: string;
}

function raise(world: World, task: Task, { at, attempt, why, reviewer }: Asking): void {
  const { id: taskId, epoch, title, work } = task;
  const { commit = '', files = 0, added = 0, removed = 0, memberId: holder = '', result } = work ?? {};
  const kind = reviewer === undefined ? 'work' : 'review';
  const memberId = reviewer ?? holder;
  const id = unusedId(world, at, (tick) => `${kind}-${tick}-${taskId}@${memberId}`);
  const what =
    `${holder} handed in task #${taskId} (${JSON.stringify(title)}): ${files} ${files === 1 ? 'file' : 'files'}, ` +
    `+${added} -${removed}, commit ${commit.slice(0, 7)}. The gates accept it.${result ? `\nIts result: ${result}` : ''}`;
  const content = `${what}${why === undefined ? '' : `\n${why}`}\nYes lands it. No sends it back to ${holder}, with your comments.`;
  const deadline = at + (kind === 'work' ? 24 : 1) * 3_600_000;
  const detail = { epoch, commit, holder, files, added, removed };
  ask(world, { id, kind, memberId, content, taskId, deadline, detail }, { at, by: '@system' });
  attempt.facts.push(`request:raised ${id}`);
  if (reviewer === undefined) return;
  const letter = `${id}/${reviewer}`;
  world.messages.push({
    id: letter,
    fromId: '@system',
    toId: reviewer,
    type: 'system',
    content:
      `${what}\nPlease review it before it lands. WorkDiff with of "${taskId}" shows it (or: troupe diff ${taskId}). ` +
      `Answer with WorkReview: taskId "${taskId}", commit "${commit}", approve true or false, and comments on lines ` +
      `(or: troupe work review ${taskId} ${commit.slice(0, 7)} --approve). Without an answer in an hour, a person is asked.`,
    priority: 'normal',
    sentAt: at,
    redeliveries: 0,
    metadata: { taskId },
  });
  attempt.facts.push(`message:sent ${letter}`);
}
