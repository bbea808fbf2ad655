import { expect, test } from 'vitest';
import { loadPart } from './part.ts';

const { rank, findBest } = await loadPart<{
  rank: (entry: string, typed: string) => number;
  findBest: (
    entries: readonly string[],
    typed: string,
    options: { most: number; entryOf: (one: string) => string },
  ) => string[];
}>('ui/palette/rank.ts');
const { fitsCard } = await loadPart<{ fitsCard: (content: string) => boolean }>('ui/queue/fits-card.ts');
const { labelTicks, stepsFrom } = await loadPart<{
  labelTicks: (ticks: readonly number[], show: (tick: number, largest: number) => string) => string[];
  stepsFrom: (least: number) => number[];
}>('ui/parts/axis.ts');
const { showControls } = await loadPart<{ showControls: (text: string) => string }>('ui/parts/controls.ts');
const { showCost } = await loadPart<{ showCost: (usd: number, largest: number) => string }>('ui/parts/format.ts');
const { initialsOf } = await loadPart<{ initialsOf: (name: string) => string }>('ui/parts/initials.ts');
const { withoutRepeat } = await loadPart<{ withoutRepeat: (content: string, feedback?: string) => string }>(
  'ui/queue/repeat.ts',
);

test('a name that begins with the typed text ranks before one that contains it, and scattered letters rank last', () => {
  const entries = [
    '#7 Clean the room and rest at home',
    'Create a task',
    'member bo create',
    '#3 Recreate the fixture',
    'team create-it',
    'member create tests',
  ];
  const found = (typed: string): string[] =>
    entries.filter((entry) => rank(entry, typed) > 0).toSorted((a, b) => rank(b, typed) - rank(a, typed));
  expect(found('create')).toEqual([
    'Create a task',
    'member create tests',
    'team create-it',
    'member bo create',
    '#3 Recreate the fixture',
    '#7 Clean the room and rest at home',
  ]);
  expect(found('#3')).toEqual(['#3 Recreate the fixture']);
  expect(found('3')[0]).toBe('#3 Recreate the fixture');
  expect(found('MEMBER  bo')[0]).toBe('member bo create');
  expect(found('task create')).toEqual(['Create a task']);
  expect(found('zebra')).toEqual([]);
  // Scattered letters match only the name of an entry, not its kind.
  expect(found('emb')).toEqual([]);
  expect(found('meb bo')).toEqual([]);
  expect(found('member')).toEqual(['member bo create', 'member create tests']);
});

test('all of many tasks are searched, and the best matches are shown, the newest first', () => {
  const tasks = Array.from({ length: 2_000 }, (_, i) => `#${i + 1} ${i % 500 === 0 ? 'Mend' : 'Make'} part ${i}`);
  const find = (typed: string): string[] => findBest(tasks, typed, { most: 3, entryOf: (one) => one });
  expect(find('#1')).toContain('#1 Mend part 0');
  expect(find('mend')).toEqual(['#1501 Mend part 1500', '#1001 Mend part 1000', '#501 Mend part 500']);
  expect(find('')).toEqual(tasks.slice(-3));
});

test('a command can be answered from a card only if the card shows all of it', () => {
  expect(fitsCard('npm test\nnpm run build')).toBe(true);
  expect(fitsCard('a\n'.repeat(9))).toBe(false);
  expect(fitsCard('a'.repeat(600))).toBe(false);
});

test('an axis repeats no label, and takes no step that is less than one thing', () => {
  expect(labelTicks([0, 0.4, 0.8, 1.2], (tick) => tick.toFixed(0))).toEqual(['0', '', '1', '']);
  expect(stepsFrom(1).slice(0, 4)).toEqual([1, 2, 5, 10]);
  expect(labelTicks([0, 50_000, 100_000], showCost)).toEqual(['$0', '$50k', '$100k']);
  expect(labelTicks([0, 5_000, 10_000], showCost)).toEqual(['$0', '$5,000', '$10,000']);
  expect(labelTicks([0, 0.5, 1], showCost)).toEqual(['$0.00', '$0.50', '$1.00']);
});

test('invisible and control characters are shown by their number; tabs, line breaks and joined letters stay', () => {
  expect(showControls('rm\u200b -rf \u202ex\u{e0041}\u0007\u001b[2J\u009b1m\rls')).toBe(
    'rm[U+200B] -rf [U+202E]x[U+E0041][U+0007][U+001B][2J[U+009B]1m[U+000D]ls',
  );
  for (const text of ['a\tb\r\nc\n', 'می\u200cخواهم', '👩\u200d💻', 'שלום']) expect(showControls(text)).toBe(text);
});

test('the last feedback of a gate is shown once', () => {
  const feedback = 'npm test: 1 failed\n\n  expected 0. Found 2';
  const said = `Task #3 was sent back 3 times. The last feedback: ${feedback}`;
  expect(withoutRepeat(said, feedback)).toBe('Task #3 was sent back 3 times.');
  expect(withoutRepeat(said, 'something else')).toBe(said);
  expect(withoutRepeat(said)).toBe(said);
  expect(withoutRepeat(`It said: ${feedback}`, feedback)).toBe('');
  // Feedback that also occurs earlier in the text, or that repeats a word.
  for (const short of ['gate', 'no, no', 'task #3']) {
    const told = `Task #3 was sent back 3 times. The last feedback: ${short}`;
    expect(withoutRepeat(told, short)).toBe('Task #3 was sent back 3 times.');
  }
});

test('members with similar names have different initials', () => {
  const all = [
    'lead',
    'fixer-a',
    'fixer-b',
    'worker-1',
    'worker-12',
    'worker-113',
    'ui_tester',
    '-',
    '',
    '@user',
    'Ärztin-β',
  ];
  expect(all.map(initialsOf)).toEqual(['l', 'fa', 'fb', 'w1', '12', '13', 'ut', '?', '?', 'y', 'Äβ']);
});
