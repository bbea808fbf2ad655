import { existsSync, realpathSync } from 'node:fs';
import { AGENTS } from '../../agents/catalog.ts';
import { findProgram } from '../../agents/program.ts';
import type { Client } from '../../client/client.ts';
import { findHome } from '../../client/home.ts';
import type { Home } from '../../client/home.ts';
import { isInside } from '../../core/folder.ts';
import type { ResultOf } from '../../operations/index.ts';
import { openClient } from '../reach/connect.ts';
import { isOpen, teamsHere } from '../reach/teams-here.ts';
import { nextSteps } from '../show/next.ts';
import type { Whereabouts } from '../show/next.ts';
import { shortPath } from '../show/path.ts';
import { isAtRest } from '../show/rest.ts';
import type { Screen } from '../show/screen.ts';
import { paint } from '../show/screen.ts';
import { clean, fold } from '../show/text.ts';
import { sizeOf } from '../show/work-size.ts';
import { print, toJson } from '../show/write.ts';
import { TEAM_FILE } from './up/source.ts';

/** How long a daemon may take to answer. On a very busy machine it took more than 3 s. */
const PATIENCE_MS = 10_000;

/** Of how many teams the members and the folder are asked, open ones first. */
const ASKED = 50;

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
  // A folder that was deleted is an error of its own, and no sign of a daemon that does not answer.
  const folder = process.cwd();
  const nothing: Whereabouts = {
    daemon: false,
    hasState: existsSync(home.journal),
    hasAgent: Object.values(AGENTS).some(({ program }) => findProgram(program, { cwd: '/', env: environment })),
    ...(existsSync(TEAM_FILE) && { teamFile: TEAM_FILE }),
    here: [],
    others: [],
    interrupted: [],
    unmerged: [],
  };
  if (!existsSync(home.socket)) return { ...nothing, ...(await findRemains(home)) };
  const client = openClient(environment, { start: false });
  try {
    return { ...nothing, daemon: true, ...(await findTeams(client, environment, folder)) };
  } catch {
    return { ...nothing, ...(await findRemains(home)) };
  } finally {
    client.close();
  }
}

/** What a daemon left that does not answer. Loaded only then, because it loads the journals. */
async function findRemains(home: Home): Promise<Pick<Whereabouts, 'silent' | 'interrupted'>> {
  if (!existsSync(home.directory)) return { interrupted: [] };
  const { findDaemon, listInterrupted } = await import('./stop-all.ts');
  const silent = findDaemon(home);
  return silent === undefined ? { interrupted: listInterrupted(home) } : { silent, interrupted: [] };
}

async function findTeams(
  client: Client,
  environment: NodeJS.ProcessEnv,
  folder: string,
): Promise<Pick<Whereabouts, 'here' | 'others' | 'closed' | 'unmerged'>> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const all = await client.call('team.list', {}, { signal });
  // A team inside of a member shows up as that member.
  const teams = all
    .filter(({ parent }) => parent === undefined)
    .toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)) || Date.parse(b.activeAt) - Date.parse(a.activeAt));
  // A team that is deleted meanwhile must not fail the others.
  const shown = teams
    .slice(0, ASKED)
    .map(({ name }) => client.call('team.show', { teamId: name }, { signal }).catch(() => undefined));
  const known = new Map((await Promise.all(shown)).flatMap((team) => (team ? [[team.name, team]] : [])));
  const here = teamsHere([...known.values()], environment);
  const names = new Set(here.map(({ name }) => name));
  const open = teams.filter(isOpen).map(({ name, situation }) => ({
    name: clean(name),
    situation: { ...situation, word: clean(situation.word), text: clean(situation.text) },
    isAtRest: isAtRest(known.get(name)?.members ?? []),
    isHere: names.has(name),
  }));
  const closed = here.find((team) => !isOpen(team) && isOfFile(team, folder));
  const isNear = (repository: string | undefined): boolean => repository !== undefined && isIn(folder, repository);
  const near = teams.toSorted((a, b) => Number(isNear(b.work?.repository)) - Number(isNear(a.work?.repository)));
  const works = near.slice(0, LOOKED_AT).map(async ({ name }) => {
    // A team whose work cannot be looked at is none to merge.
    const work = await client.call('work.show', { teamId: name }, { signal }).catch(() => undefined);
    if (!work || !hasNews(work)) return [];
    const { repository } = work;
    const isElsewhere = repository !== undefined && !isNear(repository);
    const elsewhere = isElsewhere ? { elsewhere: clean(shortPath(repository, environment)) } : {};
    return [{ team: clean(name), size: sizeOf(work), ...elsewhere }];
  });
  return {
    here: open.filter((team) => team.isHere),
    others: open.filter((team) => !team.isHere),
    ...(closed && { closed: clean(closed.name) }),
    unmerged: (await Promise.all(works)).flat(),
  };
}

/** Whether a team was started from the team file of a folder. */
function isOfFile({ metadata }: ResultOf<'team.show'>, folder: string): boolean {
  return metadata?.['file'] === TEAM_FILE && metadata['folder'] === folder;
}

/** Whether a folder is in a checkout, which may have several names. `troupe merge` asks the same. */
function isIn(folder: string, repository: string): boolean {
  return isInside(folder, repository) || (existsSync(repository) && isInside(folder, realpathSync(repository)));
}

function hasNews({ workspaces, isMerged, base, tip }: ResultOf<'work.show'>): boolean {
  return workspaces === 'own' && !isMerged && tip !== base;
}
