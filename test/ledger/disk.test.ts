import { rmSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startFixture } from '../journal/children.ts';
import { mountSmall, needMounts } from '../journal/mounts.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { claim, createTask, createTeam, run, TEAM } from './commands.ts';
import { observed } from './observed.ts';
import { openLedger, sqlitePlace } from './places.ts';

describe('a ledger on a full disk', () => {
  test('fails with storage, shows only stored state, and writes again when there is space', async (context) => {
    needMounts(context);
    const folder = temporaryFolder();
    mountSmall(folder, '1m');
    const ballast = joinPath(folder, 'ballast');
    writeFileSync(ballast, Buffer.alloc(300_000));
    const place = sqlitePlace(joinPath(folder, 'journal.db'));
    const errors: unknown[] = [];
    const ledger = openLedger(place.open(), { snapshotEvery: 5, onError: (error) => errors.push(error) });
    await createTeam(ledger);
    await createTeam(ledger, { name: 'other' });
    await createTask(ledger, 'small');

    const description = 'x'.repeat(60_000);
    for (let round = 0; round < 3; round++) {
      const failures: unknown[] = [];
      while (failures.length === 0) {
        // Several in parallel, some small enough for the disk: they share a commit and fail together.
        const calls = [
          createTask(ledger, 'large', { description }),
          createTask(ledger, 'small'),
          run(ledger, claim('ann')),
        ];
        for (const outcome of await Promise.allSettled(calls)) {
          if (outcome.status === 'rejected') failures.push(outcome.reason);
        }
        expect(await observed(ledger)).toEqual(await observed(openLedger(place.open())));
      }
      expect(failures).toEqual(failures.map(() => expect.objectContaining({ code: 'storage' })));
    }
    const before = await observed(ledger);
    expect(await ledger.view('other', ({ members }) => members.size)).toBe(3);
    expect(await ledger.teams()).toEqual([TEAM, 'other']);

    rmSync(ballast);
    await createTask(ledger, 'large', { description });
    await ledger.execute('other', claim('ann'), () => undefined);
    expect(await observed(ledger)).not.toEqual(before);
    expect(await observed(ledger)).toEqual(await observed(openLedger(place.open())));
  });
});

describe('a ledger on a faulty disk', () => {
  test.for([
    { what: 'has no room for some writes', calls: 'pwrite64', fault: 'error=ENOSPC', when: '2100+23' },
    { what: 'fails some writes', calls: 'pwrite64', fault: 'error=EIO', when: '2100+23' },
    { what: 'fails some flushes', calls: 'fsync,fdatasync', fault: 'error=EIO', when: '5+11' },
  ])('that $what shows only stored state and keeps working', async ({ calls, fault, when }, context) => {
    needTool(context, 'strace');
    const path = joinPath(temporaryFolder(), 'journal.db');
    const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-P', `${path}-wal`, '-e', `trace=${calls}`];
    const prefix = [...strace, '-e', `inject=${calls}:${fault}:when=${when}`];
    const child = startFixture('ledger-faulty', [path, '100'], { prefix });
    expect(await child.ended).toEqual({ code: 0, signal: null, errors: '' });
    const failures = child.lines.filter((line) => line.startsWith('FAILED'));
    expect(failures.length).toBeGreaterThan(5);
    expect(new Set(failures)).toEqual(new Set(['FAILED storage']));

    const ledger = openLedger(sqlitePlace(path).open());
    const seen = JSON.parse(child.lines.at(-1)?.slice('DONE '.length) ?? '') as unknown[];
    expect(await Promise.all([observed(ledger), observed(ledger, 'other')])).toEqual(seen);
    expect(await ledger.view(TEAM, ({ index }) => index.counts.completed)).toBeGreaterThan(30);
  });
});
