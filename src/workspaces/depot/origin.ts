import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checkout } from '../checkout.ts';
import { freshName } from '../places.ts';
import type { Places } from '../places.ts';

/** Where the checkout of a depot is. People move it, so the name of the depot does not say it for good. */
export interface Origin {
  /** The top folder that was last taken in. */
  readonly folder: string;
  /** The git directory that all its linked worktrees share. */
  readonly commonDir: string;
}

type Depots = Pick<Places, 'depots'>;

/** The file in a depot that has its origin, in two lines. */
const ORIGIN_FILE = 'checkout';

/** Reads the origin of a depot; undefined if it was made without a checkout. */
export async function readOrigin({ depots }: Depots, id: string): Promise<Origin | undefined> {
  const text = await readFile(join(depots, `${id}.git`, ORIGIN_FILE), 'utf8').catch(() => '');
  const [folder = '', commonDir = ''] = text.split('\n');
  return folder === '' ? undefined : { folder, commonDir };
}

/** Records where the checkout of a depot is now. Readers see the old or the new place. Several teams may begin at once. */
export async function writeOrigin({ making }: Places, dir: string, { folder, commonDir }: Checkout): Promise<void> {
  const draft = freshName(making);
  await writeFile(draft, `${folder}\n${commonDir}\n`);
  await rename(draft, join(dir, ORIGIN_FILE));
}

/** The checkouts from which this machine made depots. */
export async function knownCheckouts(places: Depots): Promise<string[]> {
  return [...(await readOrigins(places)).values()].flatMap((origin) => origin?.folder ?? []);
}

/** The depot that was last used from a checkout; undefined if there is none. */
export async function depotOfCheckout(places: Depots, folder: string): Promise<string | undefined> {
  for (const [id, origin] of await readOrigins(places)) if (origin?.folder === folder) return id;
  return undefined;
}

/**
 * The name of a checkout's depot. All linked worktrees of a repository share one. A checkout that was moved keeps the
 * depot that knows it. One that is now where another was gets a new depot.
 */
export async function findDepotId(places: Depots, { commonDir, depot }: Named): Promise<string> {
  if (depot !== undefined) return depot;
  const known = await readOrigins(places);
  for (const [id, origin] of known) if (origin?.commonDir === commonDir) return id;
  for (let i = 0; ; i++) {
    const id = depotId({ commonDir: i === 0 ? commonDir : `${commonDir}\n${i}` });
    if (known.get(id) === undefined) return id;
  }
}

/** The name of a depot that has just been made from a checkout. */
export function depotId({ commonDir, depot }: Named): string {
  return depot ?? createHash('sha256').update(commonDir).digest('hex').slice(0, 16);
}

type Named = Pick<Checkout, 'commonDir' | 'depot'>;

async function readOrigins(places: Depots): Promise<Map<string, Origin | undefined>> {
  // Somebody may have removed all depots. Then they are made again, from the checkouts.
  await mkdir(places.depots, { recursive: true, mode: 0o700 });
  const ids = (await readdir(places.depots)).flatMap((name) => /^([0-9a-f]{16})\.git$/.exec(name)?.[1] ?? []).sort();
  return new Map(await Promise.all(ids.map(async (id) => [id, await readOrigin(places, id)] as const)));
}
