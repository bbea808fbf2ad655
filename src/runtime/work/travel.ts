import { z } from 'zod';
import { shortId } from '../../core/commit-id.ts';
import { TeamError } from '../../core/errors.ts';
import { CommitId } from '../../core/team-work.ts';
import { WorkPack } from '../../core/work.ts';
import type { PackStore } from '../../journal/packs.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { hashOf, PACK_BYTES } from '../../workspaces/depot/packs.ts';
import { openQueue } from '../../workspaces/queue.ts';
import type { TeamPlace } from './team-places.ts';
import { openTravelled } from './travelled.ts';
import type { Travelled } from './travelled.ts';

/** The other daemons that share the journal. */
export interface Others {
  /** Those that are alive. */
  names(): readonly string[];
  ask(name: string, question: unknown, options: { timeoutMs: number }): Promise<unknown>;
}

/** What `openTravel` needs. */
export interface TravelOptions {
  readonly ledger: Ledger;
  readonly store: PackStore;
  readonly others: Others;
  /** The project of a team on this machine. */
  readonly placeOf: (teamId: string) => Promise<TeamPlace | undefined>;
}

/** A save that is about to be handed in. */
export interface SentWork {
  readonly memberId: string;
  readonly base: string;
  readonly commit: string;
  /** The tip that it was merged onto, and the merged commit. */
  readonly onto?: string;
  readonly merged?: string | undefined;
}

/** Asks another daemon for what the store does not have (any more). */
const PackQuestion = z.object({
  about: z.literal('work-pack'),
  teamId: z.string(),
  want: z.array(CommitId).min(1).max(16),
  have: z.array(CommitId).max(1_000),
  isFirst: z.boolean(),
});

/** Packing a large project takes a while. */
const ASK_MS = 120_000;

/** Brings work from machine to machine. The journal says what there is, the store has it. */
export function openTravel({ ledger, store, others, placeOf }: TravelOptions) {
  const travelled = openTravelled(ledger);
  /** The tips that are here, by team. */
  const arrived = new Map<string, string>();
  const queues = new Map<string, ReturnType<typeof openQueue>>();

  return { bring, bringWork, take, send, sendMerged, answer, forget };

  /** Takes in everything up to the tip of a team's branch. */
  async function bring(teamId: string, place: TeamPlace): Promise<void> {
    if (arrived.get(teamId) === place.work.tip) return;
    await inTurn(teamId, () => bringTip(teamId, place));
    arrived.set(teamId, place.work.tip);
  }

  async function bringTip(teamId: string, place: TeamPlace): Promise<void> {
    const { depot, work } = place;
    if ((await depot.has([work.tip])).length > 0) return;
    const { landings } = await travelled.of(teamId);
    const chain: Travelled[] = [];
    let bottom = work.tip;
    for (let found = landings.get(bottom); found?.onto !== undefined; found = landings.get(bottom)) {
      chain.unshift(found);
      bottom = found.onto;
    }
    const here = new Set(await depot.has([bottom, ...chain.flatMap(({ merged = '' }) => merged)]));
    const from = chain.findLastIndex(({ merged = '' }) => here.has(merged)) + 1;
    if (from === 0 && !here.has(bottom)) await bringFromOthers(teamId, place, bottom);
    for (const landing of chain.slice(from)) {
      const problem = await takeFromStore(teamId, place, landing);
      if (problem !== undefined) return bringFromOthers(teamId, place, work.tip, [problem]);
    }
  }

  /** Takes in a pack; says why not if it is older than packs last, or is not what the journal names. */
  async function takeFromStore(
    teamId: string,
    { depot }: TeamPlace,
    { pack, merged }: Pick<Travelled, 'pack' | 'merged'>,
  ): Promise<string | undefined> {
    const bytes = await store.get(nameOf(teamId, pack), { maxBytes: PACK_BYTES });
    if (!bytes) return 'its pack is no longer beside the journal';
    try {
      await depot.takePack({ bytes, hash: pack.hash, want: [pack.commit, ...(merged === undefined ? [] : [merged])] });
      return undefined;
    } catch (error) {
      if (!(error instanceof TeamError) || error.code !== 'corrupt') throw error;
      return error.message;
    }
  }

  /** Takes in a pack that another daemon has just put there. */
  async function take(teamId: string, place: TeamPlace, pack: WorkPack): Promise<void> {
    if ((await place.depot.has([pack.commit])).length > 0) return;
    const problem = await takeFromStore(teamId, place, { pack });
    if (problem !== undefined) throw missing(teamId, place, { want: pack.commit, problems: [problem] });
  }

  /** Asks the other daemons one after the other. The first that has it puts a pack into the store. */
  async function bringFromOthers(
    teamId: string,
    place: TeamPlace,
    want: string,
    problems: readonly string[] = [],
  ): Promise<void> {
    const { depot, work, checkout } = place;
    // The person may have fetched it meanwhile.
    if (!checkout.isAbsent) await depot.take(checkout);
    if ((await depot.has([want])).length > 0) return;
    const { landings } = await travelled.of(teamId);
    const isFirst = checkout.isAbsent === true && want === work.base;
    const known = [checkout.head, work.base, ...(work.roots ?? []), ...[...landings.keys()].slice(-500)];
    const have = isFirst ? [] : await depot.has([...new Set(known)]);
    const tried = [...problems];
    for (const name of others.names()) {
      try {
        const question = { about: 'work-pack', teamId, want: [want], have, isFirst };
        const told = await others.ask(name, question, { timeoutMs: ASK_MS });
        if (told === null || told === undefined) continue;
        const pack = WorkPack.parse(told);
        const bytes = await store.get(nameOf(teamId, pack), { maxBytes: PACK_BYTES });
        if (!bytes) continue;
        await depot.takePack({ bytes, hash: pack.hash, want: [want], isFirst });
        return;
      } catch (error) {
        tried.push(`${name}: ${(error as Error).message}`);
      }
    }
    throw missing(teamId, place, { want, problems: tried });
  }

  /** The commit of a work that was handed in somewhere, as this machine has it. */
  async function bringWork(teamId: string, place: TeamPlace, commit: string): Promise<string> {
    const { depot } = place;
    if ((await depot.has([commit])).length > 0) return commit;
    const found = (await travelled.of(teamId)).works.get(commit);
    if (!found) throw missing(teamId, place, { want: commit, problems: [] });
    await bring(teamId, place);
    const { pack } = found;
    if ((await depot.has([pack.commit])).length > 0) return pack.commit;
    await inTurn(teamId, async () => {
      const problem = await takeFromStore(teamId, place, found);
      if (problem !== undefined) await bringFromOthers(teamId, place, pack.commit, [problem]);
    });
    return pack.commit;
  }

  /** Puts a work into the store, before the journal names it. */
  async function send(teamId: string, { depot }: TeamPlace, work: SentWork): Promise<WorkPack> {
    const { memberId, base, onto, merged } = work;
    const commit = await depot.flatten({ commit: work.commit, base, name: `${teamId}/${memberId}` });
    const want = [commit, ...(merged === undefined ? [] : [merged])];
    const bytes = await depot.pack({ want, have: [base, ...(onto === undefined ? [] : [onto])] });
    return put(teamId, commit, bytes);
  }

  /** The same for a commit of the branch. */
  async function sendMerged(
    teamId: string,
    { depot }: TeamPlace,
    { onto, merged }: { onto: string; merged: string },
  ): Promise<WorkPack> {
    return put(teamId, merged, await depot.pack({ want: [merged], have: [onto] }));
  }

  async function put(teamId: string, commit: string, bytes: Buffer): Promise<WorkPack> {
    const pack = { commit, hash: hashOf(bytes), size: bytes.length };
    await store.put(nameOf(teamId, pack), bytes);
    return pack;
  }

  /** Answers another daemon; undefined if the question is about something else. */
  function answer(question: unknown): Promise<WorkPack | null> | undefined {
    const asked = PackQuestion.safeParse(question);
    return asked.success ? packFor(asked.data) : undefined;
  }

  async function packFor({ teamId, want, have, isFirst }: z.output<typeof PackQuestion>): Promise<WorkPack | null> {
    const place = await placeOf(teamId);
    const [first = ''] = want;
    if (!place || (await place.depot.has(want)).length < want.length) return null;
    return put(teamId, first, await place.depot.pack({ want, have, isFirst }));
  }

  /** The team is gone, and its packs with it. */
  async function forget(teamId: string): Promise<void> {
    arrived.delete(teamId);
    await store.remove(`${teamId}/`);
  }

  /** Two callers must not fetch the same. */
  function inTurn<R>(teamId: string, work: () => Promise<R>): Promise<R> {
    const queue = queues.get(teamId) ?? openQueue();
    queues.set(teamId, queue);
    return queue(work);
  }
}

export type Travel = ReturnType<typeof openTravel>;

/** The hash is a part of the name: a work that is merged again gives another pack, and the first may be on record. */
function nameOf(teamId: string, { commit, hash }: Pick<WorkPack, 'commit' | 'hash'>): string {
  return `${teamId}/${commit}/${hash}`;
}

function missing(
  teamId: string,
  { checkout, work }: TeamPlace,
  { want, problems }: { want: string; problems: readonly string[] },
): TeamError {
  const what =
    want === work.base
      ? `the commit ${shortId(want)} that team ${teamId} began from`
      : `commit ${shortId(want)} of team ${teamId}`;
  const how = checkout.isAbsent
    ? 'name a checkout of the repository as projects in config.yaml of the state directory, or connect a machine that has one'
    : `fetch it into ${checkout.folder}, or connect a machine that has it`;
  const tried = problems.length > 0 ? ` (${problems.join('; ')})` : '';
  return new TeamError('storage', `This machine lacks ${what}${tried}: ${how}`);
}
