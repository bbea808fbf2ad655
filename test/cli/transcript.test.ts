import { describe, expect, test } from 'vitest';
import { entryText, entryWriter } from '../../src/cli/show/transcript-lines.ts';
import type { Entry } from '../../src/cli/show/transcript-lines.ts';

const SCREEN = { isTerminal: false, hasColor: false, columns: 80, now: 0 };

describe('a line of a transcript', () => {
  test.for<[Omit<Entry, 'at'> & { type: string }, string]>([
    [{ type: 'permission', tool: 'shell', description: 'run the tests' }, '? asks: run the tests\n'],
    [{ type: 'permission', tool: 'shell', description: '' }, '? asks: shell\n'],
    [{ type: 'turnEnd', reason: 'cancelled' }, '■ cancelled\n'],
    [{ type: 'turnEnd', reason: 'failed', error: 'no money' }, '■ failed: no money\n'],
    [{ type: 'turnEnd', reason: 'done' }, '■ done\n'],
    [
      { type: 'rejected', taskId: '3', feedback: '1 failed\nfix it' },
      '✗ task #3 was sent back: 1 failed\n         fix it\n',
    ],
    [{ type: 'usage', usage: {} }, ''],
    [{ type: 'shown', messageIds: ['1'] }, ''],
  ])('says what happened, without the bookkeeping: %o', ([entry, said]) => {
    expect(entryText({ at: 0, ...entry }, SCREEN).replace(/^[\d:]+ /, '')).toBe(said);
  });
});

describe('lines of a transcript that come in several reads', () => {
  const said = (text: string, more: object = {}): Entry => ({ at: 0, type: 'text', text, ...more });
  const write = (entries: readonly Entry[], columns = Infinity): string => {
    const writer = entryWriter(() => ({ ...SCREEN, columns }));
    const text = entries.map((entry) => writer.add(entry)).join('') + writer.end();
    return text.replace(/\d\d:\d\d:\d\d/g, 'hh:mm:ss');
  };

  test('are put together, whatever bookkeeping comes in between', () => {
    const entries = [
      said('The par', { unfinished: true }),
      { at: 0, type: 'usage' },
      said('ser is\ndo', { continues: true, unfinished: true }),
      said('ne', { continues: true }),
      said('Next'),
    ];
    expect(write(entries)).toBe('hh:mm:ss The parser is\n         done\nhh:mm:ss Next\n');
  });

  test('end with the next entry, or with the view', () => {
    const unfinished = said('So far', { unfinished: true });
    expect(write([unfinished, { at: 0, type: 'turnEnd', reason: 'done' }])).toBe('hh:mm:ss So far\nhh:mm:ss ■ done\n');
    expect(write([unfinished, said('Another')])).toBe('hh:mm:ss So far\nhh:mm:ss Another\n');
    expect(write([unfinished])).toBe('hh:mm:ss So far\n');
    // The entry that it continues is not in this view.
    expect(write([said('rest', { continues: true })])).toBe('hh:mm:ss rest\n');
  });

  test('break at the width of the terminal', () => {
    const entries = [said('one two', { unfinished: true }), said(' three four five', { continues: true })];
    expect(write(entries, 24)).toBe('hh:mm:ss one two three\n         four five\n');
  });

  test('have the feedback of a gate once, although the next turn repeats it for the agent', () => {
    const feedback = '`npm test` ended with exit code 1:\n1 failed\n$& fix it';
    const turn = {
      at: 0,
      type: 'turn',
      text: `Your work on it was sent back. What has to change:\n\n${feedback}\n\nGo on`,
    };
    const rejected = { at: 0, type: 'rejected', taskId: '3', feedback };
    const both = write([rejected, turn]);
    expect(both.split('1 failed')).toHaveLength(2);
    expect(both).toContain('What has to change:\n         \n         (as above)\n         \n         Go on\n');
    // A view that begins with the turn, or shows the last lines alone, has it there.
    const last = entryWriter(() => SCREEN, { isWhole: false });
    expect([last.add(rejected), last.add(turn)].join('').split('1 failed')).toHaveLength(3);
    expect(write([turn])).toContain('1 failed\n');
  });
});
