import { expect, test } from 'vitest';
import type { OverlapSide } from '../../../src/core/overlap.ts';
import { compareSaves } from '../../../src/runtime/work/overlaps.ts';

const sideOf = (_: unknown, i: number): OverlapSide => ({ memberId: `m${i + 1}`, taskId: String(i + 1), epoch: 1 });

/** Merges by name: what begins with the same letter conflicts in every path of `bad`. */
function depotOf(bad: readonly string[]) {
  const merged: string[] = [];
  return {
    merged,
    conflicts: async (pairs: readonly (readonly [string, string])[]) =>
      pairs.map(([one, other]) => {
        merged.push(`${one} ${other}`);
        return one.charAt(0) === other.charAt(0) ? [...bad] : [];
      }),
  };
}

const saved = (commit: string, ...paths: string[]) => ({ commit, paths: new Set(paths) });

test('only members that changed the same path are merged, and only if one of them changed since', async () => {
  const sides = Array.from({ length: 4 }, sideOf);
  const saves = new Map([
    ['m1', saved('a1', 'x', 'y', 'z')],
    ['m2', saved('a2', 'x', 'y')],
    ['m3', saved('b3', 'z')],
    ['m4', saved('b4', 'other')],
  ]);
  const depot = depotOf(['y', 'nothing of theirs']);
  const first = await compareSaves(depot, { sides, saves, merged: new Map() });
  expect(depot.merged).toEqual(['a1 a2', 'a1 b3']);
  expect(first.found).toEqual([
    { sides: [sides[0], sides[1]], files: 2, paths: ['x', 'y'], conflicts: ['y'] },
    { sides: [sides[0], sides[2]], files: 1, paths: ['z'], conflicts: [] },
  ]);
  saves.set('m3', saved('a5', 'z', 'x'));
  const next = await compareSaves(depot, { sides, saves, merged: first.merged });
  expect(depot.merged.slice(2)).toEqual(['a2 a5', 'a1 a5']);
  expect(next.found).toHaveLength(3);
});

test('many pairs are merged in several passes, those that nobody knows about first', async () => {
  const sides = Array.from({ length: 32 }, sideOf);
  const saves = new Map(sides.map(({ memberId }, i) => [memberId, saved(`c${i}`, 'package.json')]));
  const depot = depotOf([]);
  let merged: Awaited<ReturnType<typeof compareSaves>>['merged'] = new Map();
  let passes = 0;
  for (let isLeft = true; isLeft; passes++) {
    saves.set('m1', saved(`again${passes}`, 'package.json'));
    ({ merged, isLeft } = await compareSaves(depot, { sides, saves, merged }));
    if (passes > 20) break;
  }
  expect(passes).toBeLessThan(20);
  expect(merged.size).toBe((32 * 31) / 2);
});

test('of many common paths, those that conflict are named', async () => {
  const sides = Array.from({ length: 2 }, sideOf);
  const names = Array.from({ length: 80 }, (_, i) => `f${String(i).padStart(2, '0')}`);
  const saves = new Map(sides.map(({ memberId }) => [memberId, saved(`c-${memberId}`, ...names)]));
  const { found } = await compareSaves(depotOf(['f79']), { sides, saves, merged: new Map() });
  expect(found).toMatchObject([{ files: 80, conflicts: ['f79'] }]);
  expect(found[0]?.paths).toHaveLength(50);
  expect(found[0]?.paths).toContain('f79');
});
