import { describe, expect, test } from 'vitest';
import { TeamError } from '../../src/core/errors.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { note, textOf } from '../contracts/journal/notes.ts';
import { openAdmin } from '../nats/admin.ts';
import type { Admin } from '../nats/admin.ts';
import { NEEDS_NATS, startNats } from '../nats/server.ts';
import type { NatsNode } from '../nats/server.ts';

const ROUNDS = 1_000;
const STREAM = 'troupe_team';

/** What happens to the leader of the stream, and in which round. */
const MISHAPS = new Map<number, 'stepdown' | 'kill' | 'return'>([
  [100, 'stepdown'],
  [250, 'kill'],
  [400, 'return'],
  [450, 'stepdown'],
  [600, 'kill'],
  [700, 'return'],
  [800, 'stepdown'],
  [900, 'stepdown'],
]);

describe('rivals on three replicas', NEEDS_NATS, () => {
  test(`never both win, in ${ROUNDS} rounds with a leader that falls`, async () => {
    const servers = await startNats({ size: 3 });
    let admin: Admin | undefined;
    const rivals: Journal[] = [];
    try {
      await setUpNatsJournal(servers.url, { replicas: 3 });
      admin = await openAdmin(servers);
      rivals.push(await natsJournal(servers.url, { patienceMs: 60_000 }));
      rivals.push(await natsJournal(servers.url, { patienceMs: 60_000 }));
      const winners: string[] = [];
      const dead: NatsNode[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const contest = Promise.allSettled(
          rivals.map((rival, i) => rival.append('team', round, [note(`${round}/${i}`)])),
        );
        const mishap = MISHAPS.get(round);
        if (mishap) await unsettle(admin, dead, mishap);
        const outcomes = await contest;
        const won = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [`${round}/${i}`] : []));
        for (const outcome of outcomes) if (outcome.status === 'rejected') expectConflict(outcome.reason);
        expect(won, `round ${round}`).toHaveLength(1);
        winners.push(...won);
      }
      const kept: string[] = [];
      for await (const { seq, events } of (rivals[0] as Journal).read('team', 0)) {
        expect(seq).toBe(kept.length + 1);
        kept.push(...events.map(textOf));
      }
      expect(kept).toEqual(winners);
      // Both had a chance.
      expect(new Set(winners.map((winner) => winner.split('/')[1])).size).toBe(2);
    } finally {
      await Promise.all(rivals.map((rival) => rival.close()));
      await admin?.close();
      await servers.stop();
    }
  });
});

async function unsettle(admin: Admin, dead: NatsNode[], mishap: 'stepdown' | 'kill' | 'return'): Promise<void> {
  if (mishap === 'return') {
    await dead.pop()?.start();
    // Before the next one may fall: of three, one may be away at a time.
    return admin.untilCurrent(STREAM);
  }
  const leader = await admin.leaderOf(STREAM);
  if (mishap === 'stepdown') return admin.stepDown(STREAM);
  await leader.kill();
  dead.push(leader);
}

function expectConflict(reason: unknown): void {
  if (reason instanceof TeamError && reason.code === 'journal_conflict') return;
  throw reason;
}
