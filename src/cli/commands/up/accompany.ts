import type { CallError, Client } from '../../../client/client.ts';
import { findHome } from '../../../client/home.ts';
import type { TeamEvent } from '../../../core/event.ts';
import { workedOn } from '../../../core/work-time.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { newCommandId } from '../../reach/call.ts';
import { listenForEnd } from '../../reach/interruption.ts';
import type { Ending } from '../../reach/interruption.ts';
import { INTERRUPTED, Refusal } from '../../show/errors.ts';
import { clean, fold } from '../../show/text.ts';
import { print, warn, whenReaderGone } from '../../show/write.ts';
import { followWork } from './follow.ts';
import type { FollowOptions, Outcome } from './follow.ts';
import { openHolder } from './holder.ts';
import { look } from './standing.ts';
import type { Trouble } from './trouble.ts';

/** How a team is seen through. */
export interface AccompanyOptions extends Omit<FollowOptions, 'signal' | 'onTrouble'> {
  readonly ending: Ending;
  readonly environment: NodeJS.ProcessEnv;
  /** A pane per member where there can be one. */
  readonly panes: boolean;
  /** The team stays up when its work is done. */
  readonly keep: boolean;
  readonly trouble: Trouble;
  /** The same command goes on with what is left, so a team that was not done stays open. */
  readonly goesOn: boolean;
}

/** Agents that nobody waits for any more would go on, and cost: whatever ends us stops them, a closed pipe too. */
export function listenForTeamEnd(): Ending {
  const ending = listenForEnd(INTERRUPTED);
  whenReaderGone(() => ending.end());
  return ending;
}

/** Shows a team at work until there is nothing left to do, then takes it down. Ends with `no_daemon` when the daemon is stopped. */
export async function accompany(
  client: Client,
  team: ResultOf<'team.up'>,
  options: AccompanyOptions,
): Promise<Outcome> {
  const stopped = new Refusal('no_daemon', describeStop(team.name, options));
  let isOver = false;
  // All that is asked for then fails, and nothing is waited for any more.
  options.trouble.onStopped(() => {
    isOver = true;
    client.close();
  });
  try {
    return await seeThrough(client, team, { ...options, stopped });
  } catch (error) {
    throw isOver ? stopped : error;
  }
}

async function seeThrough(
  client: Client,
  team: ResultOf<'team.up'>,
  options: AccompanyOptions & { readonly stopped: Refusal },
): Promise<Outcome> {
  const { ending, screen, json, environment, trouble, stopped } = options;
  const holder = openHolder(findHome(environment).holders, team.name);
  if (!holder.isUs()) warn(fold(lookOnNotice(team.name), screen));
  // The first Ctrl-C takes the team down, which may take a while; the second goes at once.
  ending.onAgain(() => leaveAtOnce(team, options));
  const interrupted = (): void => {
    // There is nobody to ask to take it down.
    if (trouble.isStopped()) leaveAtOnce(team, options);
    if (screen.isTerminal && !json && holder.isUs()) {
      warn(fold('Stopping its members; Ctrl-C again leaves at once.\n', screen));
    }
  };
  ending.signal.addEventListener('abort', interrupted, { once: true });
  const panes = await openPanesFor(team, options);
  let outcome: Outcome;
  try {
    outcome = await followWork(client, team.name, {
      ...options,
      signal: ending.signal,
      onTrouble: trouble.onTrouble,
    });
  } finally {
    await panes?.close();
  }
  // A daemon that is stopped ends the members before itself: it was not they who could not go on.
  if (outcome.reason !== 'done' && trouble.isStopped()) throw stopped;
  // Taken down, it could not go on with the answer.
  const stays = outcome.reason === 'person' || (options.keep && outcome.reason !== 'interrupted');
  // Asked again: by now the other one may be gone, and nobody else would end them.
  const isOurs = holder.isUs();
  try {
    if (!stays && isOurs) await takeDown(client, team.name, outcome, options);
  } finally {
    holder.release();
  }
  return {
    ...outcome,
    ...(await lookBack(client, outcome)),
    open: stays || ((options.goesOn || !isOurs) && outcome.reason !== 'done'),
    ...(!isOurs && { elsewhere: true }),
  };
}

/** Said at once: who presses Ctrl-C should know what it does. */
function lookOnNotice(teamId: string): string {
  return `troupe: team ${clean(teamId)} already runs in another troupe up, which ends it when it is done or interrupted. Ctrl-C here only leaves.\n`;
}

/** What members held when they were stopped went back, and what a gate said is counted for each round, not only the last. */
async function lookBack(
  client: Client,
  outcome: Outcome,
): Promise<Pick<Outcome, 'tasks' | 'members' | 'sentBack' | 'troubles' | 'worked'>> {
  const { team: teamId, reason } = outcome;
  const [{ tasks, members, troubles }, asked] = await Promise.all([
    look(client, teamId),
    client.call('request.list', { teamId }),
  ]);
  const ended = tasks.filter(({ startedAt, completedAt }) => startedAt !== undefined && completedAt !== undefined);
  const worked = Object.fromEntries(ended.map((task) => [task.id, workedOn(task, asked, Date.now())]));
  const sentBack: Record<string, number> = {};
  if (tasks.some(({ feedback }) => feedback !== undefined)) {
    for (let after: number | undefined = 0; after !== undefined;) {
      const batches: ResultOf<'event.list'> = await client.call('event.list', { teamId, after });
      for (const event of batches.flatMap(({ events }) => events as TeamEvent[])) {
        if (event.type === 'task:rejected') sentBack[event.taskId] = (sentBack[event.taskId] ?? 0) + 1;
      }
      after = batches.at(-1)?.seq;
    }
  }
  // Why it got stuck is told by those who were there, not by our having stopped them.
  return { tasks, members: reason === 'stuck' ? outcome.members : members, sentBack, troubles, worked };
}

/** Says what is left behind: nobody was asked to stop, or not all have answered. */
function leaveAtOnce({ name, members }: ResultOf<'team.up'>, { screen, json }: AccompanyOptions): never {
  if (screen.isTerminal && !json) print('\x1b[?25h');
  const agents = members.filter(({ agent }) => agent !== undefined).map(({ id }) => clean(id));
  const who = agents.length === 0 ? '' : `${agents.join(', ')} may still run (troupe ps). `;
  warn(`\ntroupe: left without taking team ${clean(name)} down. ${who}To stop it: troupe down ${clean(name)}\n`);
  process.exit(INTERRUPTED);
}

/** Says how a team goes on that was stopped with its daemon. */
function describeStop(teamId: string, { goesOn }: AccompanyOptions): string {
  const next = goesOn ? 'The same command goes on with it.' : `To close it: troupe down ${clean(teamId)}`;
  return `The daemon was stopped, and team ${clean(teamId)} with it. ${next}`;
}

/** Done is when every task is completed and a lead has said its last word; anything less is told by the exit code. */
export function exitCode(outcome: Outcome): number {
  if (outcome.reason === 'interrupted') return INTERRUPTED;
  return outcome.reason === 'done' ? 0 : 1;
}

/** Split, a narrower window would show neither the progress nor the panes. */
const PANES_COLUMNS = 100;

/** Inside tmux or iTerm2 each member gets a pane; elsewhere the progress says it all. */
async function openPanesFor(
  team: ResultOf<'team.up'>,
  { panes, screen, json, environment }: AccompanyOptions,
): Promise<{ close(): Promise<void> } | undefined> {
  if (!panes || !screen.isTerminal || json || screen.columns < PANES_COLUMNS) return undefined;
  const members = team.members.filter(({ agent }) => agent !== undefined).map(({ id }) => id);
  const { openPanes } = await import('./panes.ts');
  return openPanes(team.name, members, { mode: team.teammateMode, environment });
}

/** Longer than members take that are at rest: whoever looks on should know what it is about. */
const SILENCE_MS = 2_000;
const SHUTDOWN_MS = 10_000;

/** Says what is waited for, if it takes a while. */
async function takeDown(
  client: Client,
  teamId: string,
  { reason }: Outcome,
  { goesOn, json }: AccompanyOptions,
): Promise<void> {
  const say = (): void => warn(`Waiting for members to stop, ${SHUTDOWN_MS / 1000} s at most.\n`);
  const timer = json ? undefined : setTimeout(say, SILENCE_MS);
  try {
    await (reason === 'done' || !goesOn ? closeTeam(client, teamId, reason) : stopMembers(client, teamId));
  } catch (error) {
    // Somebody else was faster, and thorough.
    if ((error as Partial<CallError>).code !== 'team_closed') throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Those who are in the middle of something when the user has had enough are not asked. */
async function closeTeam(client: Client, teamId: string, reason: Outcome['reason']): Promise<void> {
  const down = { teamId, within: SHUTDOWN_MS, force: reason === 'interrupted' };
  await client.call('team.down', down, { commandId: newCommandId() });
}

/** The team stays open, to go on some other time. */
async function stopMembers(client: Client, teamId: string): Promise<void> {
  const members = await client.call('member.list', { teamId });
  const running = members.filter(({ agent, status }) => agent !== undefined && status !== 'stopped');
  if (running.length === 0) return;
  const setStatus = (status: 'active' | 'shutting-down') =>
    client.call('team.update', { teamId, status }, { commandId: newCommandId() });
  const stop = ({ id }: (typeof running)[number]) =>
    client.call('member.stop', { teamId, memberId: id, reason: 'troupe up ended' });
  // What was reserved for one that has stopped is free, and must not be taken by one that is just about to be.
  await setStatus('shutting-down');
  await Promise.all(running.map(stop));
  await setStatus('active');
}
