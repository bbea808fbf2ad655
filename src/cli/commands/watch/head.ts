import { isAtRest, needsReopening } from '../../show/rest.ts';
import { paint } from '../../show/screen.ts';
import type { Screen, Style } from '../../show/screen.ts';
import { clean, cut, widthOf } from '../../show/text.ts';
import type { Model, Task } from './model.ts';

type Numbers = Record<Task['status'], number>;
type Part = readonly [string, Style];

/** At least this much of a team's name is shown, if possible. */
const NAME = 12;

/** The first line: the team, the number of tasks per status, and on the right the state of the team. */
export function headLine({ status, tasks }: Model, { screen, isLive }: { screen: Screen; isLive: boolean }): string {
  const all = [...tasks.values()];
  const numbers = countBy(all);
  const [state, style] = stateOf(status, { isLive, numbers, tasks: all });
  // The state is always shown: an outdated picture that looks current is worse than fewer numbers.
  const said = cut(state, screen.columns);
  const left = spread(status.team.name, numbers, { ...screen, columns: screen.columns - widthOf(said) - 2 });
  const gap = screen.columns - left.width - widthOf(said);
  return `${left.text}${' '.repeat(gap)}${paint(screen, style, said)}`;
}

function countBy(tasks: readonly Task[]): Numbers {
  const numbers: Numbers = { pending: 0, blocked: 0, in_progress: 0, completed: 0, failed: 0, deleted: 0 };
  for (const { status } of tasks) numbers[status]++;
  return numbers;
}

function stateOf(
  { team }: Model['status'],
  { isLive, numbers, tasks }: { isLive: boolean; numbers: Numbers; tasks: readonly Task[] },
): Part {
  if (team.status === 'cleaned-up') return ['○ closed', 'dim'];
  if (!isLive) return ['○ waiting for the daemon', 'red'];
  if (!isAtRest(team.members)) return ['● live', 'green'];
  if (!needsReopening(team, numbers)) return ['○ stopped; troupe up continues', 'yellow'];
  const failed = tasks.find(({ status }) => status === 'failed');
  return [`○ stopped; troupe task reopen ${failed?.id}`, 'yellow'];
}

/** The name and the numbers. If they don't fit, zeros go first; the number of failed tasks stays longest. */
function spread(team: string, numbers: Numbers, screen: Screen): { text: string; width: number } {
  const total = Object.values(numbers).reduce((sum, number) => sum + number, 0);
  const completed: Part = [`${numbers.completed}/${total} completed`, 'green'];
  const running: Part = [`${numbers.in_progress} in progress`, 'yellow'];
  const pending: Part = [`${numbers.pending} pending`, 'cyan'];
  const blocked: Part[] = numbers.blocked > 0 ? [[`${numbers.blocked} blocked`, 'dim']] : [];
  const failed: Part[] = numbers.failed > 0 ? [[`${numbers.failed} failed`, 'red']] : [];
  // A long name is cut, so that it does not hide a failed task.
  const name: Part = [cut(clean(team), Math.max(NAME, screen.columns - widthOfAll(failed) - 2)), 'bold'];
  const zeros = [...(numbers.pending === 0 ? [pending] : []), ...(numbers.in_progress === 0 ? [running] : [])];
  let shown: readonly Part[] = [name, completed, running, pending, ...blocked, ...failed];
  for (const next of [...zeros, pending, ...blocked, running, completed, ...failed, name]) {
    if (widthOfAll(shown) <= screen.columns) break;
    shown = shown.filter((part) => part !== next);
  }
  return { text: shown.map(([text, style]) => paint(screen, style, text)).join('  '), width: widthOfAll(shown) };
}

function widthOfAll(parts: readonly Part[]): number {
  return parts.reduce((sum, [text]) => sum + widthOf(text), Math.max(0, 2 * (parts.length - 1)));
}
