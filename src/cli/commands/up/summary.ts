import { joinSome, shorten } from '../../../core/text.ts';
import { isAtRest } from '../../show/rest.ts';
import { paint } from '../../show/screen.ts';
import type { Screen } from '../../show/screen.ts';
import { table } from '../../show/table.ts';
import type { Cell } from '../../show/table.ts';
import { clean, cleanLines, fold } from '../../show/text.ts';
import { showDuration } from '../../show/time.ts';
import { statusCell } from '../../show/views/task.ts';
import { answerCommand, answerName, askerName, taskName, times } from '../../show/words.ts';
import type { Outcome } from './follow.ts';
import { describeWork } from './workspaces.ts';

/** A table in a pipe has no width, and a result may be one long line. */
const RESULT_LENGTH = 200;

/** Each task with its holder, duration and result; then one sentence. */
export function summarize(outcome: Outcome, screen: Screen, { goesOn }: { goesOn: boolean }): string {
  const rows = outcome.tasks.map((task): Cell[] => [
    taskName(task.id),
    statusCell(task),
    task.title,
    task.assigneeId ?? '',
    took(outcome.worked?.[task.id]),
    { text: shorten(lastLine(task.result ?? task.failure ?? task.blockedReason ?? ''), RESULT_LENGTH), style: 'dim' },
  ]);
  const columns = [
    { title: '#', align: 'right' },
    { title: 'STATUS' },
    { title: 'TASK', flexible: true },
    { title: 'WHO', spare: 1 },
    { title: 'TOOK', align: 'right', spare: 2 },
    { title: 'RESULT', flexible: true },
  ] as const;
  const tasks = rows.length > 0 ? `\n${table(columns, rows, screen)}` : '';
  const answer = outcome.answer ? `\n${cleanLines(outcome.answer).join('\n')}\n` : '';
  const said = [
    ...(outcome.troubles ?? []).map((text) => paint(screen, 'yellow', `${clean(text)}.`)),
    verdict(outcome, screen, goesOn),
    ...describeWork(outcome, screen),
    ...asked(outcome, goesOn).map((text) => paint(screen, 'yellow', text)),
  ];
  return `${tasks}${fold(answer, screen)}\n${said.map((line) => `${fold(line, screen)}\n`).join('')}`;
}

function lastLine(text: string): string {
  return text.split('\n').at(-1) ?? '';
}

/** A failed task is only tried again if a person reopens it. */
function tryAgain(team: string, tasks: Outcome['tasks']): string {
  const failed = tasks.find(({ status }) => status === 'failed');
  if (!failed) return '';
  return ` The team stays open; to try again: troupe task reopen ${failed.id} --team ${clean(team)}, then the same command.`;
}

function took(worked: number | undefined): string {
  return worked === undefined ? '' : lasted(worked);
}

/** Tenths of a second matter only for short times. */
function lasted(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : showDuration(ms);
}

function verdict(outcome: Outcome, screen: Screen, goesOn: boolean): string {
  const { reason, tasks, requests, team, open = false, elsewhere = false } = outcome;
  const next = goesOn ? 'then the same command finishes it' : `then follow it with troupe watch ${clean(team)}`;
  const count = `${countDone(outcome)}.${sentBack(outcome)}`;
  if (reason === 'done') return paint(screen, 'green', `${count}${nothingToDo(outcome)}${staysUp(outcome)}`);
  if (reason === 'interrupted' && elsewhere) {
    return paint(screen, 'yellow', `${count} Stopped watching: the members continue under the other troupe up.`);
  }
  const why = {
    stuck: `${whyStuck(outcome)}${open ? `${startAgain(outcome)}${tryAgain(team, tasks)}` : ' The team is closed.'}`,
    person: `A person is needed: ${joinSome(requests.map(describeRequest), ', ')}. The team stays open: ${howToAnswer(requests, team)}, ${next}.`,
    interrupted: open
      ? `Interrupted: its members are stopped. The same command continues their work; troupe down ${clean(team)} closes the team.`
      : 'Interrupted: its members are stopped and the team is closed.',
  }[reason];
  return paint(screen, 'yellow', `${count} ${why}`);
}

function describeRequest(request: Outcome['requests'][number]): string {
  return `the ${request.kind} of ${clean(askerName(request))}`;
}

/** The command that answers the only request; of several, the one that lists them. */
function howToAnswer(requests: Outcome['requests'], team: string): string {
  const [request, ...others] = requests;
  if (!request || others.length > 0) return `answer what troupe approve --team ${clean(team)} lists`;
  const more = request.question ? ' "…"' : '';
  return `answer with ${answerCommand(request)} ${clean(answerName(request, requests))} --team ${clean(team)}${more}`;
}

/** Counts what is completed, and how much of it in this run. */
function countDone({ tasks, duration, earlier }: Outcome): string {
  const done = tasks.filter(({ status }) => status === 'completed').length;
  const time = `in ${lasted(duration)}`;
  if (tasks.length === 0) return `Ended ${time}`;
  const count = `${done} of ${tasks.length} tasks completed`;
  if (earlier === 0) return `${count} ${time}`;
  if (earlier === tasks.length) return 'All tasks were already completed';
  return done === earlier ? `${count}, none in this run` : `${count}, ${done - earlier} in this run, ${time}`;
}

/** Explains why a team without tasks ended at once, which nobody wanted. */
function nothingToDo({ tasks, answer, open }: Outcome): string {
  if (tasks.length > 0 || answer !== undefined) return '';
  const again = open ? 'troupe up' : 'troupe up --again';
  return ` There was nothing to do: the team has no tasks, and no lead that makes some. Write tasks: or lead: into its file, then ${again}.`;
}

/** With --keep, nobody else closes the team. */
function staysUp({ team, open }: Outcome): string {
  return open ? ` The team stays open until troupe down ${clean(team)}.` : '';
}

/** Counts the tasks that gates sent back, and those that conflicted. */
function sentBack({ sentBack: counts = {}, tasks }: Outcome): string {
  const conflicted = tasks.filter(({ work }) => (work?.sentBack ?? 0) > 0).map(({ id }) => taskName(id));
  const conflicts = conflicted.length === 0 ? '' : ` ${joinSome(conflicted, ', ')} conflicted with other work before.`;
  const back = Object.entries(counts);
  if (back.length === 0) return conflicts;
  if (back.length > 3) return ` Gates sent ${back.length} tasks back.${conflicts}`;
  return ` A gate sent ${back.map(([id, number]) => `${taskName(id)} back ${times(number)}`).join(', ')}.${conflicts}`;
}

/** A lead that ends with a question waits for an answer, and a closed team cannot get one. */
function asked({ question, team, members, open = false }: Outcome, goesOn: boolean): string[] {
  if (question === undefined) return [];
  const again = goesOn
    ? 'write the answer into the prompt: of the lead, then troupe up --again'
    : 'run it again with the answer in the goal';
  const next = open
    ? `To answer: troupe send ${clean(members.find(({ role }) => role === 'lead')?.id ?? 'lead')} "…" --team ${clean(team)}`
    : `The team is closed. To go on, ${again}`;
  return [`The lead asked a question: ${clean(question)} ${next}.`];
}

function whyStuck({ members, tasks, spent = [] }: Outcome): string {
  if (!members.some(({ agent }) => agent !== undefined)) {
    return 'No member can do the remaining tasks: no member has an agent. Write members: into the team file, each with its agent.';
  }
  const hasTasks = tasks.some(({ status }) => status !== 'completed');
  const what = hasTasks ? 'No member can do the remaining tasks' : 'The lead gave no answer';
  const stopped = whoStopped(members);
  const reasons = spent.length > 0 ? spent.map(lowerFirst) : stopped.length > 0 ? stopped : whatIsLeft(tasks);
  const help = spent.length > 0 ? ' To continue, raise the budget in the team file and repeat the command.' : '';
  return `${what}: ${reasons.join('; ').replace(/\.$/, '')}.${help}`;
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

/** `troupe up` restarts members that were stopped on purpose, for example with the daemon. */
function startAgain({ members, tasks }: Outcome): string {
  const hasFailed = tasks.some(({ status }) => status === 'failed');
  return isAtRest(members) && !hasFailed
    ? ' The team stays open: the same command restarts its members and continues.'
    : '';
}

/** Members that are gone or whose last turn failed, with the reason if it is known. */
function whoStopped(members: Outcome['members']): string[] {
  const found = members.flatMap(({ id, agent, status, stopReason, metadata }) => {
    const failure = metadata?.['failure'];
    if (agent === undefined) return [];
    if (status === 'stopped' && stopReason !== undefined) return [{ id, what: `stopped: ${clean(stopReason)}` }];
    return typeof failure === 'string' ? [{ id, what: `failed: ${clean(failure)}` }] : [];
  });
  const alike = Map.groupBy(found, ({ what }) => what);
  return [...alike].map(([what, ones]) => `${ones.map(({ id }) => clean(id)).join(', ')} ${what}`);
}

/** What keeps the open tasks from being done: failed ones, for which the others wait, else what each waits for. */
function whatIsLeft(tasks: Outcome['tasks']): string[] {
  const open = tasks.filter(({ status }) => status !== 'completed');
  const failed = open.filter(({ status }) => status === 'failed');
  if (failed.length > 0) return failed.map(({ id }) => `task ${taskName(id)} failed`);
  const reasons = open.map(({ id, status, blockedReason, assigneeId }) => {
    if (status === 'blocked' && blockedReason !== undefined) return `task ${taskName(id)} ${clean(blockedReason)}`;
    const bond = status === 'in_progress' ? 'is held by' : 'is reserved for';
    return assigneeId === undefined ? undefined : `task ${taskName(id)} ${bond} ${clean(assigneeId)}`;
  });
  const known = reasons.filter((reason) => reason !== undefined);
  return known.length > 0 ? known : ['all members are idle'];
}
