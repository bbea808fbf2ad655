import { Objm } from '@nats-io/obj';
import type { Snapshot } from '../journal.ts';
import { pack, unpack } from './batch.ts';
import { patiently } from './link.ts';
import type { Link } from './link.ts';
import type { Found, Life } from './streams.ts';
import { withinTime } from './within-time.ts';

/** A snapshot only saves time: if it takes longer than this, the batches are read instead. */
const LOAD_MS = 10_000;

/** The snapshots of all teams, in one object store. Each is named after the team's life. */
export async function openSnapshots(link: Link) {
  const store = await patiently(link, () => new Objm(link.js).open(link.names.snapshots));

  return {
    async load({ subject, end }: Found): Promise<Snapshot | undefined> {
      const info = await store.info(subject);
      const seq = Number(info?.metadata?.['seq']);
      if (!info || info.deleted || !(seq >= 1 && seq <= end)) return undefined;
      const data = await withinTime(store.getBlob(subject), LOAD_MS);
      if (!data) return undefined;
      return { seq, body: await unpack(data, info.metadata?.['encoding'], `The snapshot of ${subject}`) };
    },

    /** Two daemons may save at the same time, and the older snapshot last: it is still a valid one. */
    async save({ subject, end }: Found, { seq, body }: Snapshot): Promise<void> {
      const present = await store.info(subject);
      if (seq > end || (present && !present.deleted && seq < Number(present.metadata?.['seq']))) return;
      const { data, encoding } = await pack(body);
      const metadata = { seq: String(seq), ...(encoding !== undefined && { encoding }) };
      await store.putBlob({ name: subject, metadata }, data);
    },

    /**
     * Replaces the snapshot of a life by a note that somebody dropped it. Without the note, a stream that is gone counts
     * as lost (see `requireMarked`).
     */
    async noteDropped({ subject }: Life): Promise<void> {
      await patiently(link, () => store.putBlob({ name: subject, metadata: { dropped: 'true' } }, new Uint8Array()));
    },

    async isDropped(subject: string): Promise<boolean> {
      return (await patiently(link, () => store.info(subject)))?.metadata?.['dropped'] === 'true';
    },
  };
}
