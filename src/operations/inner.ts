import { z } from 'zod';
import { durationOf } from '../core/duration.ts';
import { TeamError } from '../core/errors.ts';
import { wordEvent } from '../core/event-words.ts';
import { rowOf } from '../core/events/table.ts';
import { ChosenId, Line, TaskId, textOf } from '../core/fields.ts';
import type { TeamParent } from '../core/inner.ts';
import { PROMPT_BYTES } from '../core/limits.ts';
import type { TeamState } from '../core/state.ts';
import { requireTask } from '../core/view.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { InnerTeams } from '../runtime/inner/inner-teams.ts';
import type { Standing } from '../runtime/inner/standing.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';
import type { Context } from './operation.ts';
import { waitFor } from './wait.ts';

const OfTask = InTeam.extend({ taskId: TaskId.describe('the task that the caller holds') });

/** After this long without an event, a team that does nothing does not go on by itself. */
const QUIET_MS = 5_000;

/** How many events of a team are told at once. */
const LINES = 50;

const Progress = z.object({
  teamId: z.string().describe('the team that works on the task'),
  seq: z.number().int().describe('pass it as `after`'),
  state: z.enum(['working', 'done', 'failed']),
  waiting: z.string().optional().describe('what it waits for besides its own work'),
  lines: z.array(z.string()).describe('what happened in it'),
  text: z.string().optional().describe('the answer of its lead, or why it failed'),
});
type Progress = z.output<typeof Progress>;

/** What a member that is a team asks of its daemon. It names only its task: the team file decides what runs. */
export const innerOperations = [
  operation({
    name: 'inner.begin',
    summary: 'Let the team of a member work on a task that the member holds',
    scope: 'member',
    input: OfTask.extend({
      turn: ChosenId.describe('the same for every try of one turn'),
      text: textOf(PROMPT_BYTES).describe('what the lead of the team is told'),
    }),
    result: z.object({ teamId: z.string() }),
    route: 'POST /api/teams/:teamId/tasks/:taskId/inner',
    cli: { args: ['taskId'], examples: ['troupe inner begin 3 --team demo --as rev --turn again-1 --text "Go on"'] },
    run: async (context, { teamId, taskId, turn, text }) => {
      const { inner, parent } = await requireInner(context, teamId, taskId);
      return { teamId: await inner.begin(parent, { id: turn, text }) };
    },
  }),
  operation({
    name: 'inner.follow',
    summary: 'Wait for news of the team that works on a task; while nobody waits, the team rests after a while',
    scope: 'member',
    input: OfTask.extend({
      after: z.number().int().min(0).default(0).describe('the last number that the caller knows'),
      waiting: Line.optional().describe('what it waited for, as far as the caller knows'),
      wait: durationOf(0, 300_000).default(0).describe('how long to wait'),
    }),
    result: Progress,
    route: 'POST /api/teams/:teamId/tasks/:taskId/inner/follow',
    cli: { args: ['taskId'], examples: ['troupe inner follow 3 --team demo --as rev'] },
    run: async (context, { teamId, taskId, after, waiting, wait }) => {
      const { inner, parent } = await requireInner(context, teamId, taskId);
      const innerId = await context.ledger.view(teamId, (state) => requireTask(state, taskId).inner?.teamId);
      if (innerId === undefined) throw new TeamError('conflict', `No team works on task ${taskId} yet`);
      const leave = inner.attend(innerId);
      try {
        return await follow(context, inner, { parent, innerId, after, waiting, wait });
      } finally {
        leave();
      }
    },
  }),
  operation({
    name: 'inner.tell',
    summary: 'Pass messages to the team that works on a task',
    scope: 'member',
    input: OfTask.extend({
      messageIds: z.array(z.string().max(200)).min(1).max(100).describe('messages in the inbox of the caller'),
    }),
    result: z.object({ taskId: z.string() }),
    route: 'POST /api/teams/:teamId/tasks/:taskId/inner/messages',
    cli: {
      args: ['taskId'],
      examples: ['troupe inner tell 3 --team demo --as rev --message-ids m1'],
    },
    run: async (context, { teamId, taskId, messageIds }) => {
      const { inner, parent } = await requireInner(context, teamId, taskId);
      await inner.tell(parent, messageIds);
      return { taskId };
    },
  }),
  operation({
    name: 'inner.rest',
    summary: 'Stop the members of the team that works on a task; it can go on later',
    scope: 'member',
    input: OfTask.extend({ reason: Line.default('its turn was ended').describe('why') }),
    result: z.object({ taskId: z.string() }),
    route: 'POST /api/teams/:teamId/tasks/:taskId/inner/rest',
    cli: { args: ['taskId'], examples: ['troupe inner rest 3 --team demo --as rev'] },
    run: async (context, { teamId, taskId, reason }) => {
      const { inner, parent } = await requireInner(context, teamId, taskId, { isHeld: false });
      await inner.rest(parent, reason);
      return { taskId };
    },
  }),
] as const;

/** The caller holds the task; to end its work it need not hold it any more. */
async function requireInner(
  { ledger, inner, actor }: Context,
  teamId: string,
  taskId: string,
  { isHeld = true } = {},
): Promise<{ inner: InnerTeams; parent: TeamParent }> {
  if (!inner) throw new TeamError('unsupported', 'This process runs no teams inside of members: use a daemon');
  const memberId = await ledger.view(teamId, (state) => holderOf(state, taskId, isHeld));
  if (actor !== memberId) throw new TeamError('not_allowed', `${actor} does not hold task ${taskId}`);
  return { inner, parent: { teamId, memberId, taskId } };
}

function holderOf(state: TeamState, taskId: string, isHeld: boolean): string | undefined {
  const { status, assigneeId, inner } = requireTask(state, taskId, { deleted: true });
  if (!isHeld) return inner?.memberId;
  return status === 'in_progress' ? assigneeId : undefined;
}

interface Followed {
  readonly parent: TeamParent;
  readonly innerId: string;
  readonly after: number;
  readonly waiting: string | undefined;
  readonly wait: number;
}

async function follow({ ledger, signal }: Context, inner: InnerTeams, followed: Followed): Promise<Progress> {
  const { parent, innerId, after, waiting, wait } = followed;
  const end = performance.now() + wait;
  for (;;) {
    const standing = await inner.standing(innerId);
    const { seq, kind, waiting: now } = standing;
    const told = { teamId: innerId, seq, ...(now !== undefined && { waiting: now.slice(0, 300) }) };
    const hasChanged = (ms: number): Promise<true | undefined> =>
      waitFor(ledger, innerId, () => ledger.view(innerId, (_state, at) => (at === seq ? undefined : true)), {
        ms,
        signal,
      });
    if (kind === 'done') {
      // Two looks may see different moments.
      if ((await inner.standing(innerId)).seq !== seq) continue;
      const left = await inner.bringHome(parent, innerId);
      const lines = await linesAfter(ledger, innerId, after);
      return { ...told, state: 'done', lines, text: withLeft(standing.answer ?? '', left) };
    }
    if (kind === 'stuck') {
      if (await hasChanged(QUIET_MS)) continue;
      // The wait ended early, because nobody hears the answer. To wait again would go round and round, and nothing else would run.
      if (signal.aborted) return { ...told, state: 'working', lines: [] };
      const lines = await linesAfter(ledger, innerId, after);
      return { ...told, state: 'failed', lines, text: whyFailed(innerId, standing) };
    }
    const lines = seq > after ? await linesAfter(ledger, innerId, after) : [];
    const left = end - performance.now();
    if (lines.length > 0 || told.waiting !== waiting || left <= 0 || signal.aborted) {
      return { ...told, state: 'working', lines };
    }
    await hasChanged(left);
  }
}

/** What happened in a team, one line for each event that people look for. */
async function linesAfter(ledger: Ledger, teamId: string, after: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const { events } of ledger.read(teamId, after)) {
    for (const event of events) {
      const mark = rowOf(event)?.mark ?? null;
      // A change of a member says nothing that people look for.
      if (mark === null || mark === 'message' || event.type === 'teammate:changed') continue;
      const { actor, text, reason } = wordEvent(event);
      lines.push(`${actor} ${text}${reason === undefined ? '' : `: ${reason}`}`);
    }
  }
  return lines.slice(-LINES);
}

function withLeft(answer: string, left: readonly string[]): string {
  return left.length === 0
    ? answer
    : `${answer}\n\nNot part of the result:\n${left.map((line) => `- ${line}`).join('\n')}`;
}

function whyFailed(teamId: string, { obstacles, answer, hasLanded }: Standing): string {
  const why = obstacles.length === 0 ? '' : `\n${obstacles.map((line) => `- ${line}`).join('\n')}`;
  const said = answer === undefined || answer === '' ? '' : `\n\nIts lead said last:\n${answer}`;
  const landed = hasLanded ? `\n\nWhat it did so far is kept: troupe diff --team ${teamId}` : '';
  return `Team ${teamId} cannot go on.${why}${said}${landed}`;
}
