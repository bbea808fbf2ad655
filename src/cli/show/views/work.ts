import { showBytes } from '../../../core/bytes.ts';
import { shortId } from '../../../core/commit-id.ts';
import { levelOf } from '../../../core/work-disk.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { wordMerge } from '../merge.ts';
import { shortPath } from '../path.ts';
import { paint } from '../screen.ts';
import type { Screen } from '../screen.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { clean } from '../text.ts';
import { showTime } from '../time.ts';
import { taskName, taskNames } from '../words.ts';
import { sizeOf } from '../work-size.ts';
import { count, details, heading, indent } from './details.ts';
import { showDifference, showFiles, showLines } from './diff.ts';
import { showDisk, showLeftovers, showRemoved } from './leftovers.ts';
import { showOverlaps } from './overlaps.ts';
import { showQueue } from './queue.ts';
import type { Views } from './views.ts';

type Work = ResultOf<'work.show'>;

export const views: Views = {
  'work.show': (work, screen, { teamId }) => showWork(work, screen, String(teamId)),
  'work.diff': (diff, screen, { stat }) => showDifference(diff, screen, { stat: stat === true }),
  'work.files': (page, screen) => showFiles(page, screen),
  'work.lines': (page, screen) => showLines(page, screen),
  'work.check': showCheck,
  'work.trust': ({ paths }) =>
    paths.length === 0 ? 'There is nothing new to agree to.\n' : `Agreed to ${paths.map(clean).join(', ')}.\n`,
  'work.locate': ({ repository }) => `The repository of the team is ${clean(repository)} now.\n`,
  'work.take': (taken, _screen, { teamId }) => describeTake(taken, clean(String(teamId))),
  'work.merge': (outcome) => `${wordMerge(outcome)}\n`,
  'work.open': (opened) =>
    opened
      ? `Its workspace is ${clean(opened.folder)}, with TROUPE_SLOT ${opened.slot}.\n`
      : 'It shares a folder with others.\n',
  'work.begin': () => 'The workspace is at the branch of the team.\n',
  'work.refresh': ({ memberId, base, behind, files }) =>
    behind === 0
      ? `The workspace of ${clean(memberId)} has all that landed: ${shortId(base)}.\n`
      : `The workspace of ${clean(memberId)} has all that landed: ${shortId(base)}. Landed work changed ${count(files.length, 'file')} in it; its own changes are kept.\n`,
  'work.save': () => 'The workspace is saved.\n',
  'work.saves': (saves, screen) => saveTable(saves, screen),
  'work.disk': (total, screen) => showDisk(total, screen),
  'work.leftovers': (left, screen) => showLeftovers(left, screen),
  'work.clean': (removed) => showRemoved(removed),
  'work.restore': (restored) => describeRestore(restored),
  'work.setup': (run, screen, { memberId }) => showSetup(run, screen, String(memberId)),
};

const RUNS = { running: 'runs', done: 'went well', failed: 'failed' } as const;

function showSetup(run: ResultOf<'work.setup'>, screen: Screen, memberId: string): string {
  if (!run) return `No setup has run in the workspace of ${clean(memberId)}.\n`;
  const { command, state, startedAt, endedAt, why, reads, wrote, output } = run;
  const took = endedAt === undefined ? '' : `, ${((endedAt - startedAt) / 1000).toFixed(1)} s`;
  const head = details(
    [
      ['command', command],
      ['state', `${why === undefined ? RUNS[state] : `failed: it ${why}`}${took}`],
      ['began', new Date(startedAt).toISOString()],
      ['reads', reads.join(', ')],
      ['changed', wrote.join(', ')],
    ],
    screen,
  );
  return `${heading(memberId, screen)}${head}\n${output.trim() === '' ? 'It printed nothing.\n' : indent(output.trimEnd(), screen, 2)}`;
}

function showWork(work: Work, screen: Screen, teamId: string): string {
  if (work.workspaces === 'shared') return 'The members of this team share a folder: there are no workspaces.\n';
  const {
    branch = '',
    base = '',
    tip = '',
    repository = '',
    isMerged = false,
    members = [],
    kept = [],
    disk,
    remote,
  } = work;
  const landed = tip === base ? 'nothing has landed yet' : `${sizeOf(work)}, at ${shortId(tip)}`;
  const head = details(
    [
      ['repository', repository],
      ['base', shortId(base)],
      ['branch', `${branch}: ${landed}`],
      ...(remote ? [['travels by', remoteCell(remote)] as const] : []),
      ...(disk ? [['disk', diskCell(disk)] as const] : []),
    ],
    screen,
  );
  const isDone = tip === base || isMerged;
  const next = isDone ? '' : `\nTo bring the branch into your checkout: troupe merge --team ${clean(teamId)}\n`;
  return `${heading(teamId, screen)}${head}${showQueue(work.queue, screen)}${memberTable(members, screen)}${taskTable(work, screen)}${showOverlaps(work.overlaps, screen)}${keptLines(kept)}${next}`;
}

function showCheck(check: ResultOf<'work.check'>, screen: Screen): string {
  const { memberId, folder, base, behind, files, taskId, changes, problems, unsaved = [] } = check;
  const further = behind === 0 ? '' : `, ${behind} behind the branch`;
  const head = details(
    [
      ['folder', folder],
      ['base', `${shortId(base)}${further}`],
      ...(taskId === undefined ? [] : [['task', taskName(taskId)] as [string, string]]),
      ['not handed in', files === 0 ? 'nothing' : sizeOf(check)],
    ],
    screen,
  );
  const paths = changes.map(({ path, status }) => `  ${status}  ${clean(path)}\n`).join('');
  const part = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? '' : `\n${title}:\n${lines.map((line) => `  ${clean(line)}\n`).join('')}`;
  const verdict = part('This work would be sent back', problems);
  return `${heading(memberId, screen)}${head}${paths}${verdict}${part('In no save, so not handed in', unsaved)}`;
}

function remoteCell({ name, problem }: NonNullable<Work['remote']>): Cell {
  return problem === undefined ? name : { text: `${name}: ${clean(problem)}`, style: 'yellow' };
}

function diskCell(disk: NonNullable<Work['disk']>): Cell {
  const style = ({ fine: undefined, near: 'yellow', full: 'red' } as const)[levelOf(disk)];
  const text = `${showBytes(disk.used)} of ${showBytes(disk.limit)}`;
  return { text: levelOf(disk) === 'full' ? `${text}: no new workspace is opened` : text, style };
}

function memberTable(members: NonNullable<Work['members']>, screen: Screen): string {
  if (members.length === 0) return '\nNo member has opened its workspace yet.\n';
  const rows = members.map((member): Cell[] => [
    { text: member.memberId, style: 'bold' },
    member.taskId === undefined ? '' : taskName(member.taskId),
    shortId(member.base),
    member.behind === 0 ? '' : String(member.behind),
    member.files === 0 ? { text: 'nothing', style: 'dim' } : sizeOf(member),
    showBytes(member.size),
    { text: screen.isTerminal ? shortPath(member.folder, process.env) : member.folder, style: 'dim' },
  ]);
  const columns = [
    { title: 'MEMBER' },
    { title: 'TASK' },
    { title: 'BASE' },
    { title: 'BEHIND', align: 'right' },
    { title: 'NOT HANDED IN' },
    { title: 'DISK', align: 'right', spare: 1 },
    { title: 'FOLDER', flexible: true, keeps: 'end' },
  ] as const;
  return `\n${table(columns, rows, screen)}`;
}

const STATES = {
  begun: { text: 'in work', style: 'yellow' },
  submitted: { text: 'in the queue', style: 'cyan' },
  asked: { text: 'to approve', style: 'yellow' },
  landed: { text: 'landed', style: 'green' },
  conflicted: { text: 'conflicts', style: 'red' },
  unchanged: { text: 'no changes', style: 'dim' },
} as const;

function taskTable({ tasks = [], lost = [] }: Work, screen: Screen): string {
  if (tasks.length === 0) return '';
  const rows = tasks.map((task): Cell[] => [
    taskName(task.taskId),
    lost.includes(task.taskId)
      ? { text: 'lost', style: 'red' }
      : task.state === 'begun' && task.isHeld === false
        ? { text: 'not in work', style: 'dim' }
        : task.state === 'begun' && task.isAsked
          ? { text: 'waits for you', style: 'yellow' }
          : task.state === 'begun' && task.queuedAt !== undefined
            ? { text: 'sent back', style: 'yellow' }
            : STATES[task.state],
    task.title,
    task.memberId,
    task.files === undefined || task.files === 0 ? '' : sizeOf(task),
    { text: task.conflicts?.join(', ') ?? shownAs(task), style: 'dim' },
  ]);
  const columns = [
    { title: '#', align: 'right' },
    { title: 'WORK' },
    { title: 'TASK', flexible: true },
    { title: 'WHO' },
    { title: 'CHANGED' },
    { title: 'AS', flexible: true },
  ] as const;
  return `\n${table(columns, rows, screen)}${tasks.map((task) => conflictLine(task, screen)).join('')}${lostLine(lost, screen)}`;
}

/** The commit of a work: as it landed, or as it was handed in while it waits. */
function shownAs({ state, commit, merged }: NonNullable<Work['tasks']>[number]): string {
  const id = state === 'asked' ? commit : merged;
  return id === undefined ? '' : shortId(id);
}

function conflictLine({ taskId, state, commit = '' }: NonNullable<Work['tasks']>[number], screen: Screen): string {
  if (state !== 'conflicted') return '';
  const text = `The work of task ${taskName(taskId)} is not on the branch; commit ${shortId(commit)} keeps it: troupe diff ${taskId}`;
  return `${paint(screen, 'yellow', text)}\n`;
}

function lostLine(lost: readonly string[], screen: Screen): string {
  if (lost.length === 0) return '';
  const text = `Landed and lost, because the repository in which Troupe had it was removed or damaged: the work of ${taskNames(lost)}`;
  return `${paint(screen, 'red', text)}\n`;
}

function keptLines(kept: NonNullable<Work['kept']>): string {
  if (kept.length === 0) return '';
  const lines = kept.map(({ memberId, commit }) => `  ${shortId(commit)}  ${clean(memberId)}`);
  return `\nKept, and on no branch:\n${lines.join('\n')}\n`;
}

function saveTable(saves: ResultOf<'work.saves'>, screen: Screen): string {
  if (saves.length === 0) return 'Nothing has been saved yet: no workspace differs from its base.\n';
  const rows = saves.map((save): Cell[] => [
    { text: shortId(save.commit), style: 'bold' },
    showTime(save.at, screen),
    save.memberId,
    save.taskId === undefined ? '' : taskName(save.taskId),
    save.files === 0 ? { text: 'as its base', style: 'dim' } : sizeOf(save),
    { text: shortId(save.base), style: 'dim' },
  ]);
  const columns = [
    { title: 'SAVE' },
    { title: 'WHEN' },
    { title: 'WHO', flexible: true },
    { title: 'TASK' },
    { title: 'CHANGED' },
    { title: 'BASE', spare: 1 },
  ] as const;
  return table(columns, rows, screen);
}

function describeTake(
  { from, to, isMoved, isRewritten, commits, ahead }: ResultOf<'work.take'>,
  teamId: string,
): string {
  if (!isMoved) return `The branch has ${shortId(to)} already.\n${ahead ? describeAhead(ahead, teamId) : ''}`;
  const how = isRewritten
    ? 'Replaced commits of the branch'
    : `Took ${commits === 1 ? '1 commit' : `${commits} commits`}`;
  return `${how}: it went from ${shortId(from)} to ${shortId(to)}. Work in the queue is merged onto it.\n`;
}

function describeAhead({ commits, isOnTop }: NonNullable<ResultOf<'work.take'>['ahead']>, teamId: string): string {
  const what = `HEAD of your checkout has ${commits === 1 ? '1 commit' : `${commits} commits`} that it lacks`;
  return `${what}. To take ${commits === 1 ? 'it' : 'them'}: ${isOnTop ? '' : `troupe merge --team ${teamId}, then `}troupe work take HEAD --team ${teamId}\n`;
}

function describeRestore({ memberId, folder, commit, before, taskId }: ResultOf<'work.restore'>): string {
  const who = clean(memberId);
  const next =
    taskId === undefined
      ? `${who} has no task that goes on with it: its next claim puts these files away again. To use them now: troupe patch ${who}`
      : `${who} goes on with task ${taskName(taskId)} from there.`;
  return `${clean(folder)} is as save ${shortId(commit)} has it. What was in it before: ${shortId(before)}. ${next}\n`;
}
