import type { TurnEnd } from '../agents/agent.ts';
import { graceLeft } from '../core/budget-use.ts';
import { describeUse, showAmount } from '../core/budget-words.ts';
import type { TeamEvent } from '../core/event.ts';
import type { Bench } from './bench.ts';
import { budgetsOf } from './budget.ts';
import type { Conversation } from './conversation.ts';
import type { TurnGuard } from './interruptions.ts';
import { saveWork } from './open-work.ts';
import type { Watch } from './watch.ts';

/** The parts of a member's process that take part. */
export interface OverrunOptions extends Pick<Bench, 'door' | 'who' | 'worksApart' | 'onError'> {
  readonly watch: Watch;
  /** A text can reach its running turn. */
  readonly canSteer: boolean;
  /** Its conversation, once it has one. */
  readonly conversation: () => Conversation;
  /** How long a turn may go on when a budget is used up, in milliseconds. */
  readonly graceMs?: number | undefined;
}

/** Long enough to end a thought and to write down where the work stands. */
const GRACE_MS = 120_000;

/**
 * Ends turns that run when a budget is used up. The agent is told first and has a short time to finish. Then the work is
 * saved and the turn is interrupted, unless a person has raised the budget meanwhile.
 */
export function watchOverrun(options: OverrunOptions): TurnGuard {
  const { watch, onError } = options;

  return {
    async during(run, { task }) {
      const turn = watchOne(options, task?.id);
      const stopListening = watch.onEvent((event) => turn.hear(event));
      // The budget may have been used up since the turn was allowed.
      turn.look();
      try {
        const end = await run();
        return { end, interrupted: interruptedBy(end, turn.endedFor()) };
      } finally {
        stopListening();
        await turn.close().catch(onError);
      }
    },
  };
}

function interruptedBy(end: TurnEnd, reason: string | undefined): string | undefined {
  return end.reason === 'cancelled' ? reason : undefined;
}

function watchOne(options: OverrunOptions, taskId: string | undefined) {
  const { door, who, canSteer, conversation, graceMs = GRACE_MS, onError } = options;
  let isOver = false;
  /** Since when a budget is used up, and which. */
  let since: number | undefined;
  let endedFor: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let mustLook = false;
  let looking: Promise<void> | undefined;
  let telling: Promise<unknown> | undefined;

  return { hear, look, endedFor: () => endedFor, close };

  function hear(event: TeamEvent): void {
    const isAsked = event.type === 'request:raised' && event.kind === 'budget' && concerns(event);
    if (isAsked || (since !== undefined && MATTERS.has(event.type))) look();
  }

  function concerns({ memberId, taskId: about, detail }: Extract<TeamEvent, { type: 'request:raised' }>): boolean {
    const of = detail?.['of'];
    return of === 'team' || (of === 'task' ? about === taskId : memberId === who.memberId);
  }

  function look(): void {
    mustLook = true;
    looking ??= lookAgain()
      .catch(onError)
      .finally(() => (looking = undefined));
  }

  async function lookAgain(): Promise<void> {
    while (mustLook && !isOver && endedFor === undefined) {
      mustLook = false;
      await act();
    }
  }

  async function act(): Promise<void> {
    const uses = await budgetsOf(door, who, taskId);
    clearTimeout(timer);
    const grace = graceLeft(uses, graceMs);
    const [tightest] = uses;
    if (isOver || grace === undefined || !tightest) {
      since = undefined;
      return;
    }
    const reason = describeUse(tightest, who.memberId);
    if (since === undefined) tell(reason, grace);
    since ??= performance.now();
    const left = Math.min(grace, since + graceMs - performance.now());
    if (left <= 0) await end(reason);
    else timer = setTimeout(look, left);
  }

  function tell(reason: string, grace: number): void {
    if (!canSteer || grace <= 0) return;
    const text =
      `Troupe: ${reason}. A person was asked for more. Bring what you are doing to a good state, say where it ` +
      `stands, and end your turn. It is interrupted in ${showAmount('minutes', grace / 60_000)}.`;
    telling = conversation()
      .steer({ text, messages: [] })
      .catch(onError)
      .finally(() => (telling = undefined));
  }

  async function end(reason: string): Promise<void> {
    await saveWork(options, { inTurn: true });
    if (isOver) return;
    endedFor = reason;
    await conversation().cancel();
  }

  async function close(): Promise<void> {
    isOver = true;
    clearTimeout(timer);
    await looking;
    // A text that came too late to join the turn would be a turn of its own, and cost more.
    if (telling) await conversation().cancel();
    await telling;
  }
}

/** After these, a budget may no longer be used up, or be used up even more. */
const MATTERS: ReadonlySet<TeamEvent['type']> = new Set([
  'usage:recorded',
  'request:answered',
  'team:updated',
  'teammate:changed',
  'task:updated',
]);
