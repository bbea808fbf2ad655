import { TeamError } from '../../core/errors.ts';
import type { StoredPack, WorkPack } from '../../core/work.ts';
import type { PackStore } from '../../journal/packs.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { hashOf, PACK_BYTES } from '../../workspaces/depot/packs.ts';
import { openQueues } from '../../workspaces/queue.ts';
import { missingCommit } from './missing-commit.ts';
import { askForPack, askToPush, PackQuestion } from './pack-questions.ts';
import type { Others } from './pack-questions.ts';
import { openRemoteRefs } from './remote-refs.ts';
import { openRemotes } from './remotes.ts';
import type { TeamPlace } from './team-places.ts';
import { openTravelled } from './travelled.ts';
import type { Travelled } from './travelled.ts';

/** What `openTravel` needs. */
export interface TravelOptions {
  readonly ledger: Ledger;
  /** The name of this daemon. */
  readonly hostId: string;
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

/** Brings work from machine to machine. The journal says what there is; the store, or a git remote, has it. */
export function openTravel({ ledger, hostId, store, others, placeOf }: TravelOptions) {
  const travelled = openTravelled(ledger);
  const remotes = openRemotes();
  const refs = openRemoteRefs({ ledger, hostId, others, remotes, travelled, placeOf });
  /** The tips that are here, by team. */
  const arrived = new Map<string, string>();
  /** Two callers must not fetch the same. */
  const inTurn = openQueues();

  return {
    bring,
    bringWork,
    take,
    send,
    lend,
    sendMerged,
    answer,
    forget,
    /** Why the remote of a team cannot be used as it should, as this machine last saw it. */
    problemOf: (teamId: string) => remotes.problemOf(teamId),
    /** Removes what the remote of a team no longer needs. */
    sweep: (teamId: string) => refs.sweep(teamId),
    /** Removes everything of a team from its remote. */
    leaveRemote: (teamId: string, place: TeamPlace) => refs.removeAll(teamId, place),
  };

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
    const lacking = chain.slice(from);
    const last = lacking.at(-1);
    // A remote has the commits before it, too.
    for (const landing of last && 'remote' in last.pack ? [last] : lacking) {
      const problem = await takeIn(teamId, place, landing);
      if (problem !== undefined) return bringFromOthers(teamId, place, work.tip, [problem]);
    }
  }

  /** Takes in a pack; says why not if it is older than packs last, or is not what the journal names. */
  async function takeIn(
    teamId: string,
    place: TeamPlace,
    { pack, merged }: Pick<Travelled, 'pack' | 'merged'>,
  ): Promise<string | undefined> {
    const want = [pack.commit, ...(merged === undefined ? [] : [merged])];
    if ('hash' in pack) return takeFromStore(teamId, place, pack, want);
    return (await remotes.tryToFetch(teamId, place, { want, name: pack.remote }))?.message;
  }

  async function takeFromStore(
    teamId: string,
    { depot }: TeamPlace,
    pack: StoredPack,
    want: readonly string[],
  ): Promise<string | undefined> {
    const bytes = await store.get(nameOf(teamId, pack), { maxBytes: PACK_BYTES });
    if (!bytes) return 'its pack is no longer beside the journal';
    try {
      await depot.takePack({ bytes, hash: pack.hash, want });
      return undefined;
    } catch (error) {
      if (!(error instanceof TeamError) || error.code !== 'corrupt') throw error;
      return error.message;
    }
  }

  /** Takes in a pack that another daemon has just put there. */
  async function take(teamId: string, place: TeamPlace, pack: WorkPack): Promise<void> {
    if ((await place.depot.has([pack.commit])).length > 0) return;
    const problem = await takeIn(teamId, place, { pack });
    if (problem !== undefined) throw missingCommit(teamId, place, { want: pack.commit, problems: [problem] });
  }

  /** Looks in the checkout and at the remote, then asks the other daemons. The first that has it sends a pack. */
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
    const tried = [...problems];
    const name = work.remote?.name;
    const refused =
      name === undefined ? undefined : await remotes.tryToFetch(teamId, place, { want: [want], isFirst, name });
    if (name !== undefined && !refused) return;
    if (refused && !tried.includes(refused.message)) tried.push(refused.message);
    const known = [checkout.head, work.base, ...(work.roots ?? []), ...[...landings.keys()].slice(-500)];
    const have = isFirst ? [] : await depot.has([...new Set(known)]);
    // A remote that can be reached takes what is too large for the store.
    for (const byRemote of refused?.code === 'not_found' ? [true, false] : [false]) {
      const question = { teamId, want: [want], have: [...have], isFirst, byRemote };
      for (const other of others.names()) {
        try {
          const pack = await askForPack(others, other, question);
          if (!pack) continue;
          if ('remote' in pack) {
            const failed = await remotes.tryToFetch(teamId, place, { want: [want], isFirst, name: pack.remote });
            if (!failed) return;
            tried.push(failed.message);
            continue;
          }
          const bytes = await store.get(nameOf(teamId, pack), { maxBytes: PACK_BYTES });
          if (!bytes) continue;
          await depot.takePack({ bytes, hash: pack.hash, want: [want], isFirst });
          return;
        } catch (error) {
          tried.push(`${other}: ${(error as Error).message}`);
        }
      }
    }
    throw missingCommit(teamId, place, { want, problems: tried });
  }

  /** The commit of a work that was handed in somewhere, as this machine has it. */
  async function bringWork(teamId: string, place: TeamPlace, commit: string): Promise<string> {
    const { depot } = place;
    if ((await depot.has([commit])).length > 0) return commit;
    const found = (await travelled.of(teamId)).works.get(commit);
    if (!found) throw missingCommit(teamId, place, { want: commit, problems: [] });
    await bring(teamId, place);
    const { pack } = found;
    if ((await depot.has([pack.commit])).length > 0) return pack.commit;
    await inTurn(teamId, async () => {
      const problem = await takeIn(teamId, place, found);
      if (problem !== undefined) await bringFromOthers(teamId, place, pack.commit, [problem]);
    });
    return pack.commit;
  }

  /** Makes a work available to all machines, before the journal names it. */
  async function send(teamId: string, place: TeamPlace, work: SentWork): Promise<WorkPack> {
    return carry(teamId, place, await flatten(teamId, place, work));
  }

  async function flatten(teamId: string, { depot }: TeamPlace, work: SentWork) {
    const { memberId, base, onto, merged } = work;
    const commit = await depot.flatten({ commit: work.commit, base, name: `${teamId}/${memberId}` });
    const want = [commit, ...(merged === undefined ? [] : [merged])];
    return { commit, want, have: [base, ...(onto === undefined ? [] : [onto])] };
  }

  /** The same for a machine that asked for it. It is not on record, so the store does if the remote is away. */
  async function lend(teamId: string, place: TeamPlace, work: SentWork): Promise<WorkPack> {
    const { commit, want, have } = await flatten(teamId, place, work);
    const pushed = place.work.remote && (await carry(teamId, place, { want, have }).catch(() => undefined));
    return pushed ?? put(teamId, commit, await place.depot.pack({ want, have }));
  }

  /** The same for a commit of the branch. */
  function sendMerged(
    teamId: string,
    place: TeamPlace,
    { onto, merged }: { onto: string; merged: string },
  ): Promise<WorkPack> {
    return carry(teamId, place, { want: [merged], have: [onto] });
  }

  async function carry(
    teamId: string,
    place: TeamPlace,
    { want, have }: { want: readonly string[]; have: readonly string[] },
  ): Promise<WorkPack> {
    const { depot, work } = place;
    const [commit = ''] = want;
    if (!work.remote) return put(teamId, commit, await depot.pack({ want, have }));
    try {
      await remotes.push(teamId, place, { want, have });
    } catch (error) {
      if (!(error instanceof TeamError) || error.code !== 'not_found') throw error;
      await askToPush(others, teamId, have);
      await remotes.push(teamId, place, { want, have });
    }
    return { commit, remote: work.remote.name };
  }

  async function put(teamId: string, commit: string, bytes: Buffer): Promise<WorkPack> {
    const pack = { commit, hash: hashOf(bytes), size: bytes.length };
    await store.put(nameOf(teamId, pack), bytes);
    return pack;
  }

  /** Answers another daemon; undefined if the question is about something else. */
  function answer(question: unknown): Promise<WorkPack | boolean | null> | undefined {
    const asked = PackQuestion.safeParse(question);
    return asked.success ? packFor(asked.data) : refs.answer(question);
  }

  async function packFor(asked: PackQuestion): Promise<WorkPack | null> {
    const { teamId, want, have, isFirst, byRemote } = asked;
    const place = await placeOf(teamId);
    const [first = ''] = want;
    if (!place || (await place.depot.has(want)).length < want.length) return null;
    const isByRemote = byRemote && place.work.remote !== undefined;
    const pushed = isByRemote ? await carry(teamId, place, { want, have }).catch(() => undefined) : undefined;
    return pushed ?? put(teamId, first, await place.depot.pack({ want, have, isFirst }));
  }

  /** The team is gone, and its packs with it. */
  async function forget(teamId: string): Promise<void> {
    arrived.delete(teamId);
    remotes.forget(teamId);
    await store.remove(`${teamId}/`);
  }
}

export type Travel = ReturnType<typeof openTravel>;

/** The hash is a part of the name: a work that is merged again gives another pack, and the first may be on record. */
function nameOf(teamId: string, { commit, hash }: StoredPack): string {
  return `${teamId}/${commit}/${hash}`;
}
