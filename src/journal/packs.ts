/** How long a pack lies in the store: after that, only a machine that took it in has it. */
export const PACKS_LAST_MS = 14 * 24 * 60 * 60_000;

/**
 * A store beside a journal that several machines share: what members did travels through it as packs. It must outlive
 * the machine that put a pack there, as the journal does. Every refusal is a `TeamError`: `storage` if the servers refused,
 * `limit` if something is too large.
 */
export interface PackStore {
  /** Stores bytes under a name, as durably as the journal. A name always has the same bytes. */
  put(name: string, bytes: Buffer): Promise<void>;

  /** The bytes of a name; undefined if there are none, or none any more. */
  get(name: string, options: { readonly maxBytes: number }): Promise<Buffer | undefined>;

  /** Removes everything whose name begins so. */
  remove(beginning: string): Promise<void>;
}
