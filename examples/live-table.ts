import type { SharedTask } from '../src/index.ts';

/** Shows tasks as lines: on a terminal they change in place, elsewhere each change is a new line. */
export function liveTable(tasks: readonly SharedTask[]): { update: (task: SharedTask) => void } {
  const inPlace = process.stdout.isTTY;
  const paint = inPlace && !process.env['NO_COLOR'] ? color : (text: string) => text;
  const latest = new Map(tasks.map((task) => [task.id, task]));
  const draw = (): void => {
    for (const task of latest.values()) process.stdout.write(`\x1b[2K${paint(line(task), task.status)}\n`);
  };
  if (inPlace) draw();
  return {
    update(task) {
      latest.set(task.id, task);
      if (!inPlace) {
        console.log(line(task));
        return;
      }
      process.stdout.write(`\x1b[${latest.size}A`);
      draw();
    },
  };
}

const MARKS = { blocked: '·', pending: '○', in_progress: '◐', completed: '●', failed: '✗', deleted: '-' } as const;

function line(task: SharedTask): string {
  const who = task.status === 'in_progress' || task.status === 'completed' ? (task.assigneeId ?? '') : '';
  const what = task.status === 'completed' ? (task.result ?? '') : (task.blockedReason?.slice(0, 40) ?? '');
  return `${MARKS[task.status]} ${task.id.padStart(2)} ${task.title.padEnd(24)} ${who.padEnd(8)} ${what}`;
}

function color(text: string, status: SharedTask['status']): string {
  const codes = { blocked: 90, pending: 0, in_progress: 33, completed: 32, failed: 31, deleted: 90 } as const;
  return `\x1b[${codes[status]}m${text}\x1b[0m`;
}
