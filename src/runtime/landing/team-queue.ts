import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { SYSTEM } from '../../core/actor.ts';
import { backOff } from '../../core/back-off.ts';
import { LINE_LENGTH } from '../../core/limits.ts';
import { isExpected } from '../../core/state.ts';
import type { TeamState } from '../../core/state.ts';
import { oneLine } from '../../core/text.ts';
import type { EndLandingInput, HandedIn } from '../../core/work.ts';
import type { NewCommand } from '../../ledger/ledger.ts';
import { judgesCompletions } from '../../ledger/task-gate.ts';
import { openAlone } from './alone.ts';
import { openBatches } from './batches.ts';
import { unlessStale } from './queue-options.ts';
import type { QueueOptions } from './queue-options.ts';
import { endOf, nameOfWork, notAccepted, queueOf, rejectionOf } from './queued.ts';
import type { QueuedWork } from './queued.ts';
import { judge, unready } from './verdict.ts';
import type { Verdict } from './verdict.ts';

/** A work, merged onto the tip or onto the work before it. */
interface Merged {
  readonly queued: QueuedWork;
  readonly work: HandedIn;
}

/**
 * The merge queue of one team on this daemon. It merges what waits, one work after the other and in memory, lets the gates
 * judge the result, and lands it. At most one landing of a team is open, on whichever machine. Everything that counts is
 * in the journal: what is known only here is found out again after a restart.
 */
export function openTeamQueue(teamId: string, options: QueueOptions) {
  const { ledger, gate, git, hostId, onError } = options;
  const batches = openBatches();
  /** What is being landed. */
  let chosen: readonly QueuedWork[] = [];
  const alone = openAlone(teamId, { ...options, wake, chosen: () => chosen });
  let running: Promise<void> | undefined;
  const closing = new AbortController();
  /** Works that could not be merged, and when each is tried again. */
  const broken = new Map<string, number>();
  let isWoken = false;

  return {
    wake,
    /** What is known here about a work that waits. */
    aloneOf: alone.of,
    /** Begins nothing more. A gate that runs now may take minutes; its verdict no longer counts. */
    close(): void {
      closing.abort();
      alone.close();
    },
  };

  /** Something changed: looks at the queue, now or after what is under way. */
  function wake(): void {
    isWoken = true;
    if (closing.signal.aborted) return;
    if (running) {
      void alone.judgeWaiting();
      return;
    }
    running = run().finally(() => {
      running = undefined;
      // Woken after its last look.
      if (isWoken) wake();
    });
  }

  async function run(): Promise<void> {
    let failures = 0;
    while (isWoken && !closing.signal.aborted) {
      isWoken = false;
      try {
        while (!closing.signal.aborted && (await landNext())) failures = 0;
      } catch (error) {
        if (closing.signal.aborted) return;
        onError(error, { teamId });
        // A full disk, an unreachable server: it may pass.
        isWoken = true;
        const { signal } = closing;
        await setTimeout(backOff(++failures, PAUSES), undefined, { signal }).catch(() => {});
      }
    }
  }

  /** Makes one landing. False if there is nothing to do here. */
  async function landNext(): Promise<boolean> {
    chosen = [];
    if (!(await mayLand())) {
      void alone.judgeWaiting();
      return false;
    }
    const isJudged = await judgesCompletions(gate, teamId);
    const queue = await ledger.view(teamId, queueOf);
    const refused = isJudged ? [] : queue.filter((work) => work.refused);
    await leaveToPerson(refused);
    const sound = queue.filter((work) => !isBroken(work) && !refused.includes(work));
    chosen = batches.next(sound, isJudged ? alone.of : () => 'assumed');
    if (chosen.length === 0) return false;
    const { merged, hasSentBack } = await mergeAll(chosen);
    if (merged.length === 0) return hasSentBack;
    return isJudged ? landJudged(merged) : landAtOnce(merged);
  }

  /** Whether this daemon makes the next landing. One that a daemon left open is dropped first. */
  async function mayLand(): Promise<boolean> {
    const { landing, isOthers } = await ledger.view(teamId, (state) => ({
      landing: state.team?.work?.landing,
      isOthers: isOfAnother(state),
    }));
    if (isOthers) return false;
    if (!landing) return true;
    const why = landing.hostId === hostId ? 'its daemon was restarted' : `the machine ${landing.hostId} is gone`;
    await end(landing.id, 'dropped', why);
    return true;
  }

  /** The daemon of the last landing goes on while it lives and has members of the team: its folder is ready for the gates. */
  function isOfAnother({ team, members }: TeamState): boolean {
    if (!team?.work || team.status === 'cleaned-up' || (team.work.queue ?? []).length === 0) return true;
    const { landing, queueHost = hostId } = team.work;
    const other = landing?.hostId ?? queueHost;
    if (other === hostId || !options.isAlive(other)) return false;
    return landing !== undefined || [...members.values()].some((one) => one.hostId === other && isExpected(one));
  }

  /** Merges works in their order. What conflicts with the tip goes back; what conflicts with a work before it waits. */
  async function mergeAll(works: readonly QueuedWork[]): Promise<{ merged: Merged[]; hasSentBack: boolean }> {
    const tip = await ledger.view(teamId, ({ team }) => team?.work?.tip ?? '');
    const merged: Merged[] = [];
    let hasSentBack = false;
    let onto = tip;
    for (const queued of works) {
      const work = await tryToMerge(queued, onto);
      if (!work) continue;
      if (work.merged !== undefined) {
        merged.push({ queued, work });
        onto = work.merged;
      } else if (onto === tip) {
        await sendBack(queued, work);
        hasSentBack = true;
      }
    }
    return { merged, hasSentBack };
  }

  /** A work that cannot be merged, such as one whose pack is missing, must not keep the others from landing. */
  async function tryToMerge(queued: QueuedWork, onto: string): Promise<HandedIn | undefined> {
    try {
      return await git.mergeOnto(teamId, queued, onto);
    } catch (error) {
      onError(error, { teamId });
      if (await git.isGone(teamId, queued)) {
        await giveBack(queued, GONE);
        return undefined;
      }
      broken.set(nameOfWork(queued), Date.now() + BROKEN_MS);
      return undefined;
    }
  }

  function isBroken(work: QueuedWork): boolean {
    const name = nameOfWork(work);
    if ((broken.get(name) ?? 0) > Date.now()) return true;
    broken.delete(name);
    return false;
  }

  async function sendBack(queued: QueuedWork, work: HandedIn): Promise<void> {
    const said = await git.explain(teamId, work);
    await giveBack(queued, queued.left ? `${LEFT}\n${said}` : said, work);
  }

  async function giveBack(queued: QueuedWork, feedback: string, work?: HandedIn): Promise<void> {
    await unlessStale(() => ledger.execute(teamId, rejectionOf(queued, { feedback, work }), () => undefined));
  }

  async function landAtOnce(merged: readonly Merged[]): Promise<boolean> {
    const { begin, ends } = await planOf(merged);
    return (await unlessStale(() => ledger.execute(teamId, [begin, ...ends(false)], () => true))) ?? false;
  }

  async function landJudged(merged: readonly Merged[]): Promise<boolean> {
    const { begin, ends } = await planOf(merged);
    const works = merged.map(({ queued }) => queued);
    const isBegun = await unlessStale(() => ledger.execute(teamId, begin, () => true));
    if (!isBegun) return false;
    void alone.judgeWaiting();
    try {
      const verdict = await judgeMerged(merged);
      if (closing.signal.aborted) return false;
      const refused = verdict.isGreen && !verdict.accepted ? works.filter((work) => work.refused) : [];
      if (refused.length > 0) {
        await end(begin.landingId, 'dropped', 'a model refused, and no gate judged its work');
        await leaveToPerson(refused);
      } else if (verdict.isGreen) {
        batches.passed(works);
        const isLanded = await unlessStale(() => ledger.execute(teamId, ends(verdict.accepted), () => true));
        if (!isLanded) await end(begin.landingId, 'dropped', 'the branch moved, or a work was withdrawn');
      } else {
        batches.failed(works);
        await reject(begin.landingId, works, verdict);
      }
    } catch (error) {
      if (closing.signal.aborted) return false;
      await end(begin.landingId, 'dropped', oneLine((error as Error).message, LINE_LENGTH)).catch(() => {});
      throw error;
    }
    return true;
  }

  /** Judges in the holder's folder if that has just what would land, else in the folder of the queue. */
  async function judgeMerged(merged: readonly Merged[]): Promise<Verdict> {
    const works = merged.map(({ queued }) => queued);
    // What adds nothing to the tip was judged with it. Whether a refused task is done was not.
    const isOnTip = merged.every(({ work }) => work.merged === work.onto);
    if (isOnTip && !works.some((work) => work.refused)) return { isGreen: true, accepted: false };
    const [only] = merged;
    if (merged.length === 1 && only && only.work.onto === only.queued.base) {
      if (alone.of(only.queued) === 'green') return { isGreen: true, accepted: true };
      if (await alone.canJudge(only.queued)) {
        const verdict = await judge(options, teamId, { works });
        if (await git.isAsHandedIn(teamId, only.queued)) return verdict;
      }
    }
    const folder = await git.checkOut(teamId, merged.at(-1)?.work.merged ?? '');
    return 'problem' in folder ? unready(folder) : judge(options, teamId, { works, folder });
  }

  async function reject(
    landingId: string,
    works: readonly QueuedWork[],
    { feedback, gate: hook, unable, unapproved }: Extract<Verdict, { isGreen: false }>,
  ): Promise<void> {
    const [only] = works;
    if (works.length > 1 || !only) return end(landingId, 'split', 'rejected together: the halves follow');
    const why = oneLine(feedback, LINE_LENGTH);
    const ended = { type: 'landing.end', by: SYSTEM, landingId, how: unable ? 'dropped' : 'red', why } as const;
    const rejection = notAccepted(only, { feedback, gate: hook, ...(unable && { unable, unapproved }) });
    const isSaid = await unlessStale(() => ledger.execute(teamId, [ended, rejection], () => true));
    if (!isSaid) await end(landingId, 'dropped', 'the work was withdrawn');
  }

  /** A person decides about work whose model refused, if no gate does. */
  async function leaveToPerson(works: readonly QueuedWork[]): Promise<void> {
    for (const work of works) {
      await unlessStale(() => ledger.execute(teamId, notAccepted(work, {}), () => undefined));
    }
  }

  async function planOf(merged: readonly Merged[]) {
    const published = await git.publish(
      teamId,
      merged.map(({ work }) => work),
    );
    const landingId = randomUUID();
    const [{ onto } = { onto: '' }] = published;
    const begin = {
      type: 'landing.begin' as const,
      by: SYSTEM,
      landingId,
      hostId,
      onto,
      merged: published.at(-1)?.merged ?? onto,
      works: merged.map(({ queued: { taskId, epoch, commit } }) => ({ taskId, epoch, commit })),
    };
    const ends = (accepted: boolean): NewCommand[] =>
      merged.map(({ queued }, i) => endOf(queued, { ...(published[i] as HandedIn), landingId }, { accepted }));
    return { begin, ends };
  }

  async function end(landingId: string, how: EndLandingInput['how'], why: string): Promise<void> {
    await ledger.execute(teamId, { type: 'landing.end', by: SYSTEM, landingId, how, why }, () => undefined);
  }
}

/** When a work that could not be merged is tried again. */
const BROKEN_MS = 10_000;

/** Between tries after a failure. */
const PAUSES = { least: 500, most: 30_000 };

export type TeamQueue = ReturnType<typeof openTeamQueue>;

/** The holder's folder still has its files. */
const GONE =
  'The repository in which Troupe had this work was removed or damaged, and the work with it. ' +
  'The files are still in the folder: complete the task again.';

/** For whoever does the task again. */
const LEFT = 'Its holder stopped after it had handed in. troupe diff shows that work; begin from the present files.';
