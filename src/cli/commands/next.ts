import { existsSync, realpathSync } from 'node:fs';
import { AGENTS } from '../../agents/catalog.ts';
import { findProgram } from '../../agents/program.ts';
import type { Client } from '../../client/client.ts';
import { findHome } from '../../client/home.ts';
import type { Home } from '../../client/home.ts';
import { isInside } from '../../core/folder.ts';
import type { ResultOf } from '../../operations/index.ts';
import { openClient } from '../reach/connect.ts';
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

/** Of how many open teams the members and the folder are asked. */
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
    return { ...nothing, daemon: true, ...(await findTeams(client, environment, AbortSignal.timeout(PATIENCE_MS))) };
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
  signal: AbortSignal,
): Promise<Pick<Whereabouts, 'here' | 'others' | 'unmerged'>> {
  const all = await client.call('team.list', {}, { signal });
  // A team inside of a member shows up as that member.
  const teams = all
    .filter(({ parent }) => parent === undefined)
    .toSorted((a, b) => Number(b.activeAt) - Number(a.activeAt));
  const shown = teams
    .filter(({ status }) => status !== 'cleaned-up')
    .map(async ({ name, situation, work }, at) => {
      // A team that is deleted meanwhile must not fail the others.
      const team =
        at < ASKED ? await client.call('team.show', { teamId: name }, { signal }).catch(() => undefined) : undefined;
      const folder = work?.repository ?? team?.metadata?.['folder'];
      return {
        name: clean(name),
        situation: { ...situation, word: clean(situation.word), text: clean(situation.text) },
        isAtRest: isAtRest(team?.members ?? []),
        isHere: isHere(folder),
      };
    });
  const open = await Promise.all(shown);
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
  return {
    here: open.filter((team) => team.isHere),
    others: open.filter((team) => !team.isHere),
    unmerged: (await Promise.all(works)).flat(),
  };
}

/** Whether the working directory is in a folder, which may have several names. */
function isHere(folder: unknown): boolean {
  if (typeof folder !== 'string') return false;
  const here = process.cwd();
  return isInside(here, folder) || (existsSync(folder) && isInside(here, realpathSync(folder)));
}

function hasNews({ workspaces, isMerged, base, tip }: ResultOf<'work.show'>): boolean {
  return workspaces === 'own' && !isMerged && tip !== base;
}
