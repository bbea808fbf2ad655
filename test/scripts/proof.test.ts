import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countBranches } from '../../proof/coverage.ts';
import { Sums } from '../../proof/figure.ts';
import { FIGURES } from '../../proof/figures.ts';
import { NAMED_TESTS } from '../../proof/invariants.ts';
import { renderPage } from '../../proof/page.ts';
import { readResults, ROOT } from '../../proof/results.ts';
import { COVERED_ROOMS } from '../../proof/rooms.ts';

const MAIN = join(ROOT, 'proof/main.ts');

describe('the proof', () => {
  test('is shown in docs/proof.md as it was measured', () => {
    expect(readFileSync(join(ROOT, 'docs/proof.md'), 'utf8')).toBe(renderPage(FIGURES, readResults()));
  });

  test('names only tests that are there', () => {
    const isThere = (name: string): boolean =>
      ['.test.ts', ''].some((end) => existsSync(join(ROOT, 'test', name + end)));
    expect(NAMED_TESTS.filter((name) => !isThere(name))).toEqual([]);
  });

  test.each(FIGURES)('$name: has tests that tell what it judges', ({ parts }) => {
    const texts = parts.flatMap((part) => ('test' in part ? join(ROOT, 'test', `${part.test}.test.ts`) : []));
    expect(texts.filter((path) => !existsSync(path))).toEqual([]);
    const isTold = texts.some((path) => readFileSync(path, 'utf8').includes('tell({'));
    expect(isTold || parts.some((part) => !('test' in part))).toBe(true);
  });

  test.each(COVERED_ROOMS)('$name: the files and tests of its coverage are there', ({ files, tests }) => {
    const absent = [...files, ...tests].filter((pattern) => globSync(pattern, { cwd: ROOT }).length === 0);
    expect(absent).toEqual([]);
  });

  test('counts the branches of each room, and names those that no test reached', () => {
    const branch = (lines: readonly (number | undefined)[]) => ({
      loc: { start: { line: 1 } },
      locations: lines.map((line) => (line === undefined ? { start: {} } : { start: { line } })),
    });
    const report = {
      [join(ROOT, 'src/server/auth.ts')]: {
        b: { 0: [0, 0], 1: [4] },
        branchMap: { 0: branch([9, 3]), 1: branch([5]) },
      },
      [join(ROOT, 'src/core/rules/task.ts')]: { b: { 0: [2, 0] }, branchMap: { 0: branch([12, undefined]) } },
    };
    expect(countBranches(report, COVERED_ROOMS)).toEqual({
      facts: expect.objectContaining({
        'core branches': 2,
        'core covered': 1,
        'ledger branches': 0,
        'auth branches': 3,
        'auth covered': 1,
      }) as object,
      // The way of an `if` without `else` has no line of its own.
      uncovered: ['src/core/rules/task.ts:1', 'src/server/auth.ts:3', 'src/server/auth.ts:9'],
    });
  });

  test('a room with a branch that no test reaches misses the goal, however small its part is', () => {
    const all = COVERED_ROOMS.map(({ name }) => ({ [`${name} branches`]: 9_999, [`${name} covered`]: 9_999 }));
    const figure = FIGURES.find(({ name }) => name === 'coverage');
    expect(figure?.judge(new Sums(all))).toMatchObject({ met: true });
    expect(figure?.judge(new Sums([...all, { 'core branches': 1 }]))).toEqual({
      met: false,
      measured: expect.stringContaining('core 99.9 % (9,999 of 10,000); ledger 100.0 % (9,999 of 9,999)') as string,
    });
  });

  test.each(FIGURES)('$name: is missed if nothing was told', ({ judge }) => {
    expect(judge(new Sums([]))).toMatchObject({ met: false });
  });

  test('adds up what the tests of a figure counted, and joins what they measured', () => {
    const sums = new Sums([{ kills: 2, ms: [5, 7] }, { kills: 3 }, { ms: [1] }]);
    expect([sums.count('kills'), sums.count('claims')]).toEqual([5, 0]);
    expect([sums.most('ms'), sums.p99('ms'), sums.most('none')]).toEqual([7, 7, Infinity]);
  });

  test('lists its figures, and refuses one that is none', () => {
    const list = execFileSync(process.execPath, [MAIN, '--list'], { encoding: 'utf8' });
    for (const { name } of FIGURES) expect(list).toContain(`${name.padEnd(12)} `);
    const refused = spawnSync(process.execPath, [MAIN, 'lots'], { encoding: 'utf8' });
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain('There is no figure "lots"; there are lost, shown,');
  });
});
