import { existsSync, readFileSync } from 'node:fs';
import { CallError } from '../../../client/client.ts';
import type { Client } from '../../../client/client.ts';
import type { Home } from '../../../client/home.ts';
import { showBytes } from '../../../core/bytes.ts';
import { levelOf, wordDisk } from '../../../core/work-disk.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { readVersion } from '../../../runtime/version.ts';
import { isAbsence, openClient } from '../../reach/connect.ts';
import { isOpenToOthers } from '../../reach/credential.ts';
import type { Check } from './check.ts';
import { checkStart } from './journal.ts';

/** How long the daemon may take to answer. On a very busy machine it took more than 3 s. */
const ANSWER_MS = 10_000;

/** Checks whether a daemon answers and can read its journal; without a daemon, whether one could start. */
export async function checkDaemon(
  home: Home,
  { environment, servers }: { environment: NodeJS.ProcessEnv; servers: Promise<readonly Check[]> },
): Promise<Check[]> {
  const client = openClient(adminEnvironment(environment), { start: false });
  try {
    const status = await client.call('daemon.status', {}, { signal: AbortSignal.timeout(ANSWER_MS) });
    const teams = await listTeams(client);
    const version = readVersion();
    const found = `running, version ${status.version}, pid ${status.pid}, ${status.url ?? 'no url'}`;
    const isSame = status.version === version;
    const remedy = `this is version ${version}: run troupe stop; the next command starts the new version`;
    return [
      { name: 'daemon', state: isSame ? 'ok' : 'warn', found, ...(!isSame && { remedy }) },
      ...status.health.problems.map((problem): Check => ({ name: 'trouble', state: 'fail', found: problem })),
      ...teams.checks(status.journal.durability),
      ...teams.list.flatMap(({ name, problem }): Check[] =>
        problem === undefined
          ? []
          : [{ name: `team ${name}`, state: 'fail', found: 'cannot be read', remedy: problem }],
      ),
      ...checkDurability(status.journal),
      ...(await checkWorkspaces(client)),
    ];
  } catch (error) {
    if (isAbsence(error)) return await checkStart(home, environment, await servers);
    const isStranger = (error as Partial<CallError>).code === 'unauthenticated';
    const why = error instanceof CallError ? error.message : `it does not answer within ${ANSWER_MS / 1000} s`;
    const pid = readPid(home);
    if (isStranger && isOpenToOthers(home.tokenFile)) {
      const found = `process ${pid ?? 'unknown'} runs; its token is not used while others can read ${home.tokenFile}`;
      return [{ name: 'daemon', state: 'fail', found, remedy: `run: chmod 600 ${home.tokenFile}` }];
    }
    const what = existsSync(home.tokenFile) ? 'does not hold its token' : 'is missing, which holds its token';
    const found = isStranger ? `process ${pid ?? 'unknown'} runs, but ${home.tokenFile} ${what}` : why;
    const remedy = isStranger && pid !== undefined ? `run: kill ${pid}; the next command starts it again` : undefined;
    return [{ name: 'daemon', state: 'fail', found, remedy: remedy ?? `see troupe logs --daemon, or ${home.log}` }];
  } finally {
    client.close();
  }
}

/** A daemon that cannot reach its servers answers from memory, after it has tried them. */
async function listTeams(client: Client) {
  try {
    const list = await client.call('team.list', {}, { signal: AbortSignal.timeout(ANSWER_MS) });
    const checks = (durability: string): Check[] => [
      { name: 'teams', state: 'ok', found: `${list.length} in the journal (${durability})` },
    ];
    return { list, checks };
  } catch (error) {
    const found =
      error instanceof CallError ? error.message : `the daemon did not list them within ${ANSWER_MS / 1000} s`;
    return { list: [], checks: (): Check[] => [{ name: 'teams', state: 'fail', found }] };
  }
}

function readPid({ card }: Home): number | undefined {
  try {
    return (JSON.parse(readFileSync(card, 'utf8')) as { pid?: number }).pid;
  } catch {
    return undefined;
  }
}

/** Warns about a journal whose servers may lose acknowledged writes, with the remedy. */
function checkDurability({ location, durability, advice }: ResultOf<'daemon.status'>['journal']): Check[] {
  if (advice === undefined) return [];
  return [{ name: 'durability', state: 'warn', found: `${durability} at ${location}`, remedy: advice }];
}

/** A member's credential may not read the daemon's status, so the doctor always uses the admin credential. */
function adminEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { TROUPE_TOKEN: _token, TROUPE_TOKEN_FILE: _file, ...rest } = environment;
  return rest;
}

/** Says what workspaces take on the disk, and which team is near its limit. */
async function checkWorkspaces(client: Client): Promise<Check[]> {
  try {
    const { workspaces, depots, trash, teams } = await client.call(
      'work.disk',
      {},
      { signal: AbortSignal.timeout(ANSWER_MS) },
    );
    const found = `${showBytes(workspaces)}, their repositories ${showBytes(depots)}, trash ${showBytes(trash)}`;
    return [
      { name: 'workspaces', state: 'ok', found },
      ...teams
        .filter((use) => levelOf(use) !== 'fine')
        .map(({ teamId, ...use }): Check => ({ name: `team ${teamId}`, state: 'warn', found: wordDisk(teamId, use) })),
    ];
  } catch (error) {
    // Many files take long to measure. A daemon of an earlier version does not know the question.
    const why = error instanceof CallError ? error.message : `not measured within ${ANSWER_MS / 1000} s`;
    return [{ name: 'workspaces', state: 'ok', found: why }];
  }
}
