import { waitsToLand, wordLanding } from '../../../core/queue-view.ts';
import { workedOn } from '../../../core/work-time.ts';
import { paint, standardScreen } from '../../show/screen.ts';
import type { Screen } from '../../show/screen.ts';
import { clean, cut, paintedWidth, widthOf } from '../../show/text.ts';
import { showDuration } from '../../show/time.ts';
import { statusCell } from '../../show/views/task.ts';
import { answerCommand, answerName, taskName, times } from '../../show/words.ts';
import { print, stepAside } from '../../show/write.ts';
import type { Standing } from './standing.ts';

/** Draws a team at work in place: the progress of its tasks, its members, and the requests for a person. */
export interface Progress {
  draw(standing: Standing): void;
  /** Says why the picture is outdated, for example because the daemon is gone; undefined when it is current again. */
  trouble(what: string | undefined): void;
  /** Draws nothing while somebody types an answer. `above` makes room above it for other output. */
  hush(above: Above | undefined): void;
  /** Prints what happened, if there is no picture that shows it: while somebody types. */
  tell(lines: readonly string[]): void;
  close(): void;
}

/** Prints above what is on the screen. */
export type Above = (say: () => void) => void;

/** Fast enough for clocks to tick, slow enough for a slow terminal. */
const REDRAW_MS = 250;

/** Draws below the text on the screen, over its own last picture. The final picture stays. */
export function openProgress(teamId: string): Progress {
  let drawn: readonly string[] = [];
  let standing: Standing | undefined;
  let trouble: string | undefined;
  let above: Above | undefined;
  /** Moves to the start of the picture. In a terminal that was narrowed, a line may take several rows. */
  const back = ({ columns }: Screen): string => {
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(paintedWidth(line) / columns)), 0);
    return rows > 0 ? `\x1b[${rows}A\r` : '';
  };
  const redraw = (): void => {
    if (!standing || above) return;
    const screen = standardScreen(process.env);
    const lines = picture(teamId, standing, screen, (process.stdout.rows || 24) - 1);
    if (trouble !== undefined) lines.push(paint(screen, 'red', cut(`! ${trouble}`, screen.columns)));
    // Lines are cut, not wrapped, if the terminal is narrower than we know: tmux reports a resize late.
    print(`${back(screen)}\x1b[?7l${lines.map((line) => `\x1b[2K${line}\n`).join('')}\x1b[J\x1b[?7h`);
    drawn = lines;
  };
  const timer = setInterval(redraw, REDRAW_MS);
  process.stdout.on('resize', redraw);
  print('\x1b[?25l');
  // Other output goes above the picture; otherwise the next picture would overwrite the wrong lines.
  stepAside((say) => {
    if (above) {
      above(say);
      return;
    }
    print(`${back(standardScreen(process.env))}\x1b[J`);
    drawn = [];
    say();
    redraw();
  });
  return {
    draw(next) {
      standing = next;
      redraw();
    },
    trouble(what) {
      if (what === trouble) return;
      trouble = what;
      redraw();
    },
    hush(next) {
      // What is on the screen stays, and the next picture begins below it.
      if (next) drawn = [];
      above = next;
      print(next ? '\x1b[?25h' : '\x1b[?25l');
      redraw();
    },
    tell(lines) {
      if (lines.length > 0) above?.(() => print(lines.join('')));
    },
    close() {
      clearInterval(timer);
      process.stdout.off('resize', redraw);
      stepAside(undefined);
      print('\x1b[?25h');
    },
  };
}

type Task = Standing['tasks'][number];
type Request = Standing['requests'][number];

/** The picture of a team, in lines. */
export function picture(
  teamId: string,
  { tasks, members, requests, toPerson, asked, troubles, reason }: Standing,
  screen: Screen,
  height: number,
): string[] {
  const done = tasks.filter(({ status }) => status === 'completed').length;
  const name = cut(clean(teamId), Math.max(8, screen.columns - 16));
  const count = `${done}/${tasks.length}`;
  const width = Math.min(24, Math.max(0, screen.columns - widthOf(name) - count.length - 4));
  const head = `${paint(screen, 'bold', name)}  ${bar(done / Math.max(1, tasks.length), width, screen)} ${count}`;
  // If nobody goes on, a person may answer in place of a lead that did not.
  const waiting = reason === 'person' ? requests : toPerson;
  const room = Math.max(3, height - 4 - waiting.length - troubles.length);
  const shown = choose(tasks, room);
  const left = tasks.length - shown.length;
  return [
    head,
    ...shown.map((task) => taskLine(task, asked, screen)),
    ...(left > 0 ? [paint(screen, 'dim', `  … and ${left} more`)] : []),
    // The final picture stays, and the member that did the last task becomes idle a moment later.
    ...(reason === 'done' ? [] : [membersLine(members, screen)]),
    ...troubles.map((text) => paint(screen, 'yellow', cut(`! ${clean(text)}`, screen.columns))),
    ...waiting.map((request) => paint(screen, 'yellow', requestLine(request, requests, screen))),
  ];
}

/** The command is never cut off; the description is shortened instead. */
function requestLine(request: Request, all: readonly Request[], { columns }: Screen): string {
  const command = `${answerCommand(request)} ${clean(answerName(request, all))}`;
  const whole = `! ${request.kind} waits for you (${command})`;
  if (widthOf(whole) > columns) return cut(`! ${command}`, columns);
  return cut(`${whole}: ${clean(request.content)}`, columns);
}

function bar(share: number, width: number, screen: Screen): string {
  const full = Math.round(share * width);
  return `${paint(screen, 'green', '━'.repeat(full))}${paint(screen, 'dim', '─'.repeat(width - full))}`;
}

/** If not all fit: tasks in progress first, then the next ones, then the finished ones. */
function choose(tasks: readonly Task[], room: number): Task[] {
  if (tasks.length <= room) return [...tasks];
  const rank = { in_progress: 0, failed: 1, pending: 2, blocked: 3, completed: 4, deleted: 5 } as const;
  const chosen = [...tasks].sort((a, b) => rank[a.status] - rank[b.status]).slice(0, room);
  return chosen.sort((a, b) => Number(a.id) - Number(b.id));
}

function taskLine(task: Task, asked: Standing['asked'], screen: Screen): string {
  const { short, style } = statusCell(task);
  const mark = paint(screen, style, short);
  const id = taskName(task.id).padStart(4);
  const who = task.status === 'pending' || task.status === 'blocked' ? '' : (task.assigneeId ?? '');
  // A wrapped line takes two rows, and the next picture would overwrite the wrong ones.
  const room = Math.max(8, screen.columns - widthOf(clean(who)) - 13);
  const title = cut(clean(task.title), Math.min(room, Math.max(24, room - 30)));
  const plain = `  ${id} ${title}  ${clean(who)}  `;
  const rest = cut(lastWord(task, asked, screen), Math.max(0, screen.columns - widthOf(plain) - 2));
  return `${mark} ${paint(screen, 'dim', id)} ${title}  ${paint(screen, 'cyan', clean(who))}  ${paint(screen, 'dim', rest)}`.trimEnd();
}

function lastWord(task: Task, asked: Standing['asked'], screen: Screen): string {
  if (task.status === 'completed') return clean(task.result?.split('\n').at(-1) ?? '');
  if (task.status === 'failed') return clean(task.failure ?? '');
  if (task.status === 'blocked') return clean(task.blockedReason ?? '');
  if (task.work && waitsToLand(task)) return wordLanding(task.work);
  const since = task.startedAt === undefined ? '' : showDuration(workedOn(task, asked, screen.now));
  const back = task.rejections > 0 ? `, sent back ${times(task.rejections)}: ${task.feedback ?? ''}` : '';
  return task.status === 'in_progress' ? clean(`${since}${back}`) : '';
}

function membersLine(members: Standing['members'], screen: Screen): string {
  const parts: string[] = [];
  let width = 2;
  for (const { id, status, agent } of members) {
    if (agent === undefined) continue;
    width += widthOf(clean(id)) + status.length + 4;
    if (width > screen.columns - 2) return `  ${[...parts, '…'].join(' · ')}`;
    parts.push(`${clean(id)} ${paint(screen, status === 'active' ? 'yellow' : 'dim', status)}`);
  }
  return `  ${parts.join(' · ')}`;
}
