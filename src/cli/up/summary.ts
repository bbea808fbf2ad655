import { paint } from '../screen.ts';
import type { Screen } from '../screen.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { clean, cleanLines, fold } from '../text.ts';
import { statusCell } from '../views/task.ts';
import { taskName } from '../words.ts';
import type { Outcome } from './follow.ts';

type Task = Outcome['tasks'][number];

/** What came of it: each task with who did it, how long it took and what it produced; then one sentence. */
export function summarize(outcome: Outcome, screen: Screen, { goesOn }: { goesOn: boolean }): string {
  const rows = outcome.tasks.map((task): Cell[] => [
    taskName(task.id),
    statusCell(task.status),
    task.title,
    task.assigneeId ?? '',
    took(task),
    { text: (task.result ?? task.failure ?? task.blockedReason ?? '').split('\n').at(-1) ?? '', style: 'dim' },
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
  return `${tasks}${fold(answer, screen)}\n${fold(verdict(outcome, screen, goesOn), screen)}\n`;
}

/** What failed is tried again when a person says so. */
function tryAgain(team: string, tasks: Outcome['tasks']): string {
  const failed = tasks.find(({ status }) => status === 'failed');
  if (!failed) return '';
  return ` The team stays open; to try again: troupe task reopen ${failed.id} --team ${clean(team)}, then the same command.`;
}

function took({ startedAt, completedAt }: Task): string {
  if (startedAt === undefined || completedAt === undefined) return '';
  return `${((Date.parse(completedAt) - Date.parse(startedAt)) / 1000).toFixed(1)} s`;
}

function verdict(outcome: Outcome, screen: Screen, goesOn: boolean): string {
  const { reason, tasks, members, requests, team, open = false, duration } = outcome;
  const next = goesOn ? 'then the same command sees it to its end' : `and see it with troupe watch ${clean(team)}`;
  const done = tasks.filter(({ status }) => status === 'completed').length;
  const time = `in ${(duration / 1000).toFixed(1)} s`;
  const count = tasks.length > 0 ? `${done} of ${tasks.length} tasks completed ${time}` : `Ended ${time}`;
  if (reason === 'done') return paint(screen, 'green', `${count}.${sentBack(tasks)}`);
  const why = {
    stuck: `Nobody can go on with the rest.${whyStuck(members)}${open ? tryAgain(team, tasks) : ' The team is closed.'}`,
    person: `A person is needed: ${requests.map(({ kind, id }) => `${kind} ${clean(id)}`).join(', ')}. The team stays up: answer with troupe approve --team ${clean(team)}, ${next}.`,
    interrupted: open
      ? `Interrupted: its members are stopped. The same command goes on where they were; troupe down ${clean(team)} closes the team.`
      : 'Interrupted: its members are stopped and the team is closed.',
  }[reason];
  return paint(screen, 'yellow', `${count}. ${why}`);
}

/** What the gates were good for. */
function sentBack(tasks: Outcome['tasks']): string {
  const back = tasks.filter(({ rejections }) => rejections > 0);
  if (back.length === 0) return '';
  if (back.length > 3) return ` Gates sent ${back.length} of them back before.`;
  const times = back.map(
    ({ id, rejections }) => `${taskName(id)} back ${rejections === 1 ? 'once' : `${rejections} times`}`,
  );
  return ` A gate sent ${times.join(', ')}.`;
}

/** Those that are gone or whose last turn failed, and why, as far as it is known. */
function whyStuck(members: Outcome['members']): string {
  return members
    .flatMap(({ id, agent, status, stopReason, metadata }) => {
      const failure = metadata?.['failure'];
      if (agent === undefined) return [];
      if (status === 'stopped' && stopReason !== undefined) return [`\n${clean(id)} stopped: ${clean(stopReason)}`];
      return typeof failure === 'string' ? [`\n${clean(id)} failed: ${clean(failure)}`] : [];
    })
    .join('');
}
