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

/** How to follow a team to its end. */
export interface AccompanyOptions extends Omit<FollowOptions, 'signal' | 'onTrouble'> {
  readonly ending: Ending;
  readonly environment: NodeJS.ProcessEnv;
  /** Whether each member gets a pane, if the terminal has panes. */
  readonly panes: boolean;
  /** Whether the team stays up when its work is done. */
  readonly keep: boolean;
  readonly trouble: Trouble;
  /** Whether the same command can continue the work. Then an unfinished team stays open. */
  readonly goesOn: boolean;
}

/** Without a follower, agents would go on and cost money. So whatever ends us stops them, also a closed pipe. */
export function listenForTeamEnd(): Ending {
  const ending = listenForEnd(INTERRUPTED);
  whenReaderGone(() => ending.end());
  return ending;
}

/** Shows a team until there is nothing left to do, then stops it. Fails with `no_daemon` when the daemon is stopped. */
export async function accompany(
  client: Client,
  team: ResultOf<'team.up'>,
  options: AccompanyOptions,
): Promise<Outcome> {
  const stopped = new Refusal('no_daemon', describeStop(team.name, options));
  let isOver = false;
  // All calls fail then, and nothing waits any longer.
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
  // The first Ctrl-C stops the team, which may take a while; the second exits at once.
  ending.onAgain(() => leaveAtOnce(team, options));
  const interrupted = (): void => {
    // There is no daemon that could stop the team.
    if (trouble.isStopped()) leaveAtOnce(team, options);
    if (screen.isTerminal && !json && holder.isUs()) {
      warn(fold('Stopping its members; Ctrl-C again exits at once.\n', screen));
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
  // A daemon that is stopped stops its members first. So the members are not the cause.
  if (outcome.reason !== 'done' && trouble.isStopped()) throw stopped;
  // A team that waits for a person stays up: if it were stopped, it could not continue with the answer.
  const stays = outcome.reason === 'person' || (options.keep && outcome.reason !== 'interrupted');
  // Checked again: the other `troupe up` may be gone by now, and then nobody else stops the members.
  const isOurs = holder.isUs();
  try {
    if (!stays && isOurs) await takeDown(client, team.name, outcome, options);
  } finally {
    holder.release();
  }
  const work = team.work && (await client.call('work.show', { teamId: team.name }));
  const hasLanded = work !== undefined && work.tip !== work.base;
  const diff = hasLanded && (await client.call('work.diff', { teamId: team.name, stat: true }));
  const { isOpen, ...left } = await lookBack(client, outcome);
  return {
    ...outcome,
    ...left,
    ...(work && { work }),
    ...(diff && { changes: diff.changes }),
    // Another `troupe up` closes a team that is done.
    open: isOpen && (stays || outcome.reason !== 'done'),
    ...(!isOurs && { elsewhere: true }),
  };
}

/** Printed at once, so that people know what Ctrl-C does. */
function lookOnNotice(teamId: string): string {
  return `troupe: team ${clean(teamId)} already runs in another troupe up, which ends it when it is done or interrupted. Ctrl-C here only stops watching.\n`;
}

/** Reads tasks and members again, because stopped members released their tasks. Counts rejections over all rounds. */
async function lookBack(
  client: Client,
  outcome: Outcome,
): Promise<Pick<Outcome, 'tasks' | 'members' | 'sentBack' | 'troubles' | 'worked'> & { isOpen: boolean }> {
  const { team: teamId, reason } = outcome;
  const { isOpen, tasks, members, troubles, asked } = await look(client, teamId);
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
  // Members as they were before we stopped them show why the team got stuck.
  return { isOpen, tasks, members: reason === 'stuck' ? outcome.members : members, sentBack, troubles, worked };
}

/** Says what is left running: members were not asked to stop, or not all have answered. */
function leaveAtOnce({ name, members }: ResultOf<'team.up'>, { screen, json }: AccompanyOptions): never {
  if (screen.isTerminal && !json) print('\x1b[?25h');
  const agents = members.filter(({ agent }) => agent !== undefined).map(({ id }) => clean(id));
  const who = agents.length === 0 ? '' : `${agents.join(', ')} may still run (troupe ps). `;
  warn(`\ntroupe: team ${clean(name)} is still open. ${who}To stop it: troupe down ${clean(name)}\n`);
  process.exit(INTERRUPTED);
}

/** Says how to continue a team that was stopped with its daemon. */
function describeStop(teamId: string, { goesOn }: AccompanyOptions): string {
  const next = goesOn ? 'The same command continues it.' : `To close it: troupe down ${clean(teamId)}`;
  return `The daemon was stopped, and team ${clean(teamId)} with it. ${next}`;
}

/**
 * A team is done when all tasks are completed and its lead has given its last answer. Otherwise the exit code is not 0.
 */
export function exitCode(outcome: Outcome): number {
  if (outcome.reason === 'interrupted') return INTERRUPTED;
  return outcome.reason === 'done' ? 0 : 1;
}

/** A narrower window, once split, would show neither the progress nor the panes. */
const PANES_COLUMNS = 100;

/** Inside tmux or iTerm2 each member gets a pane; elsewhere the progress shows everything. */
async function openPanesFor(
  team: ResultOf<'team.up'>,
  { panes, screen, json, environment, ending: { signal } }: AccompanyOptions,
): Promise<{ close(): Promise<void> } | undefined> {
  if (!panes || !screen.isTerminal || json || screen.columns < PANES_COLUMNS) return undefined;
  const members = team.members.filter(({ agent }) => agent !== undefined).map(({ id }) => id);
  const { openPanes } = await import('./panes.ts');
  return openPanes(team.name, members, { mode: team.teammateMode, environment, signal });
}

/** Longer than idle members take to stop. After that, people should know what is waited for. */
const SILENCE_MS = 2_000;
const SHUTDOWN_MS = 10_000;

/** Stops the team, and says what it waits for if that takes a while. */
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
    // Somebody else has already closed the team.
    if ((error as Partial<CallError>).code !== 'team_closed') throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** After an interruption, busy members are not asked to stop but killed. */
async function closeTeam(client: Client, teamId: string, reason: Outcome['reason']): Promise<void> {
  // When all is done, a turn of each agent to say so would only cost money.
  const down = { teamId, within: SHUTDOWN_MS, force: reason === 'interrupted', ask: reason !== 'done' };
  await client.call('team.down', down, { commandId: newCommandId() });
}

/** Stops the members. The team stays open, to continue later. */
async function stopMembers(client: Client, teamId: string): Promise<void> {
  await client.call('team.rest', { teamId, reason: 'troupe up ended' }, { commandId: newCommandId() });
}
