import { existsSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SYSTEM, USER } from '../../src/core/actor.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { openStopMark, recordStop } from '../../src/runtime/stop-mark.ts';
import { openLedger } from '../ledger/places.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describe('a stop by a person', () => {
  test('concerns the members of this daemon that joined before it, whatever they were about to do', async () => {
    const ledger = openLedger(memoryJournal());
    const team = CreateTeamInput.parse({ name: 'demo' });
    const at = Date.now();
    const join = (name: string, when: number): NewCommand => {
      const input = JoinInput.parse({ name, status: 'spawning', agent: { kind: 'exec', command: ['true'] } });
      return { type: 'member.join', by: USER, at: when, ...input };
    };
    const place = (memberId: string, hostId: string): NewCommand => ({
      type: 'member.place',
      by: SYSTEM,
      memberId,
      hostId,
    });
    const commands: NewCommand[] = [
      { type: 'team.create', by: USER, ...team },
      ...['works', 'waits', 'returns', 'elsewhere'].map((name) => join(name, at)),
      join('later', at + 1),
      place('works', 'here'),
      place('returns', 'here'),
      place('elsewhere', 'there'),
      place('later', 'here'),
      { type: 'member.leave', by: SYSTEM, memberId: 'returns', returning: true },
    ];
    await ledger.execute('demo', commands, () => undefined);
    const host = { ledger, hostId: 'here', onError: (error: unknown) => expect.unreachable(String(error)) };
    const live = () =>
      ledger.view('demo', ({ members }) =>
        [...members.values()]
          .flatMap(({ id, agent, status, returning }) => (agent && (status !== 'stopped' || returning) ? id : []))
          .sort(),
      );
    // A member that waits for a daemon may be for another one, if there are others.
    expect(await recordStop({ ...host, isAlone: false }, { at, reason: 'enough' }, ['demo'])).toBe(true);
    expect(await live()).toEqual(['elsewhere', 'later', 'waits']);
    expect(await recordStop({ ...host, isAlone: true }, { at, reason: 'enough' }, ['demo'])).toBe(true);
    expect(await live()).toEqual(['elsewhere', 'later']);
    const reason = await ledger.view('demo', ({ members }) => members.get('returns')?.stopReason);
    expect(reason).toBe('enough');
  });

  test('is remembered until it is recorded, and an unreadable mark counts as one', () => {
    const path = joinPath(temporaryFolder(), 'stopped');
    const mark = openStopMark(path);
    expect(mark.read()).toBe(undefined);
    mark.set('enough');
    expect(mark.read()).toMatchObject({ reason: 'enough' });
    writeFileSync(path, '{');
    expect(mark.read()).toMatchObject({ reason: 'stopped by a person' });
    mark.clear();
    expect(existsSync(path)).toBe(false);
  });
});
