import { existsSync } from 'node:fs';
import type { Client } from '../../client/client.ts';
import { findHome } from '../../client/home.ts';
import { isInside } from '../../core/folder.ts';
import type { ResultOf } from '../../operations/index.ts';
import { openClient } from '../reach/connect.ts';
import { nextSteps } from '../show/next.ts';
import type { Whereabouts } from '../show/next.ts';
import { shortPath } from '../show/path.ts';
import type { Screen } from '../show/screen.ts';
import { paint } from '../show/screen.ts';
import { clean, fold } from '../show/text.ts';
import { sizeOf } from '../show/work-size.ts';
import { print, toJson } from '../show/write.ts';
import { TEAM_FILE } from './up/source.ts';

/** How long a daemon may take to answer. On a very busy machine it took more than 3 s. */
const PATIENCE_MS = 10_000;

/** Of how many teams the work is looked at. Each takes a few calls of git. */
const LOOKED_AT = 8;

/** Shows what one can do next, given where one is. Starts no daemon. */
export async function showNext(environment: NodeJS.ProcessEnv, json: boolean, screen: Screen): Promise<number> {
  const where = await findWhere(environment);
  const { state, steps } = nextSteps(where);
  if (json) {
    const { daemon, teamFile = null } = where;
    print(toJson({ daemon, teamFile, state, next: steps }, screen.isTerminal ? 2 : undefined));
    return 0;
  }
  const width = Math.max(...steps.map(({ command }) => command.length));
  const lines = [
    ...state,
    ...steps.map(({ command, why }) => `  ${paint(screen, 'bold', command.padEnd(width))}  ${why}`),
    'troupe help lists all commands.',
  ];
  print(fold(`${lines.join('\n')}\n`, screen));
  return 0;
}

async function findWhere(environment: NodeJS.ProcessEnv): Promise<Whereabouts> {
  const home = findHome(environment);
  const hasState = existsSync(home.journal);
  const teamFile = existsSync(TEAM_FILE) ? { teamFile: TEAM_FILE } : {};
  const nothing: Whereabouts = { daemon: false, hasState, ...teamFile, teams: [], unmerged: [] };
  if (!existsSync(home.socket)) return nothing;
  const client = openClient(environment, { start: false });
  try {
    return { ...nothing, daemon: true, ...(await findTeams(client, environment, AbortSignal.timeout(PATIENCE_MS))) };
  } catch {
    // Dead, slow, or not ours to ask: troupe status says which.
    return nothing;
  } finally {
    client.close();
  }
}

async function findTeams(
  client: Client,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Pick<Whereabouts, 'teams' | 'unmerged'>> {
  const all = await client.call('team.list', {}, { signal });
  // A team inside of a member shows up as that member.
  const teams = all
    .filter(({ parent }) => parent === undefined)
    .toSorted((a, b) => Number(b.activeAt) - Number(a.activeAt));
  const open = teams
    .filter(({ status }) => status !== 'cleaned-up')
    .map(({ name, situation }) => ({ name: clean(name), situation: { ...situation, text: clean(situation.text) } }));
  const isHere = (repository: string | undefined): boolean =>
    repository !== undefined && isInside(process.cwd(), repository);
  const near = teams.toSorted((a, b) => Number(isHere(b.work?.repository)) - Number(isHere(a.work?.repository)));
  const works = near.slice(0, LOOKED_AT).map(async ({ name }) => {
    // A team whose work cannot be looked at is none to merge.
    const work = await client.call('work.show', { teamId: name }, { signal }).catch(() => undefined);
    if (!work || !hasNews(work)) return [];
    const { repository } = work;
    const isElsewhere = repository !== undefined && !isHere(repository);
    const elsewhere = isElsewhere ? { elsewhere: clean(shortPath(repository, environment)) } : {};
    return [{ team: clean(name), size: sizeOf(work), ...elsewhere }];
  });
  return { teams: open, unmerged: (await Promise.all(works)).flat() };
}

function hasNews({ workspaces, isMerged, base, tip }: ResultOf<'work.show'>): boolean {
  return workspaces === 'own' && !isMerged && tip !== base;
}
