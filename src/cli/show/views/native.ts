import type { ResultOf } from '../../../operations/index.ts';
import { paint } from '../screen.ts';
import type { Screen } from '../screen.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { clean } from '../text.ts';
import { showTime } from '../time.ts';
import { statusWord, taskName } from '../words.ts';
import { details, heading } from './details.ts';
import { statusCell } from './task.ts';
import type { Views } from './views.ts';

type NativeTeam = ResultOf<'native.list'>['teams'][number];

export const views: Views = {
  'native.list': ({ root, degraded, teams }, screen) => {
    if (teams.length === 0) return `Claude Code has no teams in ${clean(root)}.\n`;
    const note = degraded ? 'Not all of it can be watched; changes are found every few seconds.\n' : '';
    return nativeTable(teams, screen) + problemLines(teams, screen) + note;
  },
  'native.show': (team, screen) => nativeDetails(team, screen),
  'native.events': (events, screen) =>
    events.length === 0
      ? 'The daemon has seen no events yet.\n'
      : table(
          [
            { title: '#', align: 'right' },
            { title: 'AT', spare: 1 },
            { title: 'TEAM', flexible: true },
            { title: 'WHAT', flexible: true },
          ] as const,
          events.map((event): Cell[] => [
            String(event.number),
            { text: showTime(event.at, screen), style: 'dim' },
            event.team,
            eventText(event),
          ]),
          screen,
        ),
  'native.leftovers': (leftovers, screen) => {
    const dead = leftovers.filter((one) => one.dead);
    if (dead.length === 0) return 'There are no leftovers.\n';
    const columns = [
      { title: 'TEAM' },
      { title: 'KIND' },
      { title: 'MEMBERS', align: 'right', spare: 1 },
      { title: 'TASKS', align: 'right', spare: 2 },
    ] as const;
    const rows = dead.map(({ name, kind, members, tasks }): Cell[] => [name, kind, String(members), String(tasks)]);
    const [head = '', ...lines] = table(columns, rows, screen).trimEnd().split('\n');
    // The evidence is below each team and never cut: people decide by it, and no column is wide enough.
    const shown = lines.flatMap((line, i) => [line, ...(dead[i]?.evidence ?? []).map((one) => `  ${clean(one)}`)]);
    return `${[head, ...shown].join('\n')}\nTo move one to the trash: troupe native clean NAME\n`;
  },
  'native.preview': (preview) => previewLines(preview),
  'native.join': (joined) =>
    `Team ${clean(joined.teamId)} and the native team ${clean(joined.native)} are now synchronized.\n` +
    noticeLines(joined.notices) +
    `Next: troupe member spawn NAME --team ${clean(joined.teamId)} --agent codex, troupe watch ${clean(joined.teamId)}\n`,
  'native.leave': ({ teamId, native }) =>
    `Team ${clean(teamId)} has left the native team ${clean(native)} and continues on its own.\n`,
  'native.joined': (joined) =>
    joined.length === 0
      ? 'No team is joined to a native one. Join one: troupe join NAME\n'
      : joined
          .map((one) => `${clean(one.teamId)} is synchronized with ${clean(one.native)}\n${noticeLines(one.notices)}`)
          .join(''),
  'native.players': (players, screen) => {
    const next = 'Choose others: troupe claude --agent NAME=AGENT\n';
    if (players.length === 0) return `Claude Code plays all teammates. ${next}`;
    const rows = players.map(({ pattern, agent, plan, source }) => [
      pattern,
      `${agent.name ?? agent.kind}${plan ? ', plans first' : ''}`,
      source,
    ]);
    const columns = [{ title: 'TEAMMATE' }, { title: 'AGENT' }, { title: 'BY' }];
    return `${table(columns, rows, screen)}Claude Code plays all others. ${next}`;
  },
  'native.sit': ({ teamId, memberId }) => `${clean(memberId)} sits in team ${clean(teamId)}.\n`,
  'native.hold': ({ over, reason }) =>
    over ? `It has ended${reason === undefined ? '' : `: ${clean(reason)}`}.\n` : 'It still runs.\n',
  'native.clean': (moved) => moved.map(({ name, folder }) => `${clean(name)} is now in ${clean(folder)}\n`).join(''),
};

function noticeLines(notices: readonly string[]): string {
  return notices.map((notice) => `! ${clean(notice)}\n`).join('');
}

function nativeTable(teams: readonly NativeTeam[], screen: Screen): string {
  const rows = teams.map((team): Cell[] => [
    { text: team.name, style: team.kind === 'team' ? 'bold' : 'dim' },
    kindOf(team),
    team.lead ?? '',
    team.members.length === 0 ? '' : String(team.members.length),
    `${team.tasks.filter(({ status }) => status === 'completed').length}/${team.tasks.length}`,
    String(team.messages),
    { text: showTime(team.changedAt, screen), style: 'dim' },
    team.description ?? '',
  ]);
  const columns = [
    { title: 'NATIVE TEAM' },
    { title: 'KIND', spare: 1 },
    { title: 'LEAD', spare: 3 },
    { title: 'MEMBERS', align: 'right', spare: 2 },
    { title: 'DONE', align: 'right' },
    { title: 'MAIL', align: 'right', spare: 4 },
    { title: 'CHANGED', spare: 5 },
    { title: 'DESCRIPTION', flexible: true },
  ] as const;
  return table(columns, rows, screen);
}

function kindOf({ kind, form, readOnly }: NativeTeam): string {
  const notes = [form === 'known' || kind === 'session' ? [] : form, readOnly === undefined ? [] : 'read-only'].flat();
  return notes.length === 0 ? kind : `${kind} (${notes.join(', ')})`;
}

function problemLines(teams: readonly NativeTeam[], screen: Screen): string {
  return teams
    .flatMap(({ name, readOnly, problems }) => {
      const only = readOnly === undefined ? [] : [`is read-only: ${readOnly}`];
      return [...problems, ...only].map(
        (problem) => `${paint(screen, 'yellow', '!')} ${clean(name)}: ${clean(problem)}\n`,
      );
    })
    .join('');
}

/** What a join would change: here, then in the native files. */
function previewLines(preview: ResultOf<'native.preview'>): string {
  const { teamId, native, isNew, members, tasks, messages, files, notices } = preview;
  const holder = (one: { status: string; assigneeId?: string | undefined }): string =>
    `${statusWord(one.status)}${one.assigneeId === undefined ? '' : ` (${clean(one.assigneeId)})`}`;
  const changed = tasks.map((task) => {
    const before = task.before ? `${holder(task.before)} becomes ` : 'new, ';
    return `  ${taskName(task.id)} ${clean(task.title)}: ${before}${holder(task)}\n`;
  });
  const here = [
    `Team ${clean(teamId)} ${isNew ? 'would be created' : 'would be synchronized again'}.\n`,
    ...(members.length > 0 ? [`Members that would join it: ${clean(members.join(', '))}\n`] : []),
    ...(changed.length > 0 ? ['Tasks:\n', ...changed] : ['Its tasks would stay as they are.\n']),
    ...(messages > 0 ? [`Messages that it would get: ${messages}\n`] : []),
  ];
  const there = files.flatMap(({ path, changes }) => [
    `  ${clean(path)}\n`,
    ...changes.map((change) => `    ${clean(change)}\n`),
  ]);
  return [
    ...here,
    files.length > 0
      ? 'Files of the native team that would be written:\n'
      : 'No file of the native team would be written.\n',
    ...there,
    noticeLines(notices),
    `Nothing was changed. To join: troupe join ${clean(native)}${teamId === native ? '' : ` --rename ${clean(teamId)}`}\n`,
  ].join('');
}

function nativeDetails(team: ResultOf<'native.show'>, screen: Screen): string {
  const what = team.kind === 'session' ? 'Tasks of session' : 'Native team';
  const members = team.members.map((member): Cell[] => [
    member.name,
    member.agentType ?? '',
    member.model ?? '',
    member.active === undefined ? '' : member.active ? 'active' : 'idle',
    String(member.unread),
  ]);
  const tasks = team.tasks.map((task): Cell[] => [
    taskName(task.id),
    statusOf(task.status),
    task.owner ?? '',
    task.subject,
  ]);
  const mail = team.mail.map((one): Cell[] => [
    { text: showTime(one.sentAt, screen), style: 'dim' },
    `${one.from} → ${one.to}`,
    one.read ? '' : { text: 'unread', short: '*' },
    one.summary ?? plainWords(one.text),
  ]);
  const block = (title: string, text: string, isThere: boolean): string =>
    isThere ? `\n${heading(title, screen)}${text}` : '';
  return (
    heading(`${what} ${team.name}`, screen) +
    details(
      [
        ['lead', team.lead],
        ['changed', showTime(team.changedAt, screen)],
        ['description', team.description],
      ],
      screen,
    ) +
    problemLines([team], screen) +
    block(
      'Members',
      table(
        [
          { title: 'NAME' },
          { title: 'TYPE', spare: 1 },
          { title: 'MODEL', spare: 2 },
          { title: 'STATUS' },
          { title: 'UNREAD', align: 'right' },
        ],
        members,
        screen,
      ),
      members.length > 0,
    ) +
    block(
      'Tasks',
      table(
        [
          { title: '#', align: 'right' },
          { title: 'STATUS' },
          { title: 'OWNER', spare: 1 },
          { title: 'SUBJECT', flexible: true },
        ],
        tasks,
        screen,
      ),
      tasks.length > 0,
    ) +
    block(
      'Messages',
      table(
        [
          { title: 'SENT', spare: 1 },
          { title: 'FROM → TO', flexible: true },
          { title: '' },
          { title: 'TEXT', flexible: true },
        ],
        mail,
        screen,
      ),
      mail.length > 0,
    )
  );
}

/** A native status that is also one of ours looks like ours. */
function statusOf(status: string): Cell {
  return status === 'pending' || status === 'in_progress' || status === 'completed'
    ? statusCell({ status })
    : statusWord(status);
}

/** Shows the JSON messages of native members in words: type and content. Other text stays as it is. */
function plainWords(text: string): string {
  if (!text.startsWith('{')) return text;
  try {
    const value = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof value['type'] !== 'string') return text;
    const said = ['reason', 'failureReason', 'result', 'feedback', 'subject', 'summary', 'tool_name', 'planFilePath']
      .map((key) => value[key])
      .find((one): one is string => typeof one === 'string' && one !== '');
    const approved = typeof value['approved'] === 'boolean' ? (value['approved'] ? ': yes' : ': no') : '';
    return `${value['type'].replaceAll('_', ' ')}${approved}${said === undefined ? '' : `: ${said}`}`;
  } catch {
    return text;
  }
}

function eventText(event: ResultOf<'native.events'>[number]): string {
  const what = event.type.replace('-', ' ');
  if (event.from !== undefined) return `${what}: ${event.from} → ${event.to ?? ''} ${plainWords(event.text ?? '')}`;
  if (event.taskId !== undefined) {
    const owner = event.owner === undefined ? '' : ` by ${event.owner}`;
    return `${what}: #${event.taskId} ${event.status ?? ''}${owner}`;
  }
  const active = event.active === undefined ? '' : event.active ? ' (active)' : ' (idle)';
  return event.member === undefined ? what : `${what}: ${event.member}${active}`;
}
