import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isTooDeep, mergeMetadata, Metadata, nestsDeeper } from '../../src/core/json.ts';
import { JSON_DEPTH, METADATA_BYTES } from '../../src/core/limits.ts';
import { parse } from '../../src/core/parse.ts';
import { teamOf } from './stage.ts';

const NOT_JSON = `must be JSON at most ${JSON_DEPTH} levels deep, without a key "__proto__"`;

describe('metadata', () => {
  test.each([
    ['nothing', {}],
    ['every kind of value', { text: 'ä', number: -1.5, yes: true, none: null, list: [1, [2]], object: { a: {} } }],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
    ['keys that only look dangerous', { constructor: 1, toString: 2, prototype: 3, __x__: 4 }],
    ['the deepest that is allowed', { a: nested(JSON_DEPTH - 1) }],
    ['the largest that is allowed', { a: 'x'.repeat(METADATA_BYTES - '{"a":""}'.length) }],
    ['a surrogate without its half, which JSON escapes', { a: '\ud800' }],
  ])('may hold %s', (_what, value) => {
    const metadata = parse(Metadata, value);
    expect(metadata).toEqual({ ...value });
    expect(JSON.parse(JSON.stringify(metadata))).toEqual(metadata);
  });

  test.each([
    ['a Date', { a: new Date(0) }],
    ['a Map', { a: new Map() }],
    ['a BigInt', { a: 1n }],
    ['a function', { a: () => 1 }],
    ['a symbol', { a: Symbol('a') }],
    ['undefined', { a: undefined }],
    ['NaN', { a: Number.NaN }],
    ['infinity', { a: [Number.POSITIVE_INFINITY] }],
    [
      'an object of a class',
      {
        a: new (class Point {
          x = 1;
        })(),
      },
    ],
    ['an object that says how it wants to be written', { a: { toJSON: () => 1 } }],
    // oxlint-disable-next-line no-sparse-arrays -- holes are what is tried
    ['a list with a hole', { a: [1, , 2] }],
    ['a key __proto__', JSON.parse('{"__proto__":{"admin":true}}')],
    ['a key __proto__ further down', JSON.parse('{"a":[{"__proto__":{"admin":true}}]}')],
    ['one level too many', { a: nested(JSON_DEPTH) }],
    ['itself', ring()],
    ['a list', [1]],
    ['a text', 'text'],
    ['null', null],
    ['a Map in its place', new Map()],
  ])('cannot hold %s', (_what, value) => {
    expect(() => parse(Metadata, value)).toThrow(NOT_JSON);
    expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false);
  });

  test('is limited in bytes, not in characters', () => {
    const room = METADATA_BYTES - '{"a":""}'.length;
    parse(Metadata, { a: 'ä'.repeat(room / 2) });
    expect(() => parse(Metadata, { a: `ä${'x'.repeat(room - 1)}` })).toThrow(`is larger than ${METADATA_BYTES} bytes`);
  });

  test('is an object in JSON Schema', () => {
    expect(z.toJSONSchema(Metadata, { io: 'input' })).toMatchObject({ type: 'object' });
    expect(z.encode(Metadata, { a: 1 })).toEqual({ a: 1 });
  });

  test("is not the caller's own object", () => {
    const mine: Record<string, unknown> = { a: 1 };
    const metadata = parse(Metadata, mine);
    mine['a'] = 2;
    expect(metadata).toEqual({ a: 1 });
  });
});

describe('an update of metadata', () => {
  test.each([
    [undefined, undefined, undefined],
    [{ a: 1 }, undefined, { a: 1 }],
    [undefined, { a: 1 }, { a: 1 }],
    [
      { a: 1, b: 2 },
      { b: 3, c: 4 },
      { a: 1, b: 3, c: 4 },
    ],
    [{ a: 1, b: 2 }, { a: null }, { b: 2 }],
    [{ a: 1 }, { a: null }, undefined],
    [{ a: { b: 1 } }, { a: { c: 2 } }, { a: { c: 2 } }],
    [undefined, { a: null }, undefined],
  ])('of %j with %j gives %j', (before, changes, after) => {
    expect(mergeMetadata(before, changes)).toEqual(after);
  });

  test('is refused if the whole would be too large, however small each part is', () => {
    const part = 'x'.repeat(METADATA_BYTES / 2 - 20);
    const team = teamOf('ann');
    const taskId = team.task({ metadata: { a: part } });
    team.do('team.update', { metadata: { a: part } });
    team.do('member.change', { memberId: 'ann', metadata: { a: part } });
    team.do('task.update', { taskId, metadata: { b: part } });
    team.do('team.update', { metadata: { b: part } });
    team.do('member.change', { memberId: 'ann', metadata: { b: part } });
    const next = `would be larger than ${METADATA_BYTES} bytes: set keys to null to remove them`;
    expect(team.refuse('lead', 'task.update', { taskId, metadata: { c: part } })).toMatchObject({
      code: 'limit',
      message: `The metadata of task ${taskId} ${next}`,
    });
    expect(team.refuse('lead', 'team.update', { metadata: { c: part } })).toMatchObject({
      code: 'limit',
      message: `The metadata of team alpha ${next}`,
    });
    expect(team.refuse('lead', 'member.change', { memberId: 'ann', metadata: { c: part } })).toMatchObject({
      code: 'limit',
      message: `The metadata of member ann ${next}`,
    });
    team.do('task.update', { taskId, metadata: { a: null, c: part } });
    expect(Object.keys(team.view(taskId).metadata ?? {})).toEqual(['b', 'c']);
  });
});

test.each([
  ['[[]]', 2],
  ['{"a":[{}]}', 3],
  ['[],[],[[]]', 2],
  [String.raw`["[[[[", "\"[[[[", "\\", [1]]`, 2],
  ['["[[[[', 1],
])('the brackets of %s nest %i deep', (text, depth) => {
  expect(nestsDeeper(text, depth)).toBe(false);
  expect(nestsDeeper(text, depth - 1)).toBe(true);
});

function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)];
}

function ring(): object {
  const a: Record<string, unknown> = {};
  a['a'] = a;
  return a;
}

test('foreign text that nests deeper than any data of ours is noticed before it is parsed, if it is long', () => {
  const deep = '['.repeat(JSON_DEPTH + 17);
  expect(isTooDeep(deep + ' '.repeat(4 * 1024))).toBe(true);
  expect(isTooDeep(deep)).toBe(false);
  const padded = (length: number) => deep.padEnd(length);
  expect([isTooDeep(padded(4 * 1024)), isTooDeep(padded(4 * 1024 + 1))]).toEqual([false, true]);
  expect(isTooDeep('[]'.repeat(4 * 1024))).toBe(false);
});

test('brackets that are closed do not nest, of either kind', () => {
  expect(nestsDeeper(`[${'{},'.repeat(100)}{}]`, 3)).toBe(false);
  expect(nestsDeeper(`[${'[],'.repeat(100)}[]]`, 3)).toBe(false);
  expect(nestsDeeper('[{"a":[{}]}]', 3)).toBe(true);
});
