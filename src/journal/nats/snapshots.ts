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

  /** What was noted about the snapshot of a life; nothing if there is none. */
  async function readMetadata(subject: string): Promise<Record<string, string>> {
    const info = await store.info(subject);
    return (info?.deleted ? undefined : info?.metadata) ?? {};
  }

  return {
    async load({ subject, end }: Found): Promise<Snapshot | undefined> {
      const metadata = await readMetadata(subject);
      const seq = Number(metadata['seq']);
      if (!(seq >= 1 && seq <= end)) return undefined;
      const data = await withinTime(store.getBlob(subject), LOAD_MS);
      if (!data) return undefined;
      return { seq, body: await unpack(data, metadata['encoding'], `The snapshot of ${subject}`) };
    },

    /** Two daemons may save at the same time, and the older snapshot last: it is still a valid one. */
    async save({ subject, end }: Found, { seq, body }: Snapshot): Promise<void> {
      if (seq > end || seq < Number((await readMetadata(subject))['seq'])) return;
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
      return (await patiently(link, () => readMetadata(subject)))['dropped'] === 'true';
    },
  };
}
