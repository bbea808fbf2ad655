import { describe, expect, test } from 'vitest';
import type { TeamEvent } from '../../src/core/event.ts';
import { importBatches } from '../../src/core/imported.ts';
import { readPackage, writePackage } from '../../src/runtime/team-package.ts';

const CREATED = {
  type: 'team:created',
  at: 1,
  by: '@user',
  name: 'demo',
  description: 'd',
  leadId: 'lead',
  leadSessionId: 's',
  teammateMode: 'auto',
  resolvedBackend: 'in-process',
  maxTeammates: 4,
  delegateMode: true,
} as unknown as TeamEvent;

const JOINED = {
  type: 'teammate:joined',
  at: 2,
  by: '@user',
  memberId: 'ada',
  sessionId: 's2',
  role: 'dev',
  agentType: 'claude',
  status: 'active',
  planApprovalRequired: false,
  backendType: 'in-process',
} as unknown as TeamEvent;

const HOOK = {
  type: 'hook:registered',
  at: 3,
  by: '@user',
  hook: { type: 'TaskCompleted', command: 'npm test', enabled: true },
} as unknown as TeamEvent;

const head = { team: 'demo', troupe: '0.1.0', exportedAt: 1 };
const whole = writePackage({ head, batches: [[CREATED], [JOINED]], bundle: Buffer.from('bundle') });

/** What is wrong with a file, as its error says it. */
function refusalOf(bytes: Buffer): { code: string; message: string } {
  try {
    const { batches } = readPackage(bytes);
    importBatches(batches, { name: 'demo', at: 9 });
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error('The file was taken');
}

function packed(...batches: readonly (readonly TeamEvent[])[]): Buffer {
  return writePackage({ head, batches, bundle: Buffer.alloc(0) });
}

describe('a team in a file', () => {
  test('is read as it was written', () => {
    const { batches, bundle } = readPackage(whole);
    expect(batches).toEqual([[CREATED], [JOINED]]);
    expect(bundle.toString()).toBe('bundle');
  });

  test.each([
    ['is empty', Buffer.alloc(0), 'invalid', 'no file of troupe export'],
    ['is of another program', Buffer.from('PK\u0003\u0004 some archive\n\n'), 'invalid', 'no file of troupe export'],
    ['is of a newer form', Buffer.from('troupe-team 2\n{}\n'), 'unsupported', 'update Troupe'],
    ['ends after its first line', whole.subarray(0, 14), 'corrupt', 'cut off'],
    ['lost its end', whole.subarray(0, -3), 'corrupt', 'cut off'],
    ['has more than it had', Buffer.concat([whole, Buffer.from('x')]), 'corrupt', 'longer'],
    ['has a changed byte', flipped(whole), 'corrupt', 'checksum'],
    [
      'has a member named as a path',
      packed([CREATED], [{ ...JOINED, memberId: '../../x' } as TeamEvent]),
      'corrupt',
      '../../x',
    ],
    ['has no team', packed([JOINED]), 'corrupt', 'creation of a team'],
    ['has two teams', packed([CREATED], [CREATED]), 'corrupt', 'creation of a team'],
    [
      'has an unknown event',
      packed([CREATED, { ...CREATED, type: 'team:sold' } as unknown as TeamEvent]),
      'unsupported',
      'team:sold',
    ],
    [
      'has an event of the wrong form',
      packed([CREATED, { ...JOINED, role: 7 } as unknown as TeamEvent]),
      'corrupt',
      'not valid',
    ],
  ])('that %s is refused', (_what, bytes, code, words) => {
    const refusal = refusalOf(bytes);
    expect(refusal.code).toBe(code);
    expect(refusal.message).toContain(words);
  });

  test('that unpacks to far more than it has is refused before it fills the memory', () => {
    const long = packed([CREATED], [{ ...JOINED, role: 'x'.repeat(2_000_000) } as unknown as TeamEvent]);
    expect(long.length).toBeLessThan(10_000);
    expect(() => readPackage(long, { eventBytes: 1_000_000 })).toThrow('more than');
  });

  test('gets another name, stopped members and no hooks, and keeps its history', () => {
    const { batches, state } = importBatches([[CREATED], [JOINED], [HOOK]], { name: 'other', at: 9 });
    expect(batches.slice(1, 3)).toEqual([[JOINED], [HOOK]]);
    expect(batches).toHaveLength(4);
    expect(state.team).toMatchObject({ id: 'other', name: 'other', hooks: [] });
    expect([...state.members.values()].map(({ status }) => status)).toEqual(['stopped']);
  });
});

function flipped(bytes: Buffer): Buffer {
  const other = Buffer.from(bytes);
  other[bytes.length - 8] = (other[bytes.length - 8] ?? 0) ^ 1;
  return other;
}
