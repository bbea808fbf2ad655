import type { WorkPack } from '../../core/work.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** A work that was handed in, as other machines find it. */
export interface Travelled {
  /** The save that was handed in; only its own machine has it. */
  readonly commit: string;
  readonly base: string;
  readonly pack: WorkPack;
  /** When the journal recorded it. Milliseconds since 1970. */
  readonly at: number;
  /** The tip before and after it landed; absent if it conflicts. */
  readonly onto?: string;
  readonly merged?: string;
}

/** The works of a team that travelled. */
export interface TravelledWorks {
  /** By the tip that each made. */
  readonly landings: ReadonlyMap<string, Travelled>;
  /** By the save. */
  readonly works: ReadonlyMap<string, Travelled>;
}

interface Read {
  readonly born: number;
  seq: number;
  readonly landings: Map<string, Travelled>;
  readonly works: Map<string, Travelled>;
}

/**
 * Reads from the journal which packs there are. The events say it: a task that was reopened or deleted no longer knows
 * its pack, and the branch still needs it. Each batch is read once.
 */
export function openTravelled(ledger: Ledger) {
  const read = new Map<string, Read>();

  return {
    async of(teamId: string): Promise<TravelledWorks> {
      const { born, end } = await ledger.view(teamId, ({ team }, seq) => ({
        born: team?.createdAt.getTime() ?? 0,
        end: seq,
      }));
      const before = read.get(teamId);
      // Another team may have the name by now.
      const now: Read = before?.born === born ? before : { born, seq: 0, landings: new Map(), works: new Map() };
      read.set(teamId, now);
      if (now.seq >= end) return now;
      for await (const { seq, events } of ledger.read(teamId, now.seq)) {
        // Two callers may read the same batches.
        now.seq = Math.max(now.seq, seq);
        for (const event of events) {
          if (event.type === 'work:submitted' && event.pack) {
            const { commit, base, pack, at } = event;
            now.works.set(commit, { commit, base, pack, at });
          } else if (event.type === 'work:landed' && event.merged !== event.onto) {
            const work = now.works.get(event.commit);
            if (!work) continue;
            const { onto, merged, pack, at } = event;
            now.landings.set(merged, { ...work, onto, merged, at, ...(pack && { pack }) });
            // A person's yes has both in one pack.
            if (!pack) now.works.set(event.commit, { ...work, onto, merged });
          } else if (event.type === 'tip:moved' && event.pack && !isBefore(now.landings, event.to, event.from)) {
            const { from: onto, to: merged, pack, at } = event;
            now.landings.set(merged, { commit: merged, base: onto, pack, at, onto, merged });
          }
        }
      }
      return now;
    },
  };
}

/** Whether the packs that lead to a tip come by a commit. A person may have taken the branch back to it. */
function isBefore(landings: ReadonlyMap<string, Travelled>, commit: string, tip: string): boolean {
  let at: string | undefined = tip;
  while (at !== undefined && at !== commit) at = landings.get(at)?.onto;
  return at === commit;
}
