import { describe, expect, test } from 'vitest';
import { entryText } from '../../src/cli/transcript.ts';
import type { Entry } from '../../src/cli/transcript.ts';

const SCREEN = { isTerminal: false, hasColor: false, columns: 80, now: 0 };

describe('a line of a transcript', () => {
  test.for<[Omit<Entry, 'at'> & { type: string }, string]>([
    [{ type: 'permission', tool: 'shell', description: 'run the tests' }, '? asks: run the tests\n'],
    [{ type: 'permission', tool: 'shell', description: '' }, '? asks: shell\n'],
    [{ type: 'turnEnd', reason: 'cancelled' }, '■ cancelled\n'],
    [{ type: 'turnEnd', reason: 'failed', error: 'no money' }, '■ failed: no money\n'],
    [{ type: 'turnEnd', reason: 'done' }, '■ done\n'],
    [{ type: 'usage', usage: {} }, ''],
    [{ type: 'shown', messageIds: ['1'] }, ''],
  ])('says what happened, and nothing of the bookkeeping: %o', ([entry, said]) => {
    expect(entryText({ at: 0, ...entry }, SCREEN).replace(/^[\d:]+ /, '')).toBe(said);
  });
});
