import { Objm } from '@nats-io/obj';
import type { ObjectStore } from '@nats-io/obj';
import { nanos } from '@nats-io/transport-node';
import { TeamError } from '../../core/errors.ts';
import { PACKS_LAST_MS } from '../packs.ts';
import type { PackStore } from '../packs.ts';
import { explaining } from './errors.ts';
import { patiently } from './link.ts';
import type { Link } from './link.ts';
import { readSettings } from './settings.ts';
import { withinTime } from './within-time.ts';

/** The largest pack (256 MB) over a slow line. */
const LOAD_MS = 10 * 60_000;

/** The store of packs: an object store, made when the first pack is put. The servers remove what is old. */
export function openPacks(link: Link): PackStore {
  let opened: Promise<ObjectStore> | undefined;
  const telling = <T>(doing: string, work: () => Promise<T>) => explaining(link.place, doing, work);

  return {
    put: (name, bytes) =>
      telling('store work', async () => {
        const store = await open();
        await patiently(link, async () => {
          const present = await store.info(name);
          // A name always has the same bytes. Putting them twice at once would remove the chunks of one.
          if (present && !present.deleted && present.size === bytes.length) return;
          await store.putBlob({ name }, bytes);
        });
      }),

    get: (name, { maxBytes }) =>
      telling('fetch work', async () => {
        const store = await open();
        return patiently(link, async () => {
          const info = await store.info(name);
          if (!info || info.deleted) return undefined;
          if (info.size > maxBytes) throw tooLarge(name, info.size, maxBytes);
          const found = await withinTime(store.getBlob(name), LOAD_MS);
          return found ? Buffer.from(found) : undefined;
        });
      }),

    remove: (beginning) =>
      telling('remove work', async () => {
        // Nothing is made in order to be emptied.
        const found = await patiently(link, () => new Objm(link.js).open(link.names.packs)).catch((error: unknown) => {
          if (isMissing(error)) return undefined;
          throw error;
        });
        if (!found) return;
        for (const { name, deleted } of await found.list()) {
          if (!deleted && name.startsWith(beginning)) await patiently(link, () => found.delete(name));
        }
      }),
  };

  function open(): Promise<ObjectStore> {
    opened ??= make();
    opened.catch(() => (opened = undefined));
    return opened;
  }

  async function make(): Promise<ObjectStore> {
    const settings = await readSettings(link);
    const { replicas = 1 } = settings ?? {};
    return patiently(link, () => new Objm(link.js).create(link.names.packs, { replicas, ttl: nanos(PACKS_LAST_MS) }));
  }
}

/** The library has no class for this. */
function isMissing(error: unknown): boolean {
  return (error as Error).message === 'object store not found';
}

function tooLarge(name: string, size: number, maxBytes: number): TeamError {
  return new TeamError('limit', `${name} has ${size} bytes, and at most ${maxBytes} are taken`);
}
