import { agentNameOf, wordOnLimit, wordSettings } from '../../../core/agent-words.ts';
import { isVacant } from '../../../core/person.ts';
import { isLost, waitingOf, waitsOrSilent } from '../../../core/waiting.ts';
import type { ResultOf } from '../../../operations/index.ts';
import type { Screen, Style } from '../screen.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { clean } from '../text.ts';
import { showTime } from '../time.ts';
import { taskName, taskNames } from '../words.ts';
import { block, details, dollars, heading, metadataBeside } from './details.ts';
import { showAnything } from './generic.ts';
import type { Views } from './views.ts';

type Member = ResultOf<'member.show'>;
type Usage = ResultOf<'usage.record'>;

const STYLES: Readonly<Record<Member['status'], Style | undefined>> = {
  spawning: 'cyan',
  active: 'green',
  idle: 'dim',
  'shutting-down': 'yellow',
  stopped: 'red',
};

export const views: Views = {
  'member.list': (members, screen) => memberTable(members, screen),
  'member.show': (member, screen) => memberDetails(member, screen),
  'member.add': (member) => `${clean(member.name)} joined as ${clean(member.role)}.\n`,
  'member.spawn': (member) =>
    `${clean(member.name)} is starting as ${clean(member.role)}, run by ${clean(runBy(member))}.\n`,
  'member.restart': (member) => `${clean(member.name)} is started again.\n`,
  'member.stop': ({ memberId, how }) => `${clean(memberId)} has stopped (${clean(how)}).\n`,
  'member.idle': ({ idle }) => (idle ? 'The member is idle.\n' : 'A hook gave the member more to do: see its inbox.\n'),
  'session.list': (sessions, screen) => sessionIds(sessions, screen),
  'budget.show': (budgets, screen) => (budgets.length === 0 ? 'No budget is set.\n' : showAnything(budgets, screen)),
  'member.update': (member) => `${clean(member.name)} is ${member.status}.\n`,
  'member.remove': (member) =>
    `${clean(member.name)} has ${member.returning ? 'stopped and will be restarted' : 'left'}.\n`,
  // Only the token, for use in $(...).
  'member.token': ({ token }) => `${clean(token)}\n`,
  'usage.record': (usage, screen) => usageTable([['', usage]], screen),
  'usage.show': ({ members, tasks }, screen) => {
    const rows = [
      ...Object.entries(members),
      ...Object.entries(tasks).map(([id, usage]) => [`task ${taskName(id)}`, usage] as const),
    ];
    return rows.length === 0 ? 'Nothing was used yet.\n' : usageTable(rows, screen);
  },
};

/** Members as a table; the lead is marked if it is known. */
export function memberTable(members: readonly Member[], screen: Screen, leadId?: string): string {
  const seated = members.filter((member) => !isVacant(member));
  const rows = seated.map((member): Cell[] => [
    { text: member.name, style: member.name === leadId ? 'bold' : undefined },
    member.name === leadId ? `${member.role} (lead)`.replace('lead (lead)', 'lead') : member.role,
    { text: isLost(member) ? 'lost' : member.status, style: STYLES[member.status] },
    { text: showTime(member.statusSince, screen), style: 'dim' },
    taskNames(member.assignedTasks, ' '),
    member.model ?? '',
  ]);
  const columns = [
    { title: 'MEMBER' },
    { title: 'ROLE', flexible: true },
    { title: 'STATUS' },
    { title: 'SINCE', spare: 2 },
    { title: 'TASKS', spare: 1 },
    { title: 'MODEL', spare: 3 },
  ] as const;
  return table(columns, rows, screen) + waitingLines(members);
}

const WORD = { waits: 'waits', silent: 'is silent' };

/** Members that wait for something other than a task, or are silent, and why. */
export function waitingLines(members: readonly Member[]): string {
  const lines = members.flatMap((member) => {
    const reason = waitsFor(member);
    return reason === undefined ? [] : [`${clean(member.name)} ${WORD[waitsOrSilent(member)]}: ${clean(reason)}\n`];
  });
  return lines.length === 0 ? '' : `\n${lines.join('')}`;
}

/** What a member waits for. A stopped one waits for nothing, unless it returns with its machine. */
function waitsFor(member: Member): string | undefined {
  return member.status !== 'stopped' || isLost(member) ? waitingOf(member) : undefined;
}

const NOBODY_RUNS = 'No teammate runs. Start a team with troupe up, or see them all: troupe teams\n';

/** A session with what is known about its member: role, agent, and what it does or waits for. */
export type ShownSession = ResultOf<'session.list'>[number] & {
  /** The member in which its team is: `alpha/rev`. */
  readonly inside?: string;
  readonly role?: string;
  readonly agent?: string;
  readonly doing?: string;
  /** Whether it was lost with its machine. */
  readonly lost?: boolean;
};

/** Sessions as a table: which members run, what each does, since when, in which process. */
export function sessionTable(sessions: readonly ShownSession[], screen: Screen): string {
  if (sessions.length === 0) return NOBODY_RUNS;
  const rows = sessions.map((session): Cell[] => [
    session.teamId,
    session.inside ?? '',
    { text: session.memberId, style: session.teamRole === 'lead' ? 'bold' : undefined },
    session.role === undefined || session.role === 'teammate' ? '' : session.role,
    { text: session.lost ? 'lost' : session.status, style: STYLES[session.status] },
    session.doing ?? '',
    { text: session.agent ?? '', style: 'dim' },
    session.pid === undefined ? elsewhere(session) : String(session.pid),
    { text: showTime(session.startedAt, screen), style: 'dim' },
  ]);
  const columns = [
    { title: 'TEAM', spare: 2 },
    { title: 'INSIDE', spare: 2 },
    { title: 'MEMBER' },
    { title: 'ROLE', spare: 5 },
    { title: 'STATUS' },
    { title: 'DOING', flexible: true },
    { title: 'AGENT', spare: 3 },
    { title: 'PID', align: 'right', spare: 1 },
    { title: 'STARTED', spare: 4 },
  ] as const;
  return table(columns, rows, screen);
}

/** Sessions by id, because transcripts are stored under these ids. */
function sessionIds(all: ResultOf<'session.list'>, screen: Screen): string {
  // Members that run outside of Troupe, and the place of a missing lead, have none.
  const sessions = all.filter(({ id }) => id !== 'none');
  if (sessions.length === 0) return NOBODY_RUNS;
  const rows = sessions.map((session): Cell[] => [
    session.memberId,
    { text: session.status, style: STYLES[session.status] },
    session.id,
    session.pid === undefined ? elsewhere(session) : String(session.pid),
    { text: showTime(session.startedAt, screen), style: 'dim' },
  ]);
  const columns = [
    { title: 'MEMBER' },
    { title: 'STATUS' },
    { title: 'SESSION' },
    { title: 'PID', align: 'right', spare: 1 },
    { title: 'STARTED', spare: 2 },
  ] as const;
  return table(columns, rows, screen);
}

/** The machine of a session that has no process here. */
function elsewhere({ hostId }: ShownSession): string {
  return hostId === undefined || hostId === 'local' ? '' : `on ${hostId}`;
}

function memberDetails(member: Member, screen: Screen): string {
  const rows: (readonly [string, Cell | undefined])[] = [
    ['status', { text: isLost(member) ? 'lost' : member.status, style: STYLES[member.status] }],
    ['since', showTime(member.statusSince, screen)],
    ['role', member.role],
    ['tasks', taskNames(member.assignedTasks)],
    ['plan', member.planModeRequired ? 'must be approved before it may change anything' : undefined],
    ['agent', member.agent ? runBy(member) : `none that Troupe runs (${member.agentType})`],
    ['model', member.model],
    ...(member.agent ? wordSettings(member.agent) : []),
    ['runs on', member.hostId === 'local' ? undefined : member.hostId],
    [waitsOrSilent(member), waitsFor(member)],
    ['quiet hours', member.quietHours],
    ['on limit', member.onLimit && wordOnLimit(member.onLimit)],
    ['session', member.sessionId === 'none' ? undefined : member.sessionId],
    ['directory', member.workspace === 'own' ? member.folder : member.cwd],
    ['shown in', ['tmux', 'iterm2'].includes(member.backendType) ? member.backendType : undefined],
    ['joined', showTime(member.joinedAt, screen)],
    ['stopped', showTime(member.stoppedAt, screen)],
    ['why', member.stopReason],
    ['metadata', metadataBeside(member.metadata, ['waiting'])],
  ];
  return (
    heading(member.agentId, screen) +
    details(rows, screen) +
    block('prompt', member.spawnPrompt, screen) +
    block('last result', member.lastResult, screen)
  );
}

function usageTable(rows: readonly (readonly [string, Usage])[], screen: Screen): string {
  const columns = [
    { title: 'WHO', flexible: true },
    { title: 'TURNS', align: 'right' },
    { title: 'INPUT', align: 'right' },
    { title: 'OUTPUT', align: 'right' },
    { title: 'CACHE READ', align: 'right', spare: 1 },
    { title: 'CACHE WRITE', align: 'right', spare: 2 },
    { title: 'USD', align: 'right' },
  ] as const;
  const cells = rows.map(([who, usage]) => {
    const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, costUsd = 0 } = usage;
    const tokens = [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens];
    // An agent that reports no usage may still have used tokens.
    const isTold = tokens.some((number) => number > 0);
    const cost = costUsd === 0 ? '-' : `${usage.estimated ? '~' : ''}${dollars(costUsd)}`;
    return [who, String(usage.turns ?? 0), ...tokens.map((number) => (isTold ? String(number) : '-')), cost];
  });
  return table(columns, cells, screen);
}

/** The agent of a member. A member that Troupe does not run names its own type. */
function runBy(member: Member): string {
  return agentNameOf(member) || member.agentType;
}
