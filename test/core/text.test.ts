import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Actor } from '../../src/core/actor.ts';
import { TeamError } from '../../src/core/errors.ts';
import { ChosenId, isChosenId, isSlug, Line, Slug, suggestSlug, TaskId, textOf } from '../../src/core/fields.ts';
import { ID_LENGTH } from '../../src/core/limits.ts';
import { parse } from '../../src/core/parse.ts';
import { CreateTaskInput, FilePatterns } from '../../src/core/task.ts';
import { byteLength, cutToBytes, firstLine, inOneLine, oneLine, quote } from '../../src/core/text.ts';
import { anyText } from '../any-text.ts';
import { tries } from '../proof.ts';

/** Text with an effect on a terminal, a shell, a path or an object, and frequent invalid names. */
const HOSTILE_NAMES = [
  '',
  ' ',
  '.',
  '..',
  '../x',
  '..\\x',
  '/abs',
  'C:\\x',
  'a/b',
  '~',
  '-rf',
  '--help',
  'a;b',
  'a|b',
  'a&b',
  '$(id)',
  '`id`',
  '#(id)',
  '#{pane_id}',
  '%0a',
  'x\0y',
  'x\ny',
  'x\n',
  '\nx',
  'x\r',
  'x\u001b[2J',
  'x\u009b2J',
  'x\u007f',
  'x\u202ey',
  'x\u2066y',
  'x\u200by',
  '\ufeffx',
  'x\u2028y',
  'a'.repeat(65),
  'a'.repeat(300),
  '🤖'.repeat(300),
  '__proto__',
  'constructor',
  'prototype',
  'con',
  'nul',
  'com1',
  'lpt9',
  'CON',
  'x.lock',
  'x.json',
  '🤖',
  'a🤖b',
  'naïve',
  'e\u0301',
  '\u00e9',
  'ａｂ',
  'бob',
  'Bob',
  'bob ',
  ' bob',
  'bob-',
  '-bob',
  'bob_',
  '_bob',
  '@user',
  'bob@team',
  'all',
  'everyone',
  'user',
  'system',
  'null',
  'true',
  '\ud800',
];

const PRINTABLE = /^[\x20-\x7e…]+$/;

describe('a name', () => {
  test.each(['a', '7', 'bob', 'bob-2', 'a_b', 'a--b', 'a'.repeat(64), 'lead', 'nulls', 'con-1', 'x'])(
    'may be %s',
    (name) => {
      expect(parse(Slug, name)).toBe(name);
      expect(isSlug(name)).toBe(true);
    },
  );

  test.each(HOSTILE_NAMES)('is never %j, and the refusal shows a valid one', (name) => {
    const message = refusal(Slug, name);
    expect(message).toMatch(PRINTABLE);
    expect(message.length).toBeLessThan(700);
    const [, shown] = /; try "([^"]*)"$/.exec(message) ?? [];
    expect(isSlug(shown ?? '')).toBe(true);
    expect(message.startsWith(quote(name))).toBe(true);
    expect(parse(Slug, shown)).toBe(shown);
  });

  test('is refused either as reserved or as invalid', () => {
    expect(refusal(Slug, 'con')).toBe('"con" is a reserved word; try "con-1"');
    expect(refusal(Slug, 'Bob')).toBe('"Bob" is not a name (a-z, 0-9, - and _ inside, at most 64); try "bob"');
    expect(refusal(Slug, '🎉')).toBe(
      String.raw`"\u{1f389}" is not a name (a-z, 0-9, - and _ inside, at most 64); try "name-1"`,
    );
    expect(refusal(Slug, 7)).toBe('The input must be text, not a number');
  });

  test('has no twin: of all cases and Unicode forms only one is valid', () => {
    for (const twins of [
      ['Bob', 'bob', 'BOB', 'Ｂｏｂ'],
      ['zo\u00eb', 'zoe\u0308', 'ZO\u00cb'],
    ]) {
      expect(new Set(twins.map(suggestSlug)).size).toBe(1);
      expect(twins.filter(isSlug).length).toBeLessThan(2);
    }
  });

  test('can be made from any text', () => {
    const text = fc.oneof(
      anyText(100),
      fc.string({ unit: fc.constantFrom('a', '-', '_', 'Z', '9', '\u0300', 'İ', 'ß', 'ﬁ'), maxLength: 100 }),
      fc.constantFrom(...HOSTILE_NAMES),
    );
    fc.assert(
      fc.property(text, (anything) => {
        const name = suggestSlug(anything);
        expect(isSlug(name)).toBe(true);
        expect(suggestSlug(name)).toBe(name);
      }),
      tries(667),
    );
  });

  test('of an actor may also be a person or Troupe itself, and nothing else with an @', () => {
    for (const by of ['bob', '@user', '@system']) expect(parse(Actor, by)).toBe(by);
    for (const by of ['@', '@lead', '@USER', 'user', 'bob@alpha']) expect(() => parse(Actor, by)).toThrow(TeamError);
  });
});

describe('a task id', () => {
  test.each(['1', '7', '999999999999999'])('may be %s', (id) => expect(parse(TaskId, id)).toBe(id));

  test.each(['', '0', '01', '-1', '1.5', '1e3', ' 1', '1\n', '٣', '1000000000000000', 'x', '../1'])(
    'is never %j',
    (id) => expect(refusal(TaskId, id)).toBe('is not a task id (a whole number such as "7")'),
  );
});

describe('an id that its creator chose', () => {
  test.each(['a', 'A1', 'a.b_c:d@e-f', 'x'.repeat(128), '7c2b9c52-0b0f-4bd7-9a3e-6b1a7d2f5d10'])('may be %s', (id) =>
    expect(parse(ChosenId, id)).toBe(id),
  );

  test.each(['', 'a/b', '-a', '.a', 'a b', 'a\n', 'ä', 'x'.repeat(129)])('is never %j', (id) => {
    expect(refusal(ChosenId, id)).toMatch(PRINTABLE);
  });
});

describe('a line', () => {
  test('has at most 1000 characters, however many bytes they take', () => {
    for (const line of ['', 'x'.repeat(1000), '🤖'.repeat(1000), 'a\tb']) expect(parse(Line, line)).toBe(line);
    expect(() => parse(Line, 'x'.repeat(1001))).toThrow('1000');
    expect(() => parse(Line, '🤖'.repeat(1001))).toThrow('1000');
  });

  test.each(['a\nb', 'a\r', '\n', 'a\u2028b', 'a\u0000', '\u001b[2J', '\u009b2J', '\u007f'])(
    'is a single line: %j is not',
    (line) => {
      expect(refusal(Line, line)).toBe('must be one line, without control characters');
      expect(refusal(CreateTaskInput, { title: line })).toBe('title: must be one line, without control characters');
    },
  );
});

describe('the bytes of a text', () => {
  test('are those of UTF-8', () => {
    const unit = fc.constantFrom('a', 'ä', '€', '🤖', '\ud800', '\udc00', '\udfff', '\u07ff', '\u0800', '\uffff');
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit }), anyText(20)), (text) => {
        expect(byteLength(text)).toBe(Buffer.byteLength(text));
      }),
      tries(334),
    );
  });

  test.each([
    ['ASCII', 'x', 1],
    ['two bytes', 'ä', 2],
    ['three bytes', '€', 3],
    ['a surrogate pair', '🤖', 4],
    ['half a pair', '\ud83e', 3],
  ])('bound it: %s', (_what, character, bytes) => {
    const schema = textOf(12);
    const most = character.repeat(Math.floor(12 / bytes));
    expect(parse(schema, most)).toBe(most);
    expect(refusal(schema, `${most}${character}`)).toBe('is longer than 12 bytes: put it in a file and name the file');
  });
});

describe('a refusal', () => {
  test('quotes foreign text shortened, and without control characters', () => {
    expect(quote('a"b\\')).toBe(String.raw`"a\"b\\"`);
    expect(quote('\u001b[2J\u009b\u202e\n')).toBe(String.raw`"\u001b[2J\u009b\u202e\n"`);
    expect(quote('x'.repeat(80))).toBe(`"${'x'.repeat(80)}"`);
    expect(quote('x'.repeat(81))).toBe(`"${'x'.repeat(79)}…"`);
    fc.assert(fc.property(anyText(20), (text) => PRINTABLE.test(quote(text))));
  });

  test('names the wrong fields, at most five', () => {
    expect(refusal(CreateTaskInput, { title: '', dependencies: ['x'] })).toBe(
      'title: must not be empty; dependencies.0: is not a task id (a whole number such as "7")',
    );
    const many = refusal(CreateTaskInput, {
      title: 1,
      description: 1,
      activeForm: 1,
      priority: 1,
      assigneeId: 1,
      x: 1,
    });
    expect(many.split('; ')).toHaveLength(5);
  });

  test('of an unknown field is short, and without control characters', () => {
    const hostile = refusal(CreateTaskInput, { title: 'x', '\u001b[2J\u202e': 1 });
    expect(hostile).toBe(String.raw`The input has no key "\u001b[2J\u202e"`);
    expect(refusal(CreateTaskInput, { title: 'x', ['x'.repeat(1e6)]: 1 }).length).toBeLessThan(200);
    const deep = z.record(z.string(), z.number());
    expect(refusal(deep, { 'a\u0007': 'x' })).toMatch(/^a\\u0007: /);
  });

  test('of a whole value has no path', () => {
    expect(refusal(CreateTaskInput, null)).toBe('The input must be an object, not null');
  });

  test.each([
    [{}, 'title: is missing: it must be text'],
    [{ title: 'x'.repeat(501) }, 'title: must be at most 500 characters'],
    [{ title: 'x', dependencies: Array.from({ length: 65 }, () => '1') }, 'dependencies: must be at most 64 entries'],
    [{ title: 'x', dependencies: '1' }, 'dependencies: must be a list, not text'],
    [
      { title: 7, description: true },
      'title: must be text, not a number; description: must be text, not true or false',
    ],
  ])('says in plain words what %j must be', (value, words) => {
    expect(refusal(CreateTaskInput, value)).toBe(words);
  });

  test.each([
    [z.number().min(0), -1, 'The input must be at least 0'],
    [z.number().int(), 1.5, 'The input must be a whole number'],
    [z.number().min(0, 'is never negative'), -1, 'is never negative'],
  ])("uses the schema's own words if it has some: %#", (schema, value, words) => {
    expect(refusal(schema, value)).toBe(words);
  });
});

function refusal(schema: z.ZodType, value: unknown): string {
  try {
    parse(schema, value);
  } catch (error) {
    expect(error).toMatchObject({ name: 'TeamError', code: 'invalid' });
    return (error as TeamError).message;
  }
  return expect.unreachable(`${quote(String(value))} was accepted`);
}

test('a text is cut to bytes between characters', () => {
  expect(cutToBytes('short', 5)).toBe('short');
  expect(cutToBytes('äöüä', 8)).toBe('äöüä');
  expect(cutToBytes('äöüä', 7)).toBe('äö…');
  expect(cutToBytes('a😀😀', 8)).toBe('a😀…');
});

test('the first line is all of a text with one line', () => {
  expect([firstLine('a\nb\nc'), firstLine('a'), firstLine(''), firstLine('\na')]).toEqual(['a', 'a', '', '']);
});

test('a chosen id is told by its letters and its length, as by its schema', () => {
  for (const id of ['a', 'A.b_c:d@e-1', '-a', 'a/b', '', 'x'.repeat(10_000)]) {
    expect(isChosenId(id), id.slice(0, 20)).toBe(ChosenId.safeParse(id).success);
  }
});

test.each([
  [{ title: z.string() }, 7, 'The input must be an object, not a number'],
  [{ title: z.string() }, { title: 'a', other: 1 }, 'The input has no key "other"'],
  [{ part: z.strictObject({}) }, { part: { x: 1 } }, 'part: it has no key "x"'],
  [{ share: z.number().positive() }, { share: 0 }, 'share: must be more than 0'],
  [{ count: z.number().int() }, { count: 1.5 }, 'count: must be a whole number'],
  [{ count: z.number().int().min(1) }, { count: 0 }, 'count: must be at least 1'],
  [{ list: z.array(z.string()).max(1) }, { list: ['a', 'b'] }, 'list: must be at most 1 entries'],
  [{ kind: z.enum(['a', 'b']) }, { kind: 'c' }, 'kind: Invalid option: expected one of "a"|"b"'],
  [{ names: z.record(Slug, z.string()) }, { names: { 'A B': 'x' } }, 'names.A B: "A B" is not a name'],
] as const)('what is wrong with %# is said in words', (shape, value, problem) => {
  expect(() => parse(z.strictObject(shape as z.ZodRawShape), value)).toThrow(problem);
});

test('patterns of files are relative and well formed', () => {
  expect(parse(FilePatterns, ['src/**'])).toEqual(['src/**']);
  expect(() => parse(FilePatterns, ['../a'])).toThrow(/^0: /);
});

test('lines and other spaces of a text in one line are single spaces', () => {
  const text = ' one\n\t two\u2028three\r\n';
  expect(oneLine(text, 50)).toBe('one two three');
  expect(inOneLine('one\n two')).toBe('one two');
});

test('a name that is suggested is never too long, and an id may be as long as it may be', () => {
  const long = suggestSlug('A'.repeat(200));
  expect(long).toBe('a'.repeat(64));
  // What would be reserved or end badly gets a number, and still fits.
  expect(suggestSlug('con')).toBe('con-1');
  expect(isSlug(suggestSlug(`${'a'.repeat(63)}-b`))).toBe(true);
  expect([isChosenId('a'.repeat(ID_LENGTH)), isChosenId('a'.repeat(ID_LENGTH + 1))]).toEqual([true, false]);
  expect([textOf(6).safeParse('éée').success, textOf(6).safeParse('éééé').success]).toEqual([true, false]);
});
