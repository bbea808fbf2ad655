import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { wordError } from '../../src/core/error-words.ts';
import type { Naming } from '../../src/core/error-words.ts';
import { TeamError } from '../../src/core/errors.ts';
import { parse } from '../../src/core/parse.ts';

const FLAGS: Naming = {
  field: (name) => (name === 'dependencies' ? '--needs' : name),
  speaker: 'pass --as MEMBER',
  list: (noun) => `troupe ${noun} list shows them`,
  option: ({ field, effect }) => `${effect} (--${field})`,
};

describe('an error in the words of a face', () => {
  test.each([
    ['no facts', {}, 'No'],
    ['a speaker that is missing', { needs: 'speaker' }, 'No: pass --as MEMBER'],
    ['a list that shows what there is', { list: 'task' }, 'No: troupe task list shows them'],
    [
      'an input that allows it',
      { option: { field: 'force', effect: 'do it anyway' } },
      'No, or do it anyway (--force)',
    ],
  ] as const)('%s', (_what, facts, worded) => {
    expect(wordError(new TeamError('conflict', 'No', { facts }), FLAGS)).toBe(worded);
  });

  test('has words of its own where the face has none', () => {
    const bare = { speaker: 'say who you are' };
    expect(wordError({ message: 'No' }, bare)).toBe('No');
    expect(wordError({ message: 'No', facts: { list: 'task' } }, bare)).toBe('No: list the tasks to see which exist');
    const problems = [
      { field: '', problem: 'The input must be an object' },
      { field: 'title', problem: 'is missing' },
    ];
    expect(wordError({ message: 'No', facts: { problems } }, bare)).toBe(
      'The input must be an object; title: is missing',
    );
  });

  test('answers a question in a sentence of its own', () => {
    const error = new TeamError('invalid', 'Whose inbox?', { facts: { needs: 'speaker' } });
    expect(wordError(error, FLAGS)).toBe('Whose inbox? Pass --as MEMBER');
  });

  test('names the wrong fields as the face does, and keeps the rest of the text', () => {
    const Input = z.strictObject({ dependencies: z.array(z.string()), title: z.string() });
    let error: unknown;
    try {
      parse(Input, { dependencies: ['1', 2], title: 3 });
    } catch (thrown) {
      error = thrown;
    }
    const failure = error as TeamError;
    expect(failure.message).toBe('dependencies.1: must be text, not a number; title: must be text, not a number');
    expect(wordError(failure, FLAGS)).toBe('--needs.1: must be text, not a number; title: must be text, not a number');
  });

  test('omits what the face does not have', () => {
    const facts = { option: { field: 'force', effect: 'do it anyway' } };
    expect(wordError(new TeamError('conflict', 'No', { facts }), { speaker: '', option: () => undefined })).toBe('No');
    expect(wordError(new TeamError('conflict', 'No', { facts }), { speaker: '' })).toBe('No, or do it anyway (force)');
  });
});
