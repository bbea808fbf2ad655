import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import type { TeamState } from '../../core/state.ts';
import { shorten } from '../../core/text.ts';
import { waitingOf } from '../../core/waiting.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** A member whose workspace is opened. */
interface Who {
  readonly teamId: string;
  readonly memberId: string;
}

/** All these reasons begin like this: so the next opening knows which ones are its own to take back. */
const BEGINNING = 'its workspace ';

/** What is wrong if a save fails, such as on a full disk: the member tries again until it works. */
export const NOT_SAVED = 'cannot be saved';

/** The longest reason in a member's record. */
const REASON = 400;

/** What takes longer than this is told. Most folders open sooner, and nobody wants to read of it. Milliseconds. */
const SILENT_MS = 1_000;

/** Says to everyone what a member waits for before it can work. */
export interface Telling {
  /** The next step, such as `is being opened`. Told if it takes a while. */
  step(what: string): void;
}

/**
 * Does something for a member's workspace. If it takes a while or fails, the member's record says why the member waits;
 * when it is done, that is taken back, also what an earlier daemon said.
 */
export async function tellWhile<R>(
  ledger: Ledger,
  who: Who,
  work: (telling: Telling) => Promise<R>,
  failed = 'cannot be used',
): Promise<R> {
  let timer: NodeJS.Timeout | undefined;
  let told: Promise<void> = Promise.resolve();
  const say = (reason: string | null): void => {
    told = told.then(() => tell(ledger, who, reason));
  };
  const step = (what: string): void => {
    clearTimeout(timer);
    timer = setTimeout(() => say(BEGINNING + what), SILENT_MS);
  };
  try {
    const result = await work({ step });
    clearTimeout(timer);
    say(null);
    await told;
    return result;
  } catch (error) {
    clearTimeout(timer);
    const isOver = error instanceof TeamError && OVER.includes(error.code);
    if (!isOver) say(`${BEGINNING}${failed}: ${(error as Error).message}`);
    await told;
    throw error;
  }
}

/** Error codes that mean that the member waits for nothing. */
const OVER: readonly string[] = ['member_stopped', 'not_found', 'team_closed', 'stale_epoch', 'claim_conflict'];

/** Never throws: if this cannot be recorded, as on a full disk, the work itself says so. */
async function tell(ledger: Ledger, { teamId, memberId }: Who, reason: string | null): Promise<void> {
  const wanted = reason === null ? undefined : shorten(reason, REASON);
  try {
    const isNews = await ledger.view(teamId, (state) => differs(state, memberId, wanted));
    if (!isNews) return;
    const metadata = { waiting: wanted === undefined ? null : { reason: wanted } };
    await ledger.execute(teamId, { type: 'member.change', by: SYSTEM, memberId, metadata }, () => undefined);
  } catch {
    // The member is gone, or the journal is away.
  }
}

function differs({ members }: TeamState, memberId: string, wanted: string | undefined): boolean {
  const member = members.get(memberId);
  const now = member && waitingOf(member);
  return wanted === undefined ? (now?.startsWith(BEGINNING) ?? false) : now !== wanted;
}
