import { TeamError } from '../core/errors.ts';
import type { TeamState } from '../core/state.ts';
import type { SharedTask } from '../core/task.ts';
import { JournalAwayError } from '../journal/away.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Context } from './operation.ts';
import { mattersToClaim, requireWelcome, waitFor } from './wait.ts';

/** The task that a caller waits for; without an id, the next one that is ready. */
interface Wanted {
  readonly teamId: string;
  readonly taskId?: string | undefined;
  readonly wait: number;
  readonly lease?: number | undefined;
}

/**
 * Takes a task as soon as there is one. A caller that gave up or disconnected before the answer was sent does not know
 * that it holds the task, so the task is released.
 */
export async function claimWaiting(context: Context, wanted: Wanted): Promise<SharedTask | null> {
  const { ledger, once, signal, whenAnswered } = context;
  const calls = callsUnder(ledger, wanted.teamId, once.commandId);
  const leave = (isHeard: boolean): Promise<void> => calls.leave(isHeard, (task) => giveBack(context, task));
  const { task, isNew } = await claim(context, wanted).catch(async (error: unknown) => {
    await leave(false);
    throw error;
  });
  if (task && isNew) calls.made = task;
  if (task && whenAnswered && !(signal.aborted && isNew)) {
    whenAnswered(leave);
    return task;
  }
  // A face without `whenAnswered` checks the signal itself.
  await leave(!whenAnswered);
  if (task && whenAnswered) requireWelcome(signal);
  return (!whenAnswered && task) || null;
}

/** The task, and whether this call claimed it, not an earlier one under the same id. */
async function claim(
  { ledger, tasks, actor, once, signal, progress }: Context,
  { teamId, taskId, wait, lease }: Wanted,
): Promise<{ task: SharedTask | undefined; isNew: boolean }> {
  const { commandId, isNew } = await ledger.view(teamId, (state) => idFor(state, actor, once.commandId));
  const options = { ...once, ...(commandId !== undefined && { commandId }), ...(lease !== undefined && { lease }) };
  const attempt = (): Promise<SharedTask | undefined> =>
    taskId === undefined
      ? tasks.claimNextTask(teamId, actor, options)
      : tasks.claimTask(teamId, taskId, actor, options).catch(orNotYet);
  const waiting = { ms: wait, signal, progress, matters: mattersToClaim };
  return { task: await waitFor(ledger, teamId, attempt, waiting), isNew };
}

function orNotYet(error: unknown): undefined {
  if (error instanceof TeamError && error.code === 'blocked') return undefined;
  throw error;
}

/**
 * The command id for the claim. A claim that was done is answered again. If the task was released since, because that
 * answer reached nobody, a new claim replaces it under another id.
 */
function idFor({ receipts, tasks }: TeamState, by: string, given: string | undefined): Under {
  for (let again = 0; given !== undefined; again++) {
    const commandId = again === 0 ? given : `${given}.again${again}`;
    const receipt = receipts.get(commandId);
    if (!receipt) return { commandId, isNew: true };
    const { status = 'pending', assigneeId } = tasks.get(receipt.taskId ?? '') ?? {};
    const isLost = status === 'pending' || (status === 'in_progress' && assigneeId !== by);
    // If another program did not confirm the claim, the next attempt has already followed.
    if (!isLost || receipt.by !== by || receipts.has(`${commandId}.2`)) return { commandId, isNew: false };
  }
  return { commandId: undefined, isNew: true };
}

interface Under {
  readonly commandId: string | undefined;
  /** Nothing was done under this id yet. */
  readonly isNew: boolean;
}

/** Releases only what this call claimed: if the holder or the epoch has changed, the task stays as it is. */
async function giveBack({ ledger, actor, once: { onHost } }: Context, task: SharedTask): Promise<void> {
  const { teamId, id: taskId, epoch } = task;
  const speaker = onHost === undefined ? {} : { onHost };
  const reason = 'the claim was cancelled';
  try {
    const release = { type: 'task.release', by: actor, ...speaker, taskId, epoch, reason } as const;
    await ledger.execute(teamId, release, () => undefined);
  } catch (error) {
    if (!(error instanceof TeamError) || error instanceof JournalAwayError) throw error;
  }
}

/**
 * The running calls under one command id. A client that lost its connection calls again under the same id, perhaps
 * before the loss is noticed here. The task that one of them claimed is released if none of their answers arrived.
 */
class Calls {
  made: SharedTask | undefined;
  #open = 0;
  #wasHeard = false;
  readonly #forget: () => void;

  constructor(forget: () => void) {
    this.#forget = forget;
  }

  join(): this {
    this.#open++;
    return this;
  }

  async leave(isHeard: boolean, giveBack: (task: SharedTask) => Promise<void>): Promise<void> {
    this.#wasHeard ||= isHeard;
    if (--this.#open > 0) return;
    this.#forget();
    if (this.made && !this.#wasHeard) await giveBack(this.made);
  }
}

const UNDER_WAY = new WeakMap<Ledger, Map<string, Calls>>();

function callsUnder(ledger: Ledger, teamId: string, commandId: string | undefined): Calls {
  if (commandId === undefined) return new Calls(() => {}).join();
  const all = UNDER_WAY.get(ledger) ?? new Map<string, Calls>();
  UNDER_WAY.set(ledger, all);
  const key = `${teamId}/${commandId}`;
  const calls = all.get(key) ?? new Calls(() => all.delete(key));
  all.set(key, calls);
  return calls.join();
}
