import type { TaskJson, TeamTools, TurnEnd } from '../agents/agent.ts';
import type { AgentSpec } from '../core/agent.ts';
import { TeamError } from '../core/errors.ts';
import { LINE_LENGTH } from '../core/limits.ts';
import { oneLine, shorten } from '../core/text.ts';
import { openAccount } from './account.ts';
import type { Waiting } from './account.ts';
import type { Bench } from './bench.ts';
import { isSpent, waitForBudget } from './budget.ts';
import type { Conversation } from './conversation.ts';
import type { Door } from './door.ts';
import { beginToLead } from './lead.ts';
import { startLoggedIn, Switched } from './logged-in.ts';
import { openMail } from './mail.ts';
import { watchSilence } from './member-silence.ts';
import type { WatchedMember } from './member-silence.ts';
import { closingDoor, isInterrupted, isOver, onStopped } from './over.ts';
import { watchOverrun } from './overrun.ts';
import { patientDoor } from './patience.ts';
import { answerPermissions } from './permissions.ts';
import { waitForAnswers } from './questions.ts';
import { Teammate } from './teammate-steps.ts';
import type { Ending, StepsOptions } from './teammate-steps.ts';
import { hasHeard, shownMessages } from './transcript.ts';
import { pauseFor, watchTeam } from './watch.ts';
import { isHeld } from './work.ts';

/** One teammate: its identity, its agent, and how it reaches its team. */
export interface TeammateOptions extends StepsOptions, WatchedMember {
  readonly door: Door;
  /** A person's permission rules. */
  readonly permissions?: AgentSpec['permissions'];
  /** The path of a session's transcript. */
  readonly transcriptPath: (sessionId: string) => string;
  /** The team's tools as they are now: their credential changes with `troupe token rotate`. */
  readonly toolsNow?: () => TeamTools;
  /** What its turns are charged to, if known. */
  readonly account?: string | undefined;
  /** What the turns of its fallbacks would be charged to, by their names. */
  readonly fallbackAccounts?: Readonly<Record<string, string>> | undefined;
  /** Whether it can go on with another agent: then it ends with `switched`, and is run again with that one. */
  readonly switches?: boolean;
  /** It takes over from another agent: why, for its first turn. */
  readonly handover?: string | undefined;
  /** The pauses before an account is tried again whose provider names no time, in milliseconds; for tests. */
  readonly retryAfter?: (attempt: number) => number | undefined;
  /** How long a turn may go on when a budget is used up, in milliseconds. */
  readonly graceMs?: number;
  /** How often the usage of a running turn is recorded at most, in milliseconds. */
  readonly spendingMs?: number;
}

/**
 * The life of a teammate until it is asked to stop: read messages, claim a task, do it, complete or fail it, go idle. A
 * lead lives the same way, but gets digests and takes only tasks reserved for it. Both sleep until something happens;
 * they never poll.
 */
export async function runTeammate(options: TeammateOptions): Promise<Ending> {
  // Whatever ends it, nothing follows the team or acts in its name afterwards.
  const over = new AbortController();
  try {
    const door = closingDoor(options.door, over.signal);
    return await runUntil(over, { ...options, door, signal: AbortSignal.any([options.signal, over.signal]) });
  } catch (error) {
    if (isOver(error)) return 'over';
    if (error instanceof Switched) return 'switched';
    throw error;
  } finally {
    over.abort();
  }
}

async function runUntil(over: AbortController, given: TeammateOptions): Promise<Ending> {
  const replaced = new AbortController();
  const options = { ...given, signal: AbortSignal.any([given.signal, replaced.signal]) };
  const { agent, start, signal, transcriptPath } = options;
  const onError = (error: unknown): void => options.onError?.(error);
  const door = patientDoor(options.door, { signal, onError });
  const who = { teamId: start.teamId, memberId: start.memberId };
  const { leadId } = await door.call('team.show', { teamId: who.teamId });
  const leads = leadId === who.memberId;
  const watch = watchTeam(door, { ...who, leads }, { signal, onError });
  const { sessionId: lastSession, spawnPrompt: goal = '', metadata } = await door.call('member.show', who);
  const mail = await openMail(door, who, shownMessages(transcriptPath(lastSession)));
  const tellWaiting = async (waiting: Waiting | undefined): Promise<void> => {
    const { until, ...rest } = waiting ?? { reason: '' };
    const said = { ...rest, reason: shorten(rest.reason, 300), ...(until !== undefined && { until }) };
    await door.call('member.update', { ...who, metadata: { waiting: waiting ? said : null } });
  };
  const sayWaiting = (reason: string | undefined, until?: number): Promise<void> =>
    tellWaiting(reason === undefined ? undefined : { reason, until });
  const { account: own, fallbackAccounts } = options;
  if (own !== undefined || fallbackAccounts) {
    const accounts = { ...(own !== undefined && { account: own }), ...(fallbackAccounts && { fallbackAccounts }) };
    await door.call('member.update', { ...who, ...accounts });
  }
  // An earlier process ended while it waited.
  if (metadata?.['waiting']) await tellWaiting(undefined);
  const account = openAccount({
    account: own,
    switches: options.switches,
    door,
    who,
    watch,
    tellWaiting,
    retryAfter: options.retryAfter,
  });
  let forget = (): void => {};
  const turnWatch = watchSilence(options, {
    door,
    who,
    watch,
    tell: tellWaiting,
    onError,
    conversation: () => conversation,
  });
  const { graceMs, worksApart = false } = options;
  const canSteer = agent.abilities.steer;
  const overrun = watchOverrun({
    door,
    who,
    watch,
    worksApart,
    canSteer,
    graceMs,
    onError,
    conversation: () => conversation,
  });
  const answer = answerPermissions({ door, who, cwd: start.cwd, watch, rules: options.permissions, onError });
  const conversation: Conversation = await startLoggedIn(
    account,
    { door, who, signal },
    {
      agent,
      start,
      transcriptPath,
      toolsNow: options.toolsNow,
      watch,
      signal,
      spendingMs: options.spendingMs,
      hearing: {
        shown: (messageIds) => mail.acknowledge(messageIds),
        usage: async (usage, taskId, context) =>
          void (await door.call('usage.record', {
            ...who,
            usage,
            ...(taskId !== undefined && { taskId }),
            ...(context && { context }),
          })),
        heard(event) {
          turnWatch?.hear(event);
          // The last that this process says is the reason of its crash.
          if (event.type === 'turnEnd' && event.lost) onError(lostError(event));
        },
        permission: (permission, mode) => answer(turnWatch?.asked(permission) ?? permission, mode),
        opened: async (sessionId) => void (await door.call('member.update', { ...who, status: 'active', sessionId })),
        compacted: () => forget(),
        waiting: sayWaiting,
        begun: () => account.begun(),
        answered: () => account.answered(),
        limits: (windows) => account.heard(windows),
        failed: onError,
      },
    },
  );
  const mustLeave = (task?: TaskJson) => async (): Promise<boolean> =>
    (await isInterrupted(door, who, signal)) || (task !== undefined && !(await isHeld({ door, who }, task)));
  const bench: Bench = {
    door,
    who,
    conversation,
    mail,
    guards: [...(turnWatch ? [turnWatch] : []), overrun],
    async mayTurn(task) {
      for (;;) {
        if (!(await account.wait(mustLeave(task)))) return false;
        // While it waited for the one, others may have used up the other.
        if (!(await isSpent(door, who, task))) return true;
        const mayGoOn = { watch, isInterrupted: mustLeave(task) };
        if (!(await waitForBudget({ door, who, tellWaiting }, task, mayGoOn))) return false;
      }
    },
    answered: (task) => waitForAnswers({ door, who, tellWaiting }, task, { watch, isInterrupted: mustLeave(task) }),
    pause: (ms, task) => pauseFor(ms, watch, mustLeave(task)),
    account,
    handover: { why: options.handover },
    tellWaiting,
    worksApart,
    signal,
    onError,
  };
  const resumed = agent.abilities.resume ? start.resume : undefined;
  const knowsGoal = leads && resumed !== undefined && hasHeard(transcriptPath(resumed), goal);
  const lead = leads ? beginToLead(bench, { goal, knowsGoal }) : undefined;
  if (lead) forget = () => lead.forget();
  const teammate = new Teammate(options, bench, watch, lead);
  onStopped(watch, who.memberId, () => replaced.abort());
  try {
    const ending = await Promise.race([
      teammate.live(),
      conversation.lost.then((): Ending => (over.abort(), 'crashed')),
    ]);
    return ending === 'stopped' && !given.signal.aborted ? 'over' : ending;
  } finally {
    await conversation.close();
  }
}

function lostError({ error = 'the agent ended' }: TurnEnd): TeamError {
  return new TeamError('conflict', oneLine(error, LINE_LENGTH));
}
