import { join } from 'node:path';
import type { Checkout } from './checkout.ts';
import { depotId } from './depot/origin.ts';
import type { Places } from './places.ts';
import type { ObjectId } from './workspace.ts';

/**
 * Stands for the checkout on a machine that has none, of a project that begins with a commit. With a depot, for one that
 * is gone.
 */
export function absentCheckout(places: Pick<Places, 'depots'>, base: ObjectId, depot?: string): Checkout {
  const commonDir = `no checkout, from ${base}`;
  return {
    // An empty folder of the depot.
    folder: join(places.depots, `${depot ?? depotId({ commonDir })}.git`, 'no-tree'),
    gitDir: '',
    commonDir,
    ...(depot !== undefined && { depot }),
    head: base,
    branch: undefined,
    format: base.length === 64 ? 'sha256' : 'sha1',
    isShallow: false,
    isPartial: false,
    settings: [],
    person: undefined,
    ignored: '',
    isAbsent: true,
  };
}
