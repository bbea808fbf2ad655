import { whyBlocked } from '../../../core/blocked.ts';
import { hookTroubles } from '../../../core/hook-trouble.ts';
import { isVacant } from '../../../core/person.ts';
import { wordLanding } from '../../../core/queue-view.ts';
import { workedOn } from '../../../core/work-time.ts';
import { describeDoing } from '../../show/doing.ts';
import { paint } from '../../show/screen.ts';
import type { Screen, Style } from '../../show/screen.ts';
import { clean, cut, paintedWidth, widthOf } from '../../show/text.ts';
import { showDuration } from '../../show/time.ts';
import { statusCell } from '../../show/views/task.ts';
import { taskName, taskNames } from '../../show/words.ts';
import { headLine } from './head.ts';
import type { Mail, Model, Task } from './model.ts';
import { waitsPanel } from './waits.ts';

/** What the user chose to see. */
export interface Choice {
  /** How many tasks are above the first visible one. */
  scroll: number;
  readonly filter: Filter;
  /** Shows only the tasks of this member. */
  readonly member: string | undefined;
}

/** Which tasks are shown. */
export type Filter = (typeof FILTERS)[number];
export const FILTERS = ['all', 'open', 'in progress', 'ended'] as const;

/** The screen, and whether the daemon is reachable. */
export interface Stage {
  readonly screen: Screen;
  readonly rows: number;
  readonly isLive: boolean;
}

const SHOWN: Readonly<Record<Filter, readonly Task['status'][]>> = {
  all: ['in_progress', 'pending', 'blocked', 'failed', 'completed', 'deleted'],
  open: ['in_progress', 'pending', 'blocked'],
  'in progress': ['in_progress'],
  ended: ['failed', 'completed'],
};

/** Below this number of columns, a mark replaces the status and the working time is left out: titles matter more. */
const NARROW = 60;

/** From this number of columns on, members and messages are beside the tasks. */
const WIDE = 110;

/** The whole screen: exactly `rows` lines, none wider than the screen. */
export function drawFrame(model: Model, choice: Choice, stage: Stage): string[] {
  const { screen, rows } = stage;
  const most = Math.max(0, rows - 3);
  const waits = waitsPanel(model, screen, most);
  const body = most - waits.length;
  const isWide = screen.columns >= WIDE;
  const left = isWide ? Math.floor(screen.columns * 0.58) : screen.columns;
  const lower = isWide ? [] : narrowPanels(model, choice, { screen, body });
  const tasks = taskPanel(model, choice, { screen: { ...screen, columns: left }, rows: body - lower.length });
  const middle = isWide ? beside(tasks, widePanels(model, screen, left, body), left) : [...tasks, ...lower];
  return [
    headLine(model, stage),
    troubleLine(model, screen),
    ...fill(middle, body),
    ...waits,
    footLine(choice, screen),
  ].slice(0, rows);
}

/** The highest scroll position. */
export function lastScroll(model: Model, choice: Choice, stage: Stage): number {
  const { screen, rows } = stage;
  const body = rows - 3 - waitsPanel(model, screen, rows - 3).length;
  const lower = screen.columns >= WIDE ? 0 : narrowPanels(model, choice, { screen, body }).length;
  return Math.max(0, chosenTasks(model, choice).length - Math.max(1, body - lower - 1));
}

/** The tasks that the user wants to see: those in progress first, finished ones last. */
export function chosenTasks(model: Model, { filter, member }: Choice): Task[] {
  const order = SHOWN[filter];
  return [...model.tasks.values()]
    .filter((task) => order.includes(task.status) && (member === undefined || task.assigneeId === member))
    .sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status) || Number(a.id) - Number(b.id));
}

/** A line about hooks that failed and let work pass; otherwise empty. */
function troubleLine({ status: { team } }: Model, screen: Screen): string {
  const [first, ...others] = hookTroubles(team.metadata);
  if (first === undefined) return '';
  const more = others.length > 0 ? ` (and ${others.length} more: troupe team status ${clean(team.name)})` : '';
  const room = screen.columns - widthOf(more);
  const text = room < 20 ? cut(`! ${clean(first)}`, screen.columns) : `${cut(`! ${clean(first)}`, room)}${more}`;
  return paint(screen, 'yellow', text);
}

function footLine({ filter, member }: Choice, screen: Screen): string {
  const entries = [
    ['q', 'quit'],
    ['↑↓', 'scroll'],
    ['f', `tasks: ${filter}`],
    ['m', `member: ${member ?? 'all'}`],
  ] as const;
  // A key is shown with its meaning, or not at all.
  let line = '';
  let width = 0;
  for (const [key, does] of entries) {
    const gap = width === 0 ? '' : '  ';
    const next = gap.length + widthOf(key) + 1 + widthOf(does);
    if (width + next > screen.columns) break;
    line += `${gap}${paint(screen, 'bold', key)} ${paint(screen, 'dim', does)}`;
    width += next;
  }
  return line;
}

function taskPanel(model: Model, choice: Choice, { screen, rows }: { screen: Screen; rows: number }): string[] {
  if (rows < 2) return [];
  const tasks = chosenTasks(model, choice);
  const from = Math.min(choice.scroll, Math.max(0, tasks.length - (rows - 1)));
  const shown = tasks.slice(from, from + rows - 1);
  const where = tasks.length > shown.length ? ` ${from + 1}–${from + shown.length} of ${tasks.length}` : '';
  const lines = shown.map((task) => taskLine(task, shown, { screen, requests: model.requests }));
  if (tasks.length === 0) lines.push(paint(screen, 'dim', cut('  none', screen.columns)));
  return [paint(screen, 'dim', cut(`TASKS${where}`, screen.columns)), ...lines];
}

function taskLine(
  task: Task,
  shown: readonly Task[],
  { screen, requests }: { screen: Screen; requests: Model['requests'] },
): string {
  const idWidth = Math.max(...shown.map(({ id }) => taskName(id).length));
  const whoWidth = Math.min(16, Math.max(0, ...shown.map(({ assigneeId = '' }) => widthOf(assigneeId))));
  const status = statusCell(task);
  const backWidth = Math.max(...shown.map((one) => sentBack(one).length));
  const back = backWidth === 0 ? '' : `  ${sentBack(task).padEnd(backWidth)}`;
  // A task that was not begun has no working time.
  const age = task.startedAt === undefined ? '' : showDuration(workedOn(task, requests, screen.now));
  const isNarrow = screen.columns < NARROW;
  const prefix = `${taskName(task.id).padStart(idWidth)} ${isNarrow ? status.short : status.text.padEnd(13)} `;
  const why = clean(whyBlocked(task, (ids) => taskNames(ids, ' '))) || approvalOf(task, screen);
  const suffix = `${back}  ${pad(task.assigneeId ?? '', whoWidth)}${isNarrow ? '' : `  ${age.padStart(6)}`}`;
  const room = screen.columns - widthOf(prefix) - widthOf(suffix);
  const doing = task.status === 'in_progress' && task.activeForm ? `${task.title}: ${task.activeForm}` : task.title;
  const title = pad(`${urgency(task)}${clean(doing)}${why && ` ← ${why}`}`, Math.max(4, room));
  const line = cut(`${prefix}${title}`, screen.columns);
  return `${paint(screen, status.style, line)}${paint(screen, 'dim', cut(suffix, Math.max(0, screen.columns - widthOf(line))))}`;
}

/** Who has to approve the work before it lands, and how long that has taken. */
function approvalOf({ work }: Task, screen: Screen): string {
  if (!work?.waitsFor) return '';
  return `${wordLanding(work)}, ${showDuration(screen.now - work.waitsFor.since)}`;
}

/** How often a gate rejected the task, until it is completed. */
function sentBack({ rejections, status }: Task): string {
  return rejections === 0 || status === 'completed' ? '' : `gate ×${rejections}`;
}

function urgency({ priority }: Task): string {
  if (priority === 'critical') return '!! ';
  return priority === 'high' ? '! ' : '';
}

const MEMBER_STYLES: Readonly<Record<string, Style>> = { active: 'green', idle: 'dim', stopped: 'red' };

function memberPanel({ status, tasks }: Model, screen: Screen, rows: number): string[] {
  const { leadId } = status.team;
  const members = status.team.members.filter((member) => !isVacant(member));
  if (members.length === 0 || rows < 2) return [];
  if (rows === 2 && members.length > 1) {
    const all = members.map(({ name, status }) => `${clean(name)} ${status}`).join(', ');
    return [paint(screen, 'dim', 'MEMBERS'), cut(`  ${all}`, screen.columns)];
  }
  const shown = members.length > rows - 1 ? members.slice(0, rows - 2) : members;
  const width = Math.min(20, Math.max(...shown.map(({ name }) => name.length)));
  const lines = shown.map((member) => {
    const state = pad(member.status, 13);
    const doing = describeDoing(member, { team: status.team, tasks, requests: status.pendingRequests });
    const role = member.name === leadId ? 'lead' : member.role;
    const rest = cut(clean(doing === '' ? role : doing), Math.max(1, screen.columns - width - 17));
    const head = paint(screen, member.name === leadId ? 'bold' : undefined, pad(member.name, width));
    return `  ${head} ${paint(screen, MEMBER_STYLES[member.status] ?? 'yellow', state)} ${paint(screen, 'dim', rest)}`;
  });
  const hidden = members.length - shown.length;
  if (hidden > 0) lines.push(paint(screen, 'dim', `  and ${hidden} more`));
  return [paint(screen, 'dim', 'MEMBERS'), ...lines];
}

function mailPanel({ mail }: Model, screen: Screen, rows: number): string[] {
  if (rows < 2) return [];
  const lines = mail.slice(-(rows - 1)).map((one) => mailLine(one, screen));
  if (lines.length === 0) lines.push(paint(screen, 'dim', '  none yet'));
  return [paint(screen, 'dim', 'MESSAGES'), ...lines];
}

function mailLine(mail: Mail, screen: Screen): string {
  const to = mail.copies.length === 1 ? (mail.copies[0]?.toId ?? '') : `${mail.copies.length} members`;
  const head = `  ${new Date(mail.at).toTimeString().slice(0, 5)} ${clean(mail.by)} → ${clean(to)} `;
  const text = cut(clean(mail.summary ?? mail.content), Math.max(1, screen.columns - widthOf(head)));
  return `${paint(screen, 'dim', cut(head, screen.columns))}${paint(screen, mail.priority === 'urgent' ? 'red' : undefined, text)}`;
}

/** From this number of lines on, an empty line separates the sections. */
const AIRY = 8;

/**
 * Members and messages get half of the lines below the tasks, and those that the tasks leave free. Each gets one line
 * before another gets two.
 */
function narrowPanels(model: Model, choice: Choice, { screen, body }: { screen: Screen; body: number }): string[] {
  const gaps = body >= AIRY ? [''] : [];
  const least = Math.min(4 + 2 * gaps.length, body - 2);
  const room = Math.max(Math.floor(body / 2), body - chosenTasks(model, choice).length - 1, least) - 2 * gaps.length;
  const most = Math.max(2, Math.min(Math.ceil(room / 2) + gaps.length, model.mail.length > 0 ? room - 2 : room));
  const members = memberPanel(model, screen, Math.min(model.status.team.members.length + 1, most, room));
  const mail = mailPanel(model, screen, Math.min(model.mail.length + 1, room - members.length));
  return [members, mail].flatMap((panel) => (panel.length === 0 ? [] : [...gaps, ...panel]));
}

function widePanels(model: Model, screen: Screen, left: number, body: number): string[] {
  const right = { ...screen, columns: screen.columns - left - 3 };
  const members = memberPanel(model, right, Math.min(model.status.team.members.length + 1, Math.floor(body / 2)));
  return [...members, '', ...mailPanel(model, right, body - members.length - 1)];
}

/** Two columns with a rule between them. Lines on the left are padded to their column. */
function beside(left: readonly string[], right: readonly string[], width: number): string[] {
  const rows = Math.max(left.length, right.length);
  return Array.from({ length: rows }, (_, at) => {
    const line = left[at] ?? '';
    return `${line}${' '.repeat(Math.max(0, width - paintedWidth(line)))} │ ${right[at] ?? ''}`;
  });
}

function fill(lines: readonly string[], rows: number): string[] {
  return [...lines.slice(0, rows), ...Array<string>(Math.max(0, rows - lines.length)).fill('')];
}

function pad(text: string, width: number): string {
  const short = cut(text, width);
  return `${short}${' '.repeat(Math.max(0, width - widthOf(short)))}`;
}
