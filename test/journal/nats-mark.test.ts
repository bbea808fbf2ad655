import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeMark } from '../../src/journal/mark.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import type { NatsJournal } from '../../src/journal/nats.ts';
import { openAdmin } from '../nats/admin.ts';
import type { Admin } from '../nats/admin.ts';
import { NEEDS_NATS, PATIENT, startNats } from '../nats/server.ts';
import type { NatsServers } from '../nats/server.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const events = (n: number) => [{ type: 'note', n }] as never;

describe('a daemon that saw more than the servers have now', NEEDS_NATS, () => {
  let servers: NatsServers;
  let admin: Admin;
  let prefixes = 0;
  beforeAll(async () => {
    servers = await startNats();
    admin = await openAdmin(servers);
  });
  afterAll(async () => {
    await admin?.close();
    await servers?.stop();
  });

  /** A journal with a team of 4 batches; `open` opens it as a daemon with its mark, or as another daemon without. */
  async function begin() {
    const prefix = `mark-${prefixes++}`;
    const mark = join(temporaryFolder(), 'nats.mark');
    const open = (as: 'this' | 'other' = 'this') =>
      natsJournal(`${servers.url}?prefix=${prefix}`, { ...PATIENT, ...(as === 'this' && { mark }) });
    await using(open(), async (journal) => {
      for (let seq = 0; seq < 4; seq++) await journal.append('Alpha', seq, events(seq));
    });
    const { subject, stream } = streamIn(mark, prefix);
    return { open, mark, prefix, subject, stream };
  }

  const LOSSES: [string, string, (at: { stream: string; prefix: string; subject: string }) => Promise<void>][] = [
    ['its stream was deleted', 'is gone', async ({ stream }) => void (await admin.jsm.streams.delete(stream))],
    [
      'all streams of the journal were deleted',
      'is gone',
      async ({ stream, prefix }) => {
        for (const name of [stream, `OBJ_${prefix}-snapshots`]) await admin.jsm.streams.delete(name);
      },
    ],
    [
      'its stream is an older copy',
      'ends at batch 1',
      async (at) => {
        await recreate(at);
        await admin.nc.request(at.subject, '[]');
      },
    ],
    [
      'other batches are in the place of those it saw',
      'ends at batch 3',
      async (at) => {
        await recreate(at);
        for (let seq = 0; seq < 5; seq++) await admin.nc.request(at.subject, '[]');
      },
    ],
  ];

  test.each(LOSSES)('refuses them if %s; until a person agrees', async (_, rest, lose) => {
    const journal = await begin();
    await lose(journal);
    const before = await streamsOf(journal.prefix);
    await expect(journal.open()).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(
        new RegExp(`has lost batches: team "Alpha" had 4 batches and ${rest}\\..*troupe journal accept$`),
      ),
    });
    expect(await streamsOf(journal.prefix)).toEqual(before);
    removeMark(journal.mark);
    await using(journal.open(), (open) => open.append('next', 0, events(1)));
    await using(journal.open(), async (open) => expect(await open.teams()).toContain('next'));
  });

  test('opens them if another daemon dropped the team, or made it again', async () => {
    const { open, mark, prefix, subject } = await begin();
    await using(open('other'), (other) => other.drop('Alpha'));
    await using(open(), async (journal) => expect(await journal.teams()).toEqual([]));
    expect(readFileSync(mark, 'utf8')).not.toContain(subject);
    await using(open('other'), (other) => other.append('Alpha', 0, events(1)));
    // What it has only read is in its mark as well.
    await using(open(), async (journal) => expect(await Array.fromAsync(journal.read('Alpha', 0))).toHaveLength(1));
    await admin.jsm.streams.delete(streamIn(mark, prefix).stream);
    await expect(open()).rejects.toThrow('team "Alpha" had 1 batch and is gone');
  });

  test('opens them after it dropped the team itself', async () => {
    const { open, mark, subject } = await begin();
    await using(open(), (journal) => journal.drop('Alpha'));
    expect(readFileSync(mark, 'utf8')).not.toContain(subject);
    await using(open(), async (journal) => expect(await journal.teams()).toEqual([]));
  });

  test('opens them if the mark is garbage, or of other servers', async () => {
    const { open, mark, stream } = await begin();
    const text = readFileSync(mark, 'utf8');
    await admin.jsm.streams.delete(stream);
    for (const other of ['garbage', '{"teams":{"a":1}}', text.replace(/"nats:[^"]*"/, '"nats://192.0.2.1:4222"')]) {
      writeFileSync(mark, other);
      await using(open(), async (journal) => expect(await journal.teams()).toEqual([]));
    }
    expect(existsSync(mark)).toBe(true);
  });

  /** Puts an empty stream with the same name and subject in the place of a stream. */
  async function recreate({ stream, subject }: { stream: string; subject: string }): Promise<void> {
    await admin.jsm.streams.delete(stream);
    await admin.jsm.streams.add({ name: stream, subjects: [subject] });
  }

  async function streamsOf(prefix: string): Promise<string[]> {
    const names: string[] = [];
    for await (const name of admin.jsm.streams.names()) if (name.includes(prefix)) names.push(name);
    return names.sort();
  }
});

/** The only life in a mark. */
function streamIn(mark: string, prefix: string): { subject: string; stream: string } {
  const { teams } = JSON.parse(readFileSync(mark, 'utf8')) as { teams: Record<string, unknown> };
  const [subject = ''] = Object.keys(teams);
  return { subject, stream: `${prefix}_${subject.split('.').at(-2)}` };
}

async function using(opening: Promise<NatsJournal>, work: (journal: NatsJournal) => unknown): Promise<void> {
  const journal = await opening;
  try {
    await work(journal);
  } finally {
    await journal.close();
  }
}
