import { join } from 'node:path';
import type { TeamEvent } from '../src/core/event.ts';
import { sqliteJournal } from '../src/journal/sqlite.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { Mailbox } from '../src/ledger/mailbox.ts';
import { round } from './benchmark.ts';
import type { Benchmark } from './benchmark.ts';
import { openWorkspace } from './disk.ts';
import { APPEND, appendOneByOne } from './limits.ts';
import { interleave, keepInFlight, median, time } from './rounds.ts';
import { makeTeam, readTeam, WORKERS } from './team.ts';

const INBOX = 'lead';

/** Messages that are answered after their flush, into an inbox that grows. */
export const sendDurable: Benchmark = {
  name: 'send-durable',
  unit: 'messages/s',
  about: '8 senders, each with one message in flight, to one inbox up to 10,000 messages, through the ledger on SQLite',
  target: 'at least 2.5 times fdatasync appends one by one; the last quarter at most 1.2 times as slow as the first',
  async run(scale) {
    using workspace = openWorkspace();
    const { folder, disk } = workspace;
    const journal = sqliteJournal(join(folder, 'journal.db'), { exclusive: true });
    const quarter = scale.size(2_500);
    const growth: number[] = [];
    const commits: number[] = [];
    let record = '';
    let teams = 0;

    /** Makes a team and fills an inbox; returns messages per second. */
    const send = async (): Promise<number> => {
      const teamId = `team-${++teams}`;
      const ledger = new Ledger(journal, { exclusive: true });
      const mailbox = new Mailbox(ledger);
      await makeTeam(ledger, teamId, 0);
      const quarters: number[] = [];
      for (let sent = 0; sent < 4 * quarter; sent += quarter) {
        quarters.push(
          await time(() =>
            keepInFlight(WORKERS.length, quarter, (i) =>
              mailbox.send(teamId, WORKERS[i % WORKERS.length] as string, { toId: INBOX, content: text(sent + i) }),
            ),
          ),
        );
      }
      const batches = await readTeam(journal, teamId);
      checkMessages(batches.flat(), 4 * quarter);
      const inbox = await mailbox.getInbox(teamId, INBOX);
      if (inbox.length !== 4 * quarter) throw new Error(`The inbox shows ${inbox.length} of ${4 * quarter} messages`);
      mailbox.close();
      await ledger.close();
      const [first = 0, , , last = 0] = quarters;
      growth.push(last / first);
      commits.push(batches.filter(([event]) => event?.type === 'message:sent').length / (4 * quarter));
      record = JSON.stringify([batches.at(-1)?.[0]]);
      return (4 * quarter * 1000) / quarters.reduce((sum, ms) => sum + ms, 0);
    };

    try {
      await send();
      const found = await interleave(scale, () => appendOneByOne(folder, record, scale.size(2_500)), {
        send,
      });
      const ratio = median(found.ratios.send);
      return {
        value: median(found.parts.send),
        limit: APPEND,
        limitValue: median(found.limit),
        ratio,
        peers: [],
        targets: [
          { what: 'times the limit', value: ratio, atLeast: 2.5 },
          { what: 'last quarter over first', value: median(growth.slice(-scale.rounds)), atMost: 1.2 },
        ],
        more: { commitsPerMessage: round(median(commits)), recordBytes: record.length, disk },
      };
    } finally {
      await journal.close();
    }
  },
};

function text(i: number): string {
  return `Message ${i}: the tests of the parser pass on my branch; the two that were flaky wait for the port now.`;
}

/** Checks that every message is on disk once. */
function checkMessages(stored: readonly TeamEvent[], count: number): void {
  const texts = stored.flatMap((event) => (event.type === 'message:sent' ? [event.content] : []));
  const different = new Set(texts).size;
  if (texts.length !== different) throw new Error(`${texts.length - different} messages are there twice`);
  if (different !== count) throw new Error(`${count - different} of ${count} messages are lost`);
}
