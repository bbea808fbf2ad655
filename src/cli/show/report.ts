import { shortId } from '../../core/commit-id.ts';
import { joinSome } from '../../core/text.ts';
import type { ResultOf } from '../../operations/index.ts';
import { describeNotHandedIn } from './not-handed-in.ts';
import { paint } from './screen.ts';
import type { Screen } from './screen.ts';
import { clean, fold } from './text.ts';
import { showDuration, showMoment } from './time.ts';
import { count, dollars } from './views/details.ts';
import { statusWord } from './words.ts';

type Report = ResultOf<'team.report'>;
type Work = ResultOf<'work.show'>;
type Usage = Report['usage'];
type Remark = Report['wrong'][number];

/** At most this many lines of one kind; more are counted. */
const LINES = 20;

/** How a kind of output writes: headings, list items, and foreign text that it makes harmless. */
interface Style {
  heading(text: string): string;
  item(text: string): string;
  foreign(text: string): string;
}

/** The report as text for a terminal or a file, with what this machine knows of the work. */
export function reportText(report: Report, screen: Screen, work?: Work): string {
  return write(report, textStyle(screen), work).join('');
}

/** The end of `troupe up` and `troupe run`, which have shown the tasks: cost, what went wrong, what waits. */
export function reportEnd(report: Report, screen: Screen): string {
  const style = textStyle(screen);
  const isFree = tokensOf(report.usage) === 0 && (report.usage.costUsd ?? 0) === 0;
  const cost = isFree ? [] : costSection(report, style);
  return [...cost, ...improvedSection(report, style), ...wrongSection(report, style)].join('');
}

/** The report as Markdown. Text of agents cannot make markup, links or mentions. */
export function reportMarkdown(report: Report, work?: Work): string {
  const style: Style = {
    heading: (text) => `\n## ${text}\n\n`,
    item: (text) => `- ${text}\n`,
    foreign: escapeMarkdown,
  };
  return `# Report of team ${escapeMarkdown(report.team)}\n\n${write(report, style, work).join('').trimStart()}`;
}

/**
 * A text as one line in which no character means anything to Markdown or HTML, and nobody is mentioned. It never begins a
 * line, but may begin a list item: there, a number with a full stop or a dash would begin a list of its own.
 */
export function escapeMarkdown(text: string): string {
  return clean(text)
    .replace(/\s+/g, ' ')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/@/g, '&#64;')
    .replace(/:\/\//g, '&#58;//')
    .replace(/\bwww\./gi, (word) => `${word.slice(0, -1)}&#46;`)
    .replace(/([\\`*_[\]|~])/g, '\\$1')
    .replace(/^(\s*)([#+\->=])/, '$1\\$2')
    .replace(/^(\s*\d+)([.)])/, '$1\\$2');
}

function textStyle(screen: Screen): Style {
  return {
    heading: (text) => `\n${paint(screen, 'bold', text)}\n`,
    item: (text) => `${fold(`  ${text}`, screen, 4)}\n`,
    foreign: (text) => clean(text.replace(/\s+/g, ' ')),
  };
}

function write(report: Report, style: Style, work: Work | undefined): string[] {
  const { tasks, team, status } = report;
  const left = work ? describeNotHandedIn(work, { teamId: team, isOpen: status !== 'cleaned-up' }) : [];
  const all = tasks.completed + tasks.failed + tasks.open;
  const failed = tasks.failed === 0 ? '' : `, ${tasks.failed} failed`;
  const open = tasks.open === 0 ? '' : `, ${tasks.open} open`;
  return [
    `Team ${style.foreign(team)} (${standing(status)}): ${tasks.completed} of ${count(all, 'task')} completed${failed}${open}.\n`,
    `${wordTimes(report)}\n`,
    ...doneSection(report, style),
    ...innerSection(report, style),
    ...landedSection(report, style, work),
    ...section(
      'Not handed in',
      left.map((line) => style.foreign(line)),
      style,
    ),
    ...costSection(report, style),
    ...improvedSection(report, style),
    ...wrongSection(report, style),
    ...answeredSection(report, style),
    ...waitsSection(report, style),
    ...answerSection(report, style),
  ];
}

function standing(status: string): string {
  return status === 'cleaned-up' ? 'closed' : status;
}

function section(title: string, lines: readonly string[], style: Style): string[] {
  if (lines.length === 0) return [];
  const left = lines.length - LINES;
  return [
    style.heading(title),
    ...lines.slice(0, LINES).map((line) => style.item(line)),
    ...(left > 0 ? [style.item(`and ${left} more`)] : []),
  ];
}

function doneSection({ done }: Report, style: Style): string[] {
  const lines = done.map(({ id, title, by, worked, usage }) => {
    const facts = [by, worked === undefined ? undefined : showDuration(worked), usage && wordUsage(usage)];
    const known = facts.filter((fact) => fact !== undefined && fact !== '');
    return `#${id} ${style.foreign(title)}${known.length > 0 ? ` (${known.join(', ')})` : ''}`;
  });
  return section('Done', lines, style);
}

/** What teams inside of members did, a line for each team. */
function innerSection({ team: outer, inner = [] }: Report, style: Style): string[] {
  const lines = inner.map(({ team, parent, status, tasks }) => {
    const inTeam = parent.teamId === outer ? '' : ` of ${style.foreign(parent.teamId)}`;
    const completed = tasks.filter((task) => task.status === 'completed').length;
    const titles = tasks.map((task) => {
      const state = task.status === 'completed' ? '' : ` (${statusWord(task.status)})`;
      return `${style.foreign(task.title)}${state}`;
    });
    const did = `${completed} of ${count(tasks.length, 'task')} completed`;
    const names = titles.length === 0 ? '' : `: ${joinSome(titles, '; ')}`;
    return `#${parent.taskId} ${style.foreign(parent.memberId)}${inTeam}: team ${style.foreign(team)} (${standing(status)}), ${did}${names}`;
  });
  return section('Teams inside of members', lines, style);
}

/** When the team began, when its last task ended, and when it was closed. A report is read later, so not as times ago. */
function wordTimes({ createdAt, endedAt, closedAt }: Report): string {
  const after = endedAt === undefined ? '' : ` (after ${showDuration(Date.parse(endedAt) - Date.parse(createdAt))})`;
  return [
    `Began ${showMoment(createdAt)}`,
    ...(endedAt === undefined ? [] : [`last task ended ${showMoment(endedAt)}${after}`]),
    ...(closedAt === undefined ? [] : [`closed ${showMoment(closedAt)}`]),
  ].join(', ');
}

/** Each task with its commit, and whether the user has the branch. Without a checkout here, nobody can say. */
function landedSection({ landed, done, parent, team }: Report, style: Style, work: Work | undefined): string[] {
  if (!landed || landed.tip === landed.base) return [];
  const works = landed.tasks.map((id) => {
    const { title, commit } = done.find((task) => task.id === id) ?? {};
    const named = title === undefined ? `#${id}` : `#${id} ${style.foreign(title)}`;
    return commit === undefined ? named : `${named} (${shortId(commit)})`;
  });
  const title = `Landed on ${style.foreign(landed.branch)}, ${shortId(landed.base)}..${shortId(landed.tip)}`;
  return [
    ...section(title, works.length === 0 ? ['commits of yours'] : works, style),
    ...(parent
      ? [style.item(`It goes into task #${parent.taskId} of team ${style.foreign(parent.teamId)}.`)]
      : work
        ? [style.item(wordMerged(work, team, style))]
        : []),
  ];
}

function wordMerged({ isMerged, into, repository }: Work, team: string, style: Style): string {
  const where = into === undefined ? 'your checkout' : style.foreign(into);
  if (isMerged) return `Merged: ${where} has all of it.`;
  const checkout = repository === undefined ? 'in your checkout, ' : '';
  return `Not merged into ${where} yet: ${checkout}troupe merge --team ${style.foreign(team)}`;
}

function costSection({ members, usage }: Report, style: Style): string[] {
  const lines = members
    .filter((member) => (member.usage.turns ?? 0) > 0 || member.completed + member.failed > 0)
    .map(({ id, completed, failed, usage: used }) => {
      const did = `${count(completed, 'task')} completed${failed > 0 ? `, ${failed} failed` : ''}`;
      return `${id}: ${[did, wordUsage(used)].filter(Boolean).join(', ')}`;
    });
  const total = wordUsage(usage);
  return section(`Who and what it cost${total === '' ? '' : `: ${total}`}`, lines, style);
}

/** What was not good enough at first. */
function improvedSection({ improved = [] }: Report, style: Style): string[] {
  const lines = improved.map(({ taskId, memberId, text }) => {
    const about = [`#${taskId}`, memberId ?? ''].filter(Boolean).join(' ');
    return `${about}: ${style.foreign(text)}`;
  });
  return section('Accepted after another try', lines, style);
}

function wrongSection({ wrong }: Report, style: Style): string[] {
  return section(
    'Went wrong',
    wrong.map((remark) => wordRemark(remark, style)),
    style,
  );
}

function answeredSection({ answered = [] }: Report, style: Style): string[] {
  const lines = answered.map(({ kind, taskId, memberId, text }) => {
    const about = [taskId === undefined ? '' : `#${taskId}`, memberId ?? ''].filter(Boolean).join(' ');
    return `${kind} (${about}): ${style.foreign(text)}`;
  });
  return section('You answered', lines, style);
}

function waitsSection({ waits }: Report, style: Style): string[] {
  return section(
    'Waits',
    waits.map((remark) => wordRemark(remark, style)),
    style,
  );
}

function answerSection({ answer }: Report, style: Style): string[] {
  return answer === undefined ? [] : section('Answer of the lead', [style.foreign(answer)], style);
}

function wordRemark({ what, kind, taskId, memberId, text }: Remark, style: Style): string {
  const about = [taskId === undefined ? '' : `#${taskId}`, memberId ?? ''].filter(Boolean).join(' ');
  const fate = { request: 'waits for you', unanswered: 'got no answer', answered: 'needed you' }[what as string];
  const name = fate === undefined ? what : `${kind} ${fate}`;
  return `${name}${about === '' ? '' : ` (${about})`}: ${style.foreign(text)}`;
}

function tokensOf({ inputTokens = 0, outputTokens = 0 }: Usage): number {
  return inputTokens + outputTokens;
}

function wordUsage(usage: Usage): string {
  const { costUsd = 0, turns = 0, estimated } = usage;
  const tokens = tokensOf(usage);
  return [
    costUsd > 0 ? `${estimated ? '~' : ''}$${dollars(costUsd)}` : '',
    tokens > 0 ? `${tokens.toLocaleString('en')} tokens` : '',
    turns > 0 ? count(turns, 'turn') : '',
  ]
    .filter(Boolean)
    .join(', ');
}
