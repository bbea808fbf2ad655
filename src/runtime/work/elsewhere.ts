import { z } from 'zod';
import { TeamError } from '../../core/errors.ts';
import { Slug } from '../../core/fields.ts';
import type { TeamState } from '../../core/state.ts';
import { CommitId } from '../../core/team-work.ts';
import { WorkPack } from '../../core/work.ts';
import type { SavedWork } from '../../ledger/hand-in.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Branches, Several } from './branches.ts';
import type { SavedFor, Worker } from './held.ts';

/** Asks the machine of a member to save its workspace, or its work for a task, and to put that into the store. */
const SaveQuestion = z.object({
  about: z.literal('work-save'),
  teamId: z.string(),
  memberId: Slug,
  taskId: z.string().optional(),
});

const SaveAnswer = z.object({
  base: CommitId,
  commit: CommitId,
  problem: z.string().optional(),
  pack: WorkPack,
});

/** A large folder takes a while to save and to pack. */
const ASK_MS = 60_000;

/** What `openElsewhere` needs. */
export interface ElsewhereOptions {
  readonly ledger: Ledger;
  readonly several: Several | undefined;
  readonly branches: Branches;
  /** Saves a workspace of this machine. */
  readonly saveHere: (worker: SavedFor) => Promise<SavedWork>;
}

/** The workspaces that other machines have, and what they may ask about those of this one. */
export function openElsewhere({ ledger, several, branches, saveHere }: ElsewhereOptions) {
  const { travel, bring, requirePlace } = branches;
  const hostIn = (state: TeamState, memberId: string): string | undefined => {
    const host = state.members.get(memberId)?.hostId;
    return several === undefined || host === several.hostId ? undefined : host;
  };
  const hostOf = ({ teamId, memberId }: Worker): Promise<string | undefined> =>
    ledger.view(teamId, (state) => hostIn(state, memberId));

  return {
    /** Whether a member works on this machine. */
    isHere: (state: TeamState, memberId: string): boolean => hostIn(state, memberId) === undefined,

    /** Refuses if another machine has the workspace. */
    async requireHere(worker: Worker): Promise<void> {
      const host = await hostOf(worker);
      if (host !== undefined) throw notHere(worker.memberId, host);
    },

    /** Saves what a member has in its workspace, or for a task, on whichever machine. */
    async saveOf(worker: SavedFor): Promise<SavedWork> {
      const host = await hostOf(worker);
      if (!several || !travel || host === undefined) return saveHere(worker);
      const { teamId, memberId, taskId } = worker;
      if (!several.others.names().includes(host)) throw gone(memberId, host);
      const question = { about: 'work-save', teamId, memberId, taskId } satisfies z.input<typeof SaveQuestion>;
      const answer = await several.others.ask(host, question, { timeoutMs: ASK_MS });
      const { pack, ...saved } = SaveAnswer.parse(answer);
      await travel.take(teamId, await bring(teamId), pack);
      return { ...saved, here: pack.commit };
    },

    /** Answers another daemon; undefined if the question is not about work. */
    answer(question: unknown): Promise<unknown> | undefined {
      const asked = SaveQuestion.safeParse(question);
      return asked.success ? saveFor(asked.data) : travel?.answer(question);
    },
  };

  async function saveFor({ teamId, memberId, taskId }: SavedFor): Promise<z.output<typeof SaveAnswer>> {
    const host = await hostOf({ teamId, memberId });
    if (!travel || host !== undefined) throw notHere(memberId, host ?? 'that it runs on');
    const saved = await saveHere({ teamId, memberId, taskId });
    const { base, commit } = saved;
    return { ...saved, pack: await travel.lend(teamId, await requirePlace(teamId), { memberId, base, commit }) };
  }
}

export type Elsewhere = ReturnType<typeof openElsewhere>;

function notHere(memberId: string, host: string): TeamError {
  return new TeamError('conflict', `The workspace of ${memberId} is on the machine ${host}: call the daemon there`);
}

function gone(memberId: string, host: string): TeamError {
  return new TeamError(
    'conflict',
    `The workspace of ${memberId} is on the machine ${host}, which is not connected: what it has not handed in is only there`,
  );
}
