import { z } from 'zod';
import { CommitId } from '../../core/team-work.ts';
import { PACKS_LAST_MS } from '../../journal/packs.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Others } from './pack-questions.ts';
import type { Remotes } from './remotes.ts';
import type { TeamPlace } from './team-places.ts';
import type { TravelledWorks } from './travelled.ts';

/** Asks another daemon whether it has the tip of a team. */
const TipQuestion = z.object({ about: z.literal('work-tip'), teamId: z.string(), tip: CommitId });

const ASK_MS = 30_000;

/** The journal names a commit right after it was pushed. One that it does not name by then has no use. */
const UNNAMED_MS = 60 * 60_000;

/** What `openRemoteRefs` needs. */
export interface RemoteRefsOptions {
  readonly ledger: Ledger;
  readonly hostId: string;
  readonly others: Others;
  readonly remotes: Remotes;
  readonly travelled: { of(teamId: string): Promise<TravelledWorks> };
  readonly placeOf: (teamId: string) => Promise<TeamPlace | undefined>;
}

/** Removes refs of teams at their remotes, when nobody needs them any more. */
export function openRemoteRefs(options: RemoteRefsOptions) {
  const { ledger, hostId, others, remotes, travelled, placeOf } = options;
  /** When this daemon first saw a ref that the journal does not name. */
  const seen = new Map<string, number>();

  return {
    /** Looks at the refs of a team. Only the daemon that makes the landings does. */
    async sweep(teamId: string): Promise<void> {
      const alive = [hostId, ...others.names()].sort();
      const isOurs = await ledger.view(teamId, ({ team }) => {
        const { queueHost = '', remote } = team?.work ?? {};
        return remote !== undefined && (alive.includes(queueHost) ? queueHost : alive[0]) === hostId;
      });
      const place = isOurs ? await placeOf(teamId) : undefined;
      if (!place?.work.remote) return;
      const remote = remotes.open(teamId, place, place.work.remote.name);
      const ids = await remote.list();
      if (ids.length === 0) return;
      const named = namesIn(await travelled.of(teamId));
      // Read after the works, so that none of them landed after this tip.
      const tip = await ledger.view(teamId, ({ team }) => team?.work?.tip ?? '');
      const isEverywhere = await hasEveryone(teamId, tip);
      const now = Date.now();
      const last = Math.max(now - UNNAMED_MS, ...[...named.values()].map(({ at }) => at));
      // What machines push is on top of it, and one without a checkout does not have the commits before it.
      named.set(tip, { at: last, isLanded: false });
      for (const id of ids) if (!named.has(id) && !seen.has(id)) seen.set(id, now);
      const old = ids.filter((id) => isUseless(named.get(id), { isEverywhere, now, seenAt: seen.get(id) ?? now }));
      if (old.length > 0) await remote.remove(old);
      for (const id of old) seen.delete(id);
    },

    /** Removes all refs of a team that is gone. */
    async removeAll(teamId: string, place: TeamPlace): Promise<void> {
      if (!place.work.remote) return;
      const remote = remotes.open(teamId, place, place.work.remote.name);
      await remote.remove(await remote.list());
    },

    /** Answers another daemon; undefined if the question is about something else. */
    answer(question: unknown): Promise<boolean> | undefined {
      const asked = TipQuestion.safeParse(question);
      return asked.success ? hasTip(asked.data) : undefined;
    },
  };

  async function hasTip({ teamId, tip }: z.output<typeof TipQuestion>): Promise<boolean> {
    const place = await placeOf(teamId);
    return place !== undefined && (await place.depot.has([tip])).length > 0;
  }

  /** Whether every machine with members of the team has the tip. One that is away may lack it. */
  async function hasEveryone(teamId: string, tip: string): Promise<boolean> {
    const hosts = await ledger.view(teamId, ({ members }) => [...members.values()].flatMap((one) => one.hostId ?? []));
    const alive = others.names();
    for (const host of new Set(hosts)) {
      if (host === hostId) continue;
      if (!alive.includes(host)) return false;
      const question = { about: 'work-tip', teamId, tip } satisfies z.input<typeof TipQuestion>;
      if ((await others.ask(host, question, { timeoutMs: ASK_MS })) !== true) return false;
    }
    return true;
  }
}

/** A commit that travelled, as the journal has it. */
interface NamedCommit {
  /** When it was handed in or landed. Milliseconds since 1970. */
  readonly at: number;
  readonly isLanded: boolean;
}

/** Whether the ref of a commit may go. */
function isUseless(
  named: NamedCommit | undefined,
  { isEverywhere, now, seenAt }: { isEverywhere: boolean; now: number; seenAt: number },
): boolean {
  if (!named) return now - seenAt > UNNAMED_MS;
  return now - named.at > PACKS_LAST_MS || (named.isLanded && isEverywhere);
}

/** All commits that travelled. */
function namesIn({ landings, works }: TravelledWorks): Map<string, NamedCommit> {
  const named = new Map<string, NamedCommit>();
  const landed = new Set([...landings.values()].map(({ commit }) => commit));
  for (const { commit, pack, at } of works.values()) named.set(pack.commit, { at, isLanded: landed.has(commit) });
  for (const { pack, merged = pack.commit, at } of landings.values()) {
    for (const id of [pack.commit, merged]) named.set(id, { at, isLanded: true });
  }
  return named;
}
