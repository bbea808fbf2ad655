import { hookTroubles, isTroubleKey } from '../../../core/hook-trouble.ts';
import { nested, placeAmong } from '../../../core/inner-path.ts';
import { countMembers } from '../../../core/member-count.ts';
import { isVacant } from '../../../core/person.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { reportText } from '../report.ts';
import { isAtRest, restLine } from '../rest.ts';
import type { Screen } from '../screen.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { clean } from '../text.ts';
import { showTime } from '../time.ts';
import { NO_TEAM, statusWord, taskNames, teamWord } from '../words.ts';
import { block, count, details, dollars, heading, indent, metadataBeside } from './details.ts';
import { showAnything } from './generic.ts';
import { memberTable } from './member.ts';
import { requestTable } from './request.ts';
import type { Views } from './views.ts';

type Team = ResultOf<'team.show'>;

export const views: Views = {
  'team.create': (team, screen) =>
    `Team ${team.name} created; its lead is ${team.leadId}.\n${screen.isTerminal ? nextSteps(team.name) : ''}`,
  'team.list': (teams, screen) => teamTable(teams, screen),
  'team.show': (team, screen) => teamDetails(team, screen),
  'team.status': (status, screen) => teamStatus(status, screen),
  'team.update': (team) => `Team ${clean(team.name)} changed.\n`,
  'team.close': (team) => `Team ${clean(team.name)} is closed; it can still be read.\n`,
  'team.rest': (team) => `The members of team ${clean(team.name)} are stopped; it is still open.\n`,
  'team.attend': ({ teamId }) => `Team ${clean(teamId)} is no longer looked after by this call.\n`,
  'team.report': (report, screen) => reportText(report, screen),
  'team.down': (team) => `Team ${clean(team.name)} is shut down and closed; it can still be read.\n`,
  'team.digest': ({ text }, screen) => indent(text, screen, 0),
  'team.check': (found, screen) => checkedFile(found, screen),
  'team.up': (team, screen) => `Team ${clean(team.name)} is up.\n\n${memberTable(team.members, screen, team.leadId)}`,
  'team.import': ({ teamId, batches }) =>
    `Imported team ${clean(teamId)} with ${count(batches, 'step')}. Its members are stopped.\n`,
  'team.save': ({ path }) => `Saved ${clean(path)}.\n`,
  'team.run': (result, screen) => showAnything(result, screen),
  'team.delete': ({ teamId }) => `Team ${clean(teamId)} is deleted.\n`,
};

function checkedFile(found: ResultOf<'team.check'>, screen: Screen): string {
  const { team, members, tasks, elsewhere, unapproved, unrunnable = [] } = found;
  const other = elsewhere?.holds
    ? `A team of this name belongs to ${clean(elsewhere.folder)}: give this one another name.\n`
    : '';
  const broken = found.broken.map(({ type, command, why }) => `The ${type} hook "${command}" cannot be run: ${why}`);
  const wrong = [...unrunnable, ...broken].map((line) => `${clean(line)}\n`).join('');
  const head = `Team ${clean(team)}: ${count(members, 'member')}, ${count(tasks, 'task')}.\n${other}${wrong}`;
  if (unapproved.length === 0) return head;
  const rows = unapproved.map(({ type, members = [], command }): Cell[] => [members.join(', ') || type, command]);
  const columns = [{ title: 'WHO' }, { title: 'COMMAND', flexible: true }] as const;
  return `${head}\n${heading('Commands that nobody has approved yet', screen)}${table(columns, rows, screen)}`;
}

function nextSteps(name: string): string {
  return `Next: troupe task add "..." --team ${name}, troupe member add NAME --team ${name}, troupe watch ${name}\n`;
}

/** Teams as a table, each inner team after the one around it. If their members are known, teams with no running member are marked. */
export function teamTable(
  teams: ResultOf<'team.list'>,
  screen: Screen,
  members: ReadonlyMap<string, Team['members']> = new Map(),
): string {
  if (teams.length === 0) {
    return `${NO_TEAM} from a team file, which troupe init writes. troupe team create NAME makes an empty one.\n`;
  }
  const rows = nested(teams).map((team): Cell[] => {
    if (team.problem !== undefined) {
      return [team.name, '', { text: 'unreadable', style: 'red' }, '', '', '', team.problem];
    }
    return [
      { text: team.name, style: team.status === 'active' ? 'bold' : 'dim' },
      team.parent ? (placeAmong(teams, team.name) ?? '') : '',
      standingCell(team.status, members.get(team.name) ?? []),
      String(team.members),
      `${team.completedTasks}/${team.tasks}`,
      { text: showTime(team.createdAt, screen), style: 'dim' },
      team.description,
    ];
  });
  const columns = [
    { title: 'TEAM' },
    { title: 'INSIDE' },
    { title: 'STATUS' },
    { title: 'MEMBERS', align: 'right', spare: 1 },
    { title: 'DONE', align: 'right' },
    { title: 'CREATED', spare: 2 },
    { title: 'DESCRIPTION', flexible: true },
  ] as const;
  return table(columns, rows, screen);
}

/** An open team whose members have all stopped is shown as stopped. */
function standingCell(status: Team['status'], members: Team['members']): Cell {
  if (status === 'active' && isAtRest(members)) return { text: 'stopped', style: 'yellow' };
  return { text: teamWord(status), style: status === 'active' ? 'green' : 'dim' };
}

function teamDetails(team: Team, screen: Screen): string {
  const rows: (readonly [string, Cell | undefined])[] = [
    ['status', standingCell(team.status, team.members)],
    ['lead', leadOf(team)],
    ['created', showTime(team.createdAt, screen)],
    ['closed', showTime(team.closedAt, screen)],
    ['teammates', `${countMembers(team.members, team).teammates} of at most ${team.maxTeammates}`],
    ['writes with', team.peers?.join(', ') || undefined],
    ['shown in', team.resolvedBackend === 'in-process' ? undefined : team.resolvedBackend],
    ['raised from', raisedFrom(team)],
    ['metadata', metadataBeside(team.metadata, ['folder', 'file', 'host', 'lead', ...troubleKeys(team)])],
  ];
  return (
    heading(`Team ${team.name}`, screen) +
    details(rows, screen) +
    block('description', team.description, screen) +
    `\n${memberTable(team.members, screen, team.leadId)}` +
    troubleLines(team)
  );
}

function troubleKeys({ metadata = {} }: Team): string[] {
  return Object.keys(metadata).filter(isTroubleKey);
}

/** Hooks that fail, and so let everything pass. */
function troubleLines({ metadata }: Team): string {
  const lines = hookTroubles(metadata).map((text) => `${clean(text)}.\n`);
  return lines.length === 0 ? '' : `\n${lines.join('')}`;
}

function leadOf({ leadId, members, delegateMode }: Team): string {
  if (members.some((member) => member.id === leadId && isVacant(member))) return 'none';
  return delegateMode ? `${leadId}, who only coordinates` : leadId;
}

/** The file that the team was started from, which `troupe up` stores with the team. */
function raisedFrom({ metadata }: Team): string | undefined {
  const { folder, file } = metadata ?? {};
  if (typeof folder !== 'string') return undefined;
  return typeof file === 'string' ? `${file} in ${folder}` : folder;
}

/** Whether there is work left and no member runs. */
function isStalled({ team, tasks }: ResultOf<'team.status'>): boolean {
  const total = Object.values(tasks).reduce((sum, number) => sum + number, 0);
  return team.status === 'active' && isAtRest(team.members) && (total === 0 || (tasks.completed ?? 0) < total);
}

/** The tasks whose work is handed in: they are in progress, and nobody works on them. */
function queueCell({ work }: ResultOf<'team.status'>['team']): Cell | undefined {
  const queue = work?.queue ?? [];
  return queue.length === 0 ? undefined : `${taskNames(queue)}: troupe work shows the merge queue`;
}

/** Landed work that is gone with the repository in which Troupe had it. */
function lostCell({ work }: ResultOf<'team.status'>['team']): Cell | undefined {
  const lost = [...new Set(work?.lost?.map(({ taskId }) => taskId))];
  return lost.length === 0 ? undefined : { text: `what landed for ${taskNames(lost)}: troupe work`, style: 'red' };
}

function teamStatus(report: ResultOf<'team.status'>, screen: Screen): string {
  const { team, tasks, usage } = report;
  const total = Object.values(tasks).reduce((sum, number) => sum + number, 0);
  const counts = Object.entries(tasks).filter(([, number]) => number > 0);
  const tokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  const { costUsd = 0 } = usage;
  // Unreported usage is left out, not shown as 0.
  const used = [
    tokens === 0 ? '' : `${tokens} tokens`,
    costUsd === 0 ? '' : `${usage.estimated ? 'about ' : ''}$${dollars(costUsd)}`,
  ].filter((text) => text !== '');
  const rows: (readonly [string, Cell | undefined])[] = [
    ['status', standingCell(team.status, team.members)],
    ['tasks', `${total}${counts.map(([status, number]) => `, ${number} ${statusWord(status)}`).join('')}`],
    ['to land', queueCell(team)],
    ['lost', lostCell(team)],
    ['messages', String(report.messages)],
    ['used', used.join(', ')],
    ['batch', String(report.seq)],
  ];
  const waiting = report.pendingRequests;
  return (
    heading(`Team ${team.name}`, screen) +
    details(rows, screen) +
    `\n${memberTable(team.members, screen, team.leadId)}` +
    (isStalled(report) ? `\n${restLine(report)}` : '') +
    troubleLines(team) +
    (waiting.length === 0
      ? ''
      : `\n${heading(`${count(waiting.length, 'request')} waiting for an answer`, screen)}${requestTable(waiting, screen)}`)
  );
}
