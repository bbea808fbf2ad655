import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { instrument } from '../../proof/mutations/instrument.ts';
import { measureRoom, scoreOf } from '../../proof/mutations/measure.ts';
import { intervalOf } from '../../proof/mutations/score.ts';
import { ROOT } from '../../proof/results.ts';
import { ACCEPTED } from '../../proof/survivors.ts';

const mutantsOf = (source: string): string[] => {
  const { mutants } = instrument('a.ts', source, { firstId: 0, load: '/switch.cjs' });
  return mutants.map(({ was, now }) => `${was} -> ${now}`);
};

describe('mutants', () => {
  test.each([
    ['if (a < b) c = d;', ['a < b -> true', 'a < b -> false', 'a < b -> a <= b', 'c = d; -> ']],
    ['const f = () => a && !b;', ['a && !b -> a', 'a && !b -> !b', '!b -> b']],
    [
      'const f = () => a?.b[0]?.(c) ?? d;',
      [
        'a?.b[0]?.(c) ?? d -> a?.b[0]?.(c)',
        'a?.b[0]?.(c) ?? d -> d',
        'a?.b[0]?.(c) -> a.b[0]?.(c)',
        'a?.b[0]?.(c) -> a?.b[0](c)',
      ],
    ],
    ['const f = () => a.some(g);', ['a.some(g) -> true', 'a.some(g) -> false', 'a.some(g) -> a.every(g)']],
    ['const f = () => Math.max(a, b.max(c));', ['Math.max(a, b.max(c)) -> Math.min(a, b.max(c))']],
    ['const f = () => g(["a"], b.trim());', ['["a"] -> []', `"a" -> ''`, 'b.trim() -> b']],
    ['const f = () => { throw new Error("no"); };', ['throw new Error("no"); -> ']],
    ['const a: "b" | 1 = c as "b"; import d from "e"; const f = { "g": 1 };', []],
    [
      'for (let i = 0; i < n; i++) s += i * 2;',
      [
        'i < n -> false',
        'i < n -> i <= n',
        'i++ -> i--',
        's += i * 2; -> ',
        's += i * 2 -> s -= i * 2',
        'i * 2 -> i / 2',
      ],
    ],
  ])('%s', (source, expected) => {
    expect(mutantsOf(source).toSorted()).toEqual(expected.toSorted());
  });

  test('are killed by tests that fail or hang, also in processes that tests start and in code that runs at load; others survive', async () => {
    const measured = await measureRoom(
      { sources: ['src/*.ts'], tests: ['checks/*.check.ts'] },
      {
        root: join(ROOT, 'test/fixtures/mutations'),
        seed: 1,
        sample: Infinity,
        lanes: 1,
        signal: new AbortController().signal,
        say: () => {},
      },
    );
    const of = (...fates: string[]): string[] =>
      measured.fates.flatMap(({ mutant: { line, was, now }, fate }) =>
        fates.includes(fate) ? [`${line}: ${was} -> ${now}`] : [],
      );
    expect(measured.failed).toEqual([]);
    expect(of('not covered')).toEqual([
      `22: 'you' -> ''`,
      '27: true -> false',
      `36: throw new Error('It is in use'); -> `,
      `39: 'in use' -> ''`,
    ]);
    expect(of('survived')).toEqual([
      `22: name ?? 'you' -> name`,
      '36: used.size > 0 -> false',
      `37: used.add('it'); -> `,
      '39: used.size === 0 -> true',
      '5: words.length === 1 -> true',
    ]);
    expect(of('load')).toEqual(['31: 60 * 1_000 -> 60 / 1_000']);
    expect(of('hang')).toEqual([`16: setImmediate(() => resolve('done')); -> `]);
    // `i--` counts down for ever, without `delete` all that follows fails, and a program ends with another code.
    expect(of('test')).toEqual(
      expect.arrayContaining(['9: i++ -> i--', `38: used.delete('it'); -> `, '5: words.length === 1 -> false']),
    );
    expect(scoreOf('known', measured)).toMatchObject({ mutants: 32, sample: 32, killed: 23, hung: 1 });
  });

  test.each(ACCEPTED)('$file: $was may be $now, and it is there', ({ file, was, now }) => {
    const { mutants } = instrument(file, readFileSync(join(ROOT, file), 'utf8'), { firstId: 0, load: '/switch.cjs' });
    const isThere = mutants.some((one) => one.was === was && one.now === now);
    expect(isThere, 'the code has changed: remove the reason from proof/survivors.ts, or change it').toBe(true);
  });

  test('of a sample have an interval, and of all none', () => {
    const [least, most] = intervalOf({ killed: 90, sample: 100, mutants: 1_000 });
    expect([least.toFixed(3), most.toFixed(3)]).toEqual(['0.826', '0.945']);
    expect(intervalOf({ killed: 9, sample: 10, mutants: 10 })).toEqual([0.9, 0.9]);
  });
});
