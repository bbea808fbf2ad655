import { cp, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Checkout } from '../checkout.ts';
import { FETCH, splitLines } from '../git.ts';
import type { Git } from '../git.ts';
import { freshName, isFolder, putAway } from '../places.ts';
import type { Places } from '../places.ts';
import type { ObjectId } from '../workspace.ts';
import { openHandle } from './handle.ts';
import type { DepotHandle } from './handle.ts';
import { makeDepot } from './make.ts';
import { listSaves } from './saves.ts';

/** What a repair could not bring over. */
export interface Repair {
  /** Refs whose work is lost, or was replaced by an earlier save. */
  readonly lost: readonly { readonly ref: string; readonly instead?: ObjectId }[];
  /** Where the damaged depot is. */
  readonly trash: string | undefined;
}

/** What is wrong with a depot, in git's words; nothing if it is whole. Reads every object. */
export async function checkDepot({ run }: DepotHandle): Promise<string[]> {
  const words = ['fsck', '--full', '--no-dangling', '--no-progress', '--connectivity-only'];
  // Connectivity first: it is quick, and a missing object is the most frequent damage.
  for (const check of [words, words.slice(0, -1)]) {
    const { out, err, code } = await run(check, {
      exits: [...Array(64).keys(), 128],
      cut: true,
      maxBytes: 1024 * 1024,
    });
    const lines = `${out.toString()}${err}`
      .split('\n')
      .filter((line) => line !== '' && !/^(?:notice|warning)/.test(line));
    if (code !== 0) return lines.length > 0 ? lines : [`git fsck ended with ${code}`];
  }
  return [];
}

/**
 * Makes a damaged or missing depot again from the checkout, and brings over the work that can still be read. It takes
 * the old one's place, so folders that borrow from it find their objects there. A save that cannot be read is replaced
 * by the newest one before it.
 */
export async function remakeDepot(
  git: Git,
  { dir, places, checkout }: { dir: string; places: Places; checkout: Checkout },
): Promise<Repair> {
  const draft = freshName(places.making);
  await makeDepot(git, draft, checkout);
  const [old, fresh] = [openHandle(git, dir), openHandle(git, draft)];
  const lost: { ref: string; instead?: ObjectId }[] = [];
  for (const ref of await listOwnRefs(old)) {
    const instead = await bringOver({ old, fresh }, ref);
    if (instead !== ref) lost.push({ ref, ...(instead !== undefined && { instead }) });
  }
  // Large files of git-lfs are beside the objects, and only here as long as nobody merged them.
  if (await isFolder(join(dir, 'lfs'))) await cp(join(dir, 'lfs'), join(draft, 'lfs'), { recursive: true });
  const trash = await putAway(places, dir, `depot.${basename(dir)}`);
  await rename(draft, dir);
  return { lost, trash };
}

async function listOwnRefs(old: DepotHandle): Promise<string[]> {
  const kinds = ['refs/saves', 'refs/earlier', 'refs/kept', 'refs/heads', 'refs/deleted', 'refs/checkout/changes'];
  const words = ['for-each-ref', '--format=%(refname)', ...kinds];
  const { out } = await old.run(words, { exits: [0, 1, 128] }).catch(() => ({ out: Buffer.of() }));
  return splitLines(out);
}

/** Brings one ref over; returns the ref, the id of an earlier save, or undefined if nothing could be read. */
async function bringOver(
  { old, fresh }: { old: DepotHandle; fresh: DepotHandle },
  ref: string,
): Promise<string | undefined> {
  const fetch = (from: string) =>
    fresh.run([...FETCH, old.dir, `+${from}:${ref}`], {
      config: ['protocol.file.allow=always'],
      exits: [0, 1, 128],
    });
  if ((await fetch(ref)).code === 0) return ref;
  for (const commit of await listEarlier(old, ref)) {
    // From here on it is the project's history, which the checkout has.
    if (await isOfCheckout(fresh, commit)) return undefined;
    // The old depot serves refs only, so the earlier save becomes one.
    await old.run(['update-ref', 'refs/repair', commit], { exits: [0, 1, 128] });
    if ((await fetch('refs/repair')).code === 0) return commit;
  }
  return undefined;
}

/** Whether the checkout has a commit. Another ref that was brought over may have it, too. */
async function isOfCheckout({ run }: DepotHandle, commit: string): Promise<boolean> {
  const refs = ['HEAD', 'heads', 'tags'].map((part) => `refs/checkout/${part}`);
  // Exit code 129: it is not here.
  const words = ['for-each-ref', '--count=1', '--format=%(refname)', `--contains=${commit}`, ...refs];
  return (await run(words, { exits: [0, 129] })).out.length > 0;
}

/** What a ref named before, newest first: saves, or what had landed on a branch. */
async function listEarlier(old: DepotHandle, ref: string): Promise<string[]> {
  if (!/^refs\/(?:heads|deleted)\//.test(ref)) {
    const saves = await listSaves(old, ref, MOST_EARLIER).catch(() => []);
    return saves.slice(1).map(({ commit }) => commit);
  }
  const words = ['rev-list', '--first-parent', `--max-count=${MOST_EARLIER}`, '--skip=1', ref, '--'];
  const { out } = await old.run(words, { exits: [0, 128] }).catch(() => ({ out: Buffer.of() }));
  return splitLines(out);
}

const MOST_EARLIER = 50;
