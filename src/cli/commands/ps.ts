import type { Client } from '../../client/client.ts';
import { agentNameOf } from '../../core/agent-words.ts';
import { nested, placeAmong } from '../../core/inner-path.ts';
import { isTrouble } from '../../core/situation.ts';
import { isLost } from '../../core/waiting.ts';
import type { ResultOf } from '../../operations/index.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { findWithInner } from '../reach/open-teams.ts';
import { describeDoing } from '../show/doing.ts';
import { clean, fold } from '../show/text.ts';
import { sessionTable } from '../show/views/member.ts';
import type { ShownSession } from '../show/views/member.ts';
import { hintRetry } from '../show/words.ts';
import { print, toJson } from '../show/write.ts';

type Member = ResultOf<'member.show'>;
type Team = ResultOf<'team.show'>;

/** What runs of a team, and how the team is. */
interface Running {
  readonly name: string;
  readonly parent: Team['parent'];
  readonly situation: ResultOf<'team.status'>['situation'];
  readonly sessions: readonly ShownSession[];
}

/** Lists the running members with their team and process, and what each does or waits for. */
export async function run(given: Arguments, { environment, screen, signal }: Surroundings): Promise<number> {
  const client = openClient(environment);
  try {
    const { teamId } = given.input as { teamId?: string };
    const { open, all } = await findWithInner(client, teamId, { signal });
    const teams = nested(await Promise.all(open.map((name) => sessionsOf(client, name, signal))));
    const sessions = teams.flatMap((team) => {
      const inside = team.parent && placeAmong(all, team.name);
      return inside === undefined ? team.sessions : team.sessions.map((session) => ({ ...session, inside }));
    });
    if (given.json) print(toJson(sessions, screen.isTerminal ? 2 : undefined));
    else print(fold(`${sessionTable(sessions, screen)}${troubleLines(teams)}`, screen));
    return 0;
  } finally {
    client.close();
  }
}

/**
 * Members with a process, here or on another machine; members that wait for a machine; members lost with theirs;
 * stopped ones that a person is asked about; and people and other clients that hold a task with a lease.
 */
async function sessionsOf(client: Client, teamId: string, signal: AbortSignal): Promise<Running> {
  const sessions = (await client.call('session.list', { teamId }, { signal })).filter(
    ({ pid, hostId, status }) => pid !== undefined || hostId !== undefined || status === 'spawning',
  );
  const { team, pendingRequests: requests, situation } = await client.call('team.status', { teamId }, { signal });
  const asked = new Set(requests.flatMap(({ kind, memberId }) => (kind === 'restart' ? memberId : [])));
  const lost = team.members
    .filter((member) => isLost(member) || asked.has(member.id))
    .map((member) => sessionOf(member, team));
  const outsiders = team.members.filter(
    ({ agent, status, assignedTasks }) => !agent && status !== 'stopped' && assignedTasks.length > 0,
  );
  const about = { name: teamId, parent: team.parent, situation };
  // For a team in which nothing runs, no further calls are needed.
  if (sessions.length + lost.length + outsiders.length === 0) return { ...about, sessions: [] };
  const all = await client.call('task.list', { teamId, limit: 10_000 }, { signal });
  const tasks = new Map(all.map((task) => [task.id, task]));
  const leased = outsiders
    .filter(({ assignedTasks }) => assignedTasks.some((id) => tasks.get(id)?.leaseUntil !== undefined))
    .map((member) => sessionOf(member, team));
  const shown = [...sessions, ...lost, ...leased].map((session) => {
    const member = team.members.find(({ id }) => id === session.memberId);
    if (!member) return session;
    return {
      ...session,
      role: member.role,
      agent: agentNameOf(member),
      doing: describeDoing(member, { team, tasks, requests }),
    };
  });
  return { ...about, sessions: shown };
}

/** Teams that do not go on by themselves, and why. */
function troubleLines(teams: readonly Running[]): string {
  const lines = teams.flatMap(({ name, situation }) =>
    isTrouble(situation) ? [`${clean(name)}: ${clean(situation.text)}${hintRetry(situation, clean(name))}\n`] : [],
  );
  return lines.length === 0 ? '' : `\n${lines.join('')}`;
}

function sessionOf(member: Member, { id: teamId, leadId }: Team): ShownSession {
  const { id, sessionId, status, statusSince, host } = member;
  return {
    id: sessionId,
    teamId,
    teamRole: id === leadId ? 'lead' : 'teammate',
    memberId: id,
    status,
    lost: isLost(member),
    startedAt: statusSince,
    ...(host !== undefined && { hostId: host }),
  };
}
