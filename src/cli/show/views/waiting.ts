import { showGrant } from '../../../core/budget-words.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { paint } from '../screen.ts';
import type { Screen } from '../screen.ts';
import { clean, fold, visibleLines } from '../text.ts';
import { showRemaining, showTime } from '../time.ts';
import { toType } from '../to-type.ts';
import { wholeText } from '../whole-text.ts';
import { answerName, taskName } from '../words.ts';

type Request = ResultOf<'request.list'>[number] & { readonly path?: string | undefined };

type Answered = Request & Pick<ResultOf<'request.answer'>, 'unsaved'>;

interface Meaning {
  readonly yes: string;
  readonly no: string;
  readonly unanswered: string;
}

const FAILS = 'Without an answer the task fails';
const DENIED = "If you don't answer, it is denied";

/** What each answer is for, and what follows without one, by the kind of request. Shutdown requests are answered by the member that should stop. */
const MEANINGS: Readonly<Record<Exclude<Request['kind'], 'shutdown'>, Meaning>> = {
  permission: { yes: 'To allow it', no: 'To deny it', unanswered: DENIED },
  plan: { yes: 'To approve the plan', no: 'To reject the plan', unanswered: DENIED },
  gate: { yes: 'To accept the work', no: 'To send the task back', unanswered: FAILS },
  budget: { yes: 'To allow more', no: 'To keep the limit', unanswered: DENIED },
  restart: { yes: 'To restart the member', no: 'To leave it stopped', unanswered: DENIED },
  hang: {
    yes: 'To end its turn, which is then done again',
    no: 'To let it go on',
    unanswered: 'Without an answer its turn goes on, and you are asked again',
  },
  account: {
    yes: 'To use the account again now',
    no: 'To wait',
    unanswered: 'Without an answer, the question is closed',
  },
  work: { yes: 'To let it land', no: 'To send it back', unanswered: FAILS },
  review: {
    yes: 'To let it land',
    no: 'To send it back',
    unanswered: 'The reviewer is asked. Without its answer, you are',
  },
  question: {
    yes: 'To answer',
    no: 'To leave it to the member',
    unanswered: "If you don't answer, the member goes on as it thinks best",
  },
};

/** What a yes is for. Of a budget: how much it gives. */
export function meaningOfYes({ kind, detail }: Pick<Request, 'kind' | 'detail'>): string {
  if (kind === 'shutdown') return 'To let the member stop';
  const grant = kind === 'budget' ? showGrant(detail) : undefined;
  return grant === undefined ? MEANINGS[kind].yes : `To allow ${grant}`;
}

/** What a no is for. */
export function meaningOfNo(request: Pick<Request, 'kind' | 'detail'>): string {
  if (request.kind === 'shutdown') return 'To let the member go on';
  return isTaskBudget(request) ? 'To end the task' : MEANINGS[request.kind].no;
}

/** The requests that wait for a person: the member, the whole question, and the command that answers it. */
export function waitingBlocks(waiting: readonly Request[], screen: Screen, teamId?: string): string {
  const flag = teamId === undefined ? '' : ` --team ${clean(teamId)}`;
  return waiting
    .map((request) => {
      const command = `troupe approve ${clean(answerName(request, waiting))}${flag}`;
      return `${headOf(request, screen)}${wholeText(request.content, screen)}${detailsOf(request, screen)}${deadlineOf(request, screen)}${answersTo(request, command, screen)}`;
    })
    .join('\n');
}

function headOf({ kind, memberId, path = memberId, teamId, taskId, requestedAt }: Request, screen: Screen): string {
  const about = [
    `team ${clean(teamId)}`,
    ...(taskId === undefined ? [] : [`task ${taskName(clean(taskId))}`]),
    showTime(requestedAt, screen),
  ];
  const head = `${paint(screen, 'bold', `${kind} of ${clean(path)}`)} (${about.join(', ')})`;
  return `${fold(head, screen, 2)}\n`;
}

/** What the question leaves out: paths, texts, the result to accept. An agent's title alone may call anything harmless. */
function detailsOf({ kind, content, detail = {}, filePath }: Request, screen: Screen): string {
  // A question about a budget says all in words.
  if (kind === 'budget') return '';
  const shown = new Set(content.split('\n').flatMap((line) => [line, line.replace(/^[^:]*: /, '')]));
  const { tool: _inContent, input, ...rest } = detail as Readonly<Record<string, unknown>>;
  const fields = [
    ...(filePath === undefined ? [] : [['file', filePath] as const]),
    ...fieldsOf(input),
    ...Object.entries(rest).filter(([, value]) => typeof value === 'string'),
  ].map(([name, value]) => ({
    name,
    text: typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''),
  }));
  return fields
    .filter(({ text }) => text !== '' && text !== content && !shown.has(text))
    .map(({ name, text }) => {
      const [label] = visibleLines(name);
      return text.includes('\n')
        ? `  ${label}:\n${wholeText(text, screen, '    ')}`
        : wholeText(`${label}: ${text}`, screen);
    })
    .join('');
}

/** The parts of a call's input; as it is, if it was too long to be kept whole. */
function fieldsOf(input: unknown): [name: string, value: unknown][] {
  if (typeof input !== 'string') return input === undefined ? [] : [['input', input]];
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === 'object' && value !== null ? Object.entries(value) : [['input', value]];
  } catch {
    return [['input', input]];
  }
}

function deadlineOf(request: Request, screen: Screen): string {
  const { deadline, kind, question } = request;
  if (deadline === undefined) return '';
  const left = Date.parse(deadline) - screen.now;
  const unanswered = kind === 'shutdown' ? DENIED : MEANINGS[isTaskBudget(request) ? 'gate' : kind].unanswered;
  const what = withoutAnswer(question) ?? unanswered;
  return `${fold(`  ${what} ${left > 0 ? `in ${showRemaining(left)}` : 'now'}.`, screen)}\n`;
}

function withoutAnswer(question: Request['question']): string | undefined {
  if (question?.fallback !== undefined) return `If you don't answer, "${clean(question.fallback)}" counts`;
  return question?.otherwise === 'fail' ? FAILS : undefined;
}

function answersTo(request: Request, command: string, screen: Screen): string {
  const { kind, taskId = '', teamId } = request;
  if (kind === 'shutdown') return '';
  const isWork = kind === 'work' || kind === 'review';
  const no = meaningOfNo(request);
  if (request.question) return answersToQuestion(request, command, screen);
  const answers = [
    { what: meaningOfYes(request), type: command },
    { what: no, type: `${command} --deny --feedback "why"${isWork ? ' --comment "FILE:LINE: text"' : ''}` },
    ...(isWork ? [{ what: 'To look at it', type: `troupe diff ${clean(taskId)} --team ${clean(teamId)}` }] : []),
    ...(kind === 'gate' ? [{ what: 'To run the gate again', type: `${command} --again` }] : []),
  ];
  return answers.map(({ what, type }) => toType(what, type, screen, '  ')).join('');
}

/** The choices of a question, each with its number, and the commands that answer it. */
function answersToQuestion({ kind, question }: Request, approve: string, screen: Screen): string {
  const { choices = [], freeText = true } = question ?? {};
  const command = approve.replace('troupe approve', 'troupe answer');
  const numbered = choices.map((choice, i) => `${fold(`  ${i + 1}. ${clean(choice)}`, screen, 5)}\n`);
  const answers = [
    ...(choices.length > 0 ? [{ what: 'To choose', type: `${command} 1` }] : []),
    ...(freeText ? [{ what: MEANINGS.question.yes, type: `${command} "your answer"` }] : []),
    ...(kind === 'question' ? [{ what: MEANINGS.question.no, type: `${approve} --deny` }] : []),
  ];
  return [...numbered, ...answers.map(({ what, type }) => toType(what, type, screen, '  '))].join('');
}

/** A question and its answer, for the member that asked or a script. */
export function describeAsked({ id, status, choice, feedback, question }: Request): string {
  if (status === 'pending') return `The question waits for an answer (request ${clean(id)}).`;
  if (status === 'withdrawn') return 'The question is withdrawn.';
  const said = [choice, feedback].filter((text) => text !== undefined && text !== '').map((text) => clean(text ?? ''));
  if (status === 'approved') return said.join('\n');
  const next = question?.otherwise === 'fail' ? 'The task fails.' : 'Go on as you think best.';
  return `Nobody answered. ${choice === undefined ? next : `The default counts: ${clean(choice)}`}`;
}

/** The outcome of running a gate again. */
export function describeJudged(request: Request): string {
  return `The gate let it pass: ${workOf(request)} is completed.`;
}

function workOf({ memberId, taskId }: Request): string {
  return taskId === undefined
    ? `the work of ${clean(memberId)}`
    : `task ${taskName(clean(taskId))} of ${clean(memberId)}`;
}

function budgetOwner({ detail, taskId = '' }: Request, memberId: string): string {
  if (detail?.['of'] === 'task') return `Task ${taskName(clean(taskId))}`;
  return detail?.['of'] === 'team' ? 'The team' : memberId;
}

/** Without more, the task ends. */
function isTaskBudget({ kind, detail }: Pick<Request, 'kind' | 'detail'>): boolean {
  return kind === 'budget' && detail?.['of'] === 'task';
}

function describeNoMore(request: Request): string {
  const { taskId = '', teamId } = request;
  if (isTaskBudget(request)) {
    return `Task ${taskName(clean(taskId))} has failed; its work is kept. To do it again: troupe task reopen ${clean(taskId)} --team ${clean(teamId)}.`;
  }
  return 'No new turn starts. To continue later, raise the budget in the team file and run troupe up.';
}

/** What no save had of accepted work, so that it did not land. */
export function describeUnsaved({ unsaved = [], memberId }: Answered): string {
  if (unsaved.length === 0) return '';
  const lines = unsaved.map((one) => `\n- ${clean(one)}`);
  return `\nThis did not land, because no save has it. It is in the workspace of ${clean(memberId)}:${lines.join('')}`;
}

/** The outcome of an answer. A stopped member gets it later. */
export function describeAnswer(request: Answered, { isStopped = false } = {}): string {
  const { kind, memberId, status } = request;
  const [who, isYes] = [clean(memberId), status === 'approved'];
  const work = workOf(request);
  const task = `${work.slice(0, 1).toUpperCase()}${work.slice(1)}`;
  switch (kind) {
    case 'gate':
      return isYes ? `${task} counts as completed.${describeUnsaved(request)}` : `${task} goes back to be done again.`;
    case 'work':
    case 'review':
      return isYes ? `${task} is approved.` : `${task} goes back, with what you said.`;
    case 'plan':
      return isYes
        ? `The plan of ${who} is approved: the work begins.`
        : `The plan of ${who} is rejected; ${who} makes another.`;
    case 'permission':
      return isYes ? `${who} may do it.` : `${who} may not do it, and has been told.`;
    case 'budget':
      return isYes
        ? `${budgetOwner(request, who)} may use ${showGrant(request.detail, request.grants) ?? 'as much again'}.`
        : describeNoMore(request);
    case 'hang':
      return isYes
        ? `The turn of ${who} is ended and done again, if it is still silent.`
        : `The turn of ${who} goes on.`;
    case 'account':
      if (request.choice !== undefined) return describeChoice(request.choice);
      return isYes ? 'Members use the account again.' : 'Its members wait until it can be used again.';
    case 'restart':
      return isYes ? `${who} is started again.` : `${who} stays stopped.`;
    case 'question':
      if (isYes && isStopped) return `${who} is stopped. It gets your answer when it goes on.`;
      return isYes ? `${who} has your answer.` : `${who} goes on without your answer.`;
    case 'shutdown':
      return isYes ? `${who} stops.` : `${who} goes on.`;
  }
}

/** What follows from an answer about the limit of an account. */
function describeChoice(choice: string): string {
  if (choice === 'stop') return 'The members that waited for this account are stopped.';
  return choice === 'wait'
    ? 'The members wait until the limit is over.'
    : `The members go on: ${clean(choice)}. They are back at their next task after the reset.`;
}
