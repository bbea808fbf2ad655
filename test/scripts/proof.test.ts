import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Sums } from '../../proof/figure.ts';
import { FIGURES } from '../../proof/figures.ts';
import { renderPage } from '../../proof/page.ts';
import { readResults, ROOT } from '../../proof/results.ts';

const MAIN = join(ROOT, 'proof/main.ts');

describe('the proof', () => {
  test('is shown in docs/proof.md as it was measured', () => {
    expect(readFileSync(join(ROOT, 'docs/proof.md'), 'utf8')).toBe(renderPage(FIGURES, readResults()));
  });

  test.each(FIGURES)('$name: has tests that tell what it judges', ({ parts }) => {
    const texts = parts.map(({ test }) => join(ROOT, 'test', `${test}.test.ts`));
    expect(texts.filter((path) => !existsSync(path))).toEqual([]);
    expect(texts.some((path) => readFileSync(path, 'utf8').includes('tell({'))).toBe(true);
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
