import { feedbackOf } from '../../core/hook.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { completionOf } from '../../ledger/task-gate.ts';
import type { JudgedFolder, TaskGate } from '../../ledger/task-gate.ts';
import type { Unready } from './check-out.ts';
import type { QueuedWork } from './queued.ts';

/** What the gates said about one work, or about several together. */
export type Verdict =
  | {
      readonly isGreen: true;
      /** At least one gate judged it. Without, every gate failed and lets failures pass. */
      readonly accepted: boolean;
    }
  | {
      readonly isGreen: false;
      readonly feedback: string;
      /** The hook that rejected it. */
      readonly gate?: string | undefined;
      /** No gate could judge: a person has to repair that. */
      readonly unable: boolean;
      /** The content of the gate or the setup that no person has approved: the work changes it. */
      readonly unapproved?: string | undefined;
    };

/** Comes before what a gate says about merged work. */
const MERGED =
  'The gate rejected this work merged with what landed since it began. That is in your folder now. It says:\n';

/** Asks the gates about works, in the folder of their holder or in the one that is given. */
export async function judge(
  { ledger, gate }: { readonly ledger: Ledger; readonly gate: TaskGate },
  teamId: string,
  { works, folder }: { readonly works: readonly QueuedWork[]; readonly folder?: JudgedFolder },
): Promise<Verdict> {
  const [first] = works;
  if (!first) return { isGreen: true, accepted: false };
  const at = ledger.now();
  const { taskId, completer: by } = first;
  const { context } = await ledger.view(teamId, (state) => completionOf(state, { taskId, by, at }));
  const together = works.length > 1 ? { taskIds: works.map((work) => work.taskId) } : {};
  const verdict = await gate.executeTaskCompletedHook({ ...context, ...together }, folder);
  if (verdict.exitCode !== 2) return { isGreen: true, accepted: verdict.accepted ?? false };
  const { unable, unapproved, command } = verdict;
  const said = feedbackOf(verdict) || `The gate rejected task ${taskId}`;
  return {
    isGreen: false,
    feedback: unable ?? (folder ? `${MERGED}${said}` : said),
    gate: command,
    unable: unable !== undefined,
    unapproved,
  };
}

/** Merged work whose setup fails goes back to its holder, as if a gate had rejected it. A person approves a changed one. */
export function unready({ problem: feedback, unapproved }: Unready): Verdict {
  return { isGreen: false, feedback, unable: unapproved !== undefined, unapproved };
}
