import { judgesCompletions } from '../../ledger/task-gate.ts';
import type { Alone } from './batches.ts';
import { unlessStale } from './queue-options.ts';
import type { QueueOptions } from './queue-options.ts';
import { nameOfWork, notAccepted, queueOf } from './queued.ts';
import type { QueuedWork } from './queued.ts';
import { judge } from './verdict.ts';

/** How many works of a team are judged alone at once, if its team file does not say. */
const GATES = 2;

/** What judging alone needs. */
interface AloneOptions extends QueueOptions {
  readonly wake: () => void;
  /** What this daemon lands, also before the journal says so: merging takes a while. It is judged there. */
  readonly chosen: () => readonly QueuedWork[];
}

/**
 * Judges works alone, each in its holder's folder, while they wait for their landing. What is bad goes back without
 * having spoiled a landing of several.
 */
export function openAlone(teamId: string, options: AloneOptions) {
  const { ledger, git, onError, wake, chosen } = options;
  const known = new Map<string, Exclude<Alone, undefined>>();
  /** The works whose gates run, also those that went back meanwhile. */
  const running = new Set<string>();
  let isClosed = false;

  return {
    of: (work: Parameters<typeof nameOfWork>[0]): Alone => known.get(nameOfWork(work)),

    /** Whether a work can be judged in its holder's folder. */
    canJudge: (work: QueuedWork): Promise<boolean> =>
      ledger.view(teamId, (state) => isNear(work, git.isHere(state, work.memberId))),

    /** Begins to judge what waits, as far as there is room. */
    async judgeWaiting(): Promise<void> {
      try {
        if (!(await judgesCompletions(options.gate, teamId))) return;
        const { queue, gates, landing } = await ledger.view(teamId, (state) => ({
          queue: queueOf(state).map((work) => ({ work, isHere: git.isHere(state, work.memberId) })),
          gates: state.team?.work?.gates ?? GATES,
          landing: state.team?.work?.landing?.works ?? [],
        }));
        forgetOthers(queue.map(({ work }) => work));
        const isBusy = new Set([...landing, ...chosen()].map(nameOfWork));
        for (const { work, isHere } of queue) {
          if (isClosed || (gates > 0 && running.size >= gates)) return;
          const name = nameOfWork(work);
          // Handed in again unchanged, it waits for the gates that run in its folder.
          if (known.has(name) || running.has(name) || isBusy.has(name)) continue;
          // Its own machine judges it.
          if (gates === 0 || !isNear(work, isHere)) known.set(name, 'assumed');
          else begin(work);
        }
      } catch (error) {
        if (!isClosed) onError(error, { teamId });
      }
    },

    close(): void {
      isClosed = true;
    },
  };

  function begin(work: QueuedWork): void {
    const name = nameOfWork(work);
    known.set(name, 'judging');
    running.add(name);
    void judgeAlone(work)
      .catch((error: unknown) => {
        // The landing tries it, with a pause after each failure: here it would be judged again at once, without end.
        known.set(name, 'unclear');
        if (!isClosed) onError(error, { teamId });
      })
      .finally(() => {
        running.delete(name);
        wake();
      });
  }

  async function judgeAlone(work: QueuedWork): Promise<void> {
    const name = nameOfWork(work);
    const verdict = await judge(options, teamId, { works: [work] });
    if (isClosed) return;
    // The folder may have changed meanwhile; then the landing judges just what was handed in.
    const isSound = await git.isAsHandedIn(teamId, work);
    if (verdict.isGreen || verdict.unable || !isSound) {
      const isGood = verdict.isGreen && (verdict.accepted || !work.refused);
      if (known.has(name)) known.set(name, isSound && isGood ? 'green' : 'unclear');
      return;
    }
    const { feedback, gate } = verdict;
    await unlessStale(() => ledger.execute(teamId, notAccepted(work, { feedback, gate }), () => undefined));
    known.delete(name);
  }

  function forgetOthers(queue: readonly QueuedWork[]): void {
    const names = new Set(queue.map(nameOfWork));
    for (const name of known.keys()) if (!names.has(name)) known.delete(name);
  }
}

function isNear({ left }: QueuedWork, isHere: boolean): boolean {
  return isHere && !left;
}
