import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Checkout } from '../../src/workspaces/checkout.ts';
import {
  depotId,
  depotOfCheckout,
  findDepotId,
  knownCheckouts,
  readOrigin,
  writeOrigin,
} from '../../src/workspaces/depot/origin.ts';
import { openPlaces } from '../../src/workspaces/places.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { write } from './project.ts';

const checkout = (folder: string, commonDir = `${folder}/.git`) => ({ folder, commonDir }) as Checkout;

test('a depot is found by the repository of a checkout, wherever that was moved, and never taken by another one', async () => {
  const places = await openPlaces(temporaryFolder(), { endLeftovers: async () => {} });
  const one = checkout('/home/me/one');
  const id = await findDepotId(places, one);
  expect(id).toMatch(/^[0-9a-f]{16}$/);
  expect(id).toBe(depotId(one));
  expect(depotId({ commonDir: '/other/.git' })).not.toBe(id);
  expect(await findDepotId(places, one)).toBe(id);
  const dir = join(places.depots, `${id}.git`);
  expect(await readOrigin(places, id)).toBeUndefined();
  expect(await knownCheckouts(places)).toEqual([]);
  write(dir, { HEAD: '' });
  // Made without a checkout.
  expect(await readOrigin(places, id)).toBeUndefined();
  expect(await findDepotId(places, one)).toBe(id);
  await writeOrigin(places, dir, one);
  expect(readdirSync(places.making)).toEqual([]);
  expect(await readOrigin(places, id)).toEqual({ folder: '/home/me/one', commonDir: '/home/me/one/.git' });
  expect(await findDepotId(places, one)).toBe(id);
  // A linked worktree shares the depot.
  expect(await findDepotId(places, checkout('/home/me/linked', '/home/me/one/.git'))).toBe(id);

  // Moved, and another one is now in its place.
  await writeOrigin(places, dir, checkout('/home/me/moved'));
  expect(await findDepotId(places, checkout('/home/me/moved'))).toBe(id);
  const second = await findDepotId(places, one);
  expect(second).toMatch(/^[0-9a-f]{16}$/);
  expect(second).not.toBe(id);
  await writeOrigin(places, mkdirOf(places.depots, second), checkout('/home/me/moved-too'));
  const third = await findDepotId(places, one);
  expect([id, second]).not.toContain(third);
  await writeOrigin(places, mkdirOf(places.depots, third), one);
  expect(await findDepotId(places, one)).toBe(third);
  expect(await findDepotId(places, { ...one, depot: 'named' })).toBe('named');
  expect(depotId({ ...one, depot: 'named' })).toBe('named');

  write(places.depots, { 'notes.git/checkout': '/home/me/notes\n', [`${id}.git.old/checkout`]: '/home/me/old\n' });
  expect((await knownCheckouts(places)).sort()).toEqual(['/home/me/moved', '/home/me/moved-too', '/home/me/one']);
  expect(await depotOfCheckout(places, '/home/me/moved-too')).toBe(second);
  expect(await depotOfCheckout(places, '/home/me/nothing')).toBeUndefined();
  rmSync(places.depots, { recursive: true });
  expect(await knownCheckouts(places)).toEqual([]);
});

function mkdirOf(depots: string, id: string): string {
  write(depots, { [`${id}.git/HEAD`]: '' });
  return join(depots, `${id}.git`);
}
