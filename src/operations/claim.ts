import { TeamError } from '../core/errors.ts';
import type { TeamState } from '../core/state.ts';
import type { SharedTask } from '../core/task.ts';
import { JournalAwayError } from '../journal/away.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Context } from './operation.ts';
import { mattersToClaim, requireWelcome, waitFor } from './wait.ts';

/** A task that somebody waits for: the next one that is ready when none is named. */
interface Wanted {
  readonly teamId: string;
  readonly taskId?: string | undefined;
  readonly wait: number;
}

/**
 * Takes a task as soon as there is one. Whoever gave up meanwhile, or was gone before the answer was out, does not know
 * that it holds it: it is given back.
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
  // A face that cannot tell later looks at the signal itself.
  await leave(!whenAnswered);
  if (task && whenAnswered) requireWelcome(signal);
  return (!whenAnswered && task) || null;
}

/** The task, and whether it was claimed now, and not by an earlier call under the same id. */
async function claim(
  { ledger, tasks, actor, once, signal, progress }: Context,
  { teamId, taskId, wait }: Wanted,
): Promise<{ task: SharedTask | undefined; isNew: boolean }> {
  const { commandId, isNew } = await ledger.view(teamId, (state) => idFor(state, actor, once.commandId));
  const options = { ...once, ...(commandId !== undefined && { commandId }) };
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
 * Under which id the claim is made. One that was done is answered again; where the task was given back since, because that
 * answer reached nobody, another claim is made in its place.
 */
function idFor({ receipts, tasks }: TeamState, by: string, given: string | undefined): Under {
  for (let again = 0; given !== undefined; again++) {
    const commandId = again === 0 ? given : `${given}.again${again}`;
    const receipt = receipts.get(commandId);
    if (!receipt) return { commandId, isNew: true };
    const { status = 'pending', assigneeId } = tasks.get(receipt.taskId ?? '') ?? {};
    const isLost = status === 'pending' || (status === 'in_progress' && assigneeId !== by);
    // What another keeper of the task did not confirm was followed by another claim already.
    if (!isLost || receipt.by !== by || receipts.has(`${commandId}.2`)) return { commandId, isNew: false };
  }
  return { commandId: undefined, isNew: true };
}

interface Under {
  readonly commandId: string | undefined;
  /** Nothing was done under it yet. */
  readonly isNew: boolean;
}

/** Only what was claimed for the call: if it is another's by now, or was claimed anew, it stays as it is. */
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
 * The calls that are under way under one command id. A client that lost its connection asks again under the same id, maybe
 * before that is noticed here: what one of them claimed is given back when none of them was heard.
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
