import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers } from '@nats-io/transport-node';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Journal } from '../../src/journal/journal.ts';
import { natsJournal } from '../../src/journal/nats.ts';
import { collect, note, startFollowing, texts } from '../contracts/journal/notes.ts';
import { NEEDS_NATS, PATIENT, startNats } from '../nats/server.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A server whose storage can be rolled back to an earlier copy. */
async function startForgetful() {
  const folder = temporaryFolder();
  const [store, kept] = [join(folder, 'store'), join(folder, 'kept')];
  const config = `jetstream { store_dir: ${JSON.stringify(store)}, max_file_store: 1GB }`;
  const servers = await startNats({ jetstream: false, config });
  onTestFinished(() => servers.stop());
  const [node] = servers.nodes;
  const move = async (from: string, to: string): Promise<void> => {
    await node!.kill('SIGTERM');
    rmSync(to, { recursive: true, force: true });
    cpSync(from, to, { recursive: true });
    await node!.start();
  };
  return {
    url: servers.url,
    remember: () => move(store, kept),
    goBack: () => move(kept, store),
  };
}

async function open(url: string): Promise<Journal> {
  // The server is down while its storage is copied.
  const journal = await natsJournal(url, PATIENT);
  onTestFinished(() => journal.close());
  return journal;
}

describe('servers that lost an acknowledged batch', NEEDS_NATS, () => {
  test('and have another one under its number cause a conflict', async () => {
    const server = await startForgetful();
    const [a, b] = [await open(server.url), await open(server.url)];
    await a.append('t', 0, [note('first')]);
    await server.remember();
    expect(await a.append('t', 1, [note('lost')])).toBe(2);
    const following = startFollowing(a, 't', 2);
    await server.goBack();
    expect(await texts(b.read('t', 0))).toEqual(['first']);
    expect(await b.append('t', 1, [note('kept')])).toBe(2);

    await expect(a.append('t', 2, [note('after what was lost')])).rejects.toMatchObject({ code: 'journal_conflict' });
    expect(await texts(a.read('t', 0))).toEqual(['first', 'kept']);
    expect(await a.append('t', 2, [note('after what was kept')])).toBe(3);
    // A follower that had the lost batch gets no batch of the other history.
    await following.ended;
    expect(following.seen).toEqual([]);
  });

  test('and return batches of two histories are reported as corrupt', async () => {
    const servers = await startNats();
    onTestFinished(() => servers.stop());
    const { url } = servers;
    const journal = await open(url);
    await journal.append('t', 0, [note('first')]);
    const connection = await connect({ servers: url.replace('nats://', '') });
    onTestFinished(() => connection.close());
    const { config } = await (await jetstreamManager(connection)).streams.info('troupe_t');
    const head = headers();
    head.set('Troupe-After', 'another-1');
    await jetstream(connection).publish(config.subjects[0]!, JSON.stringify([note('second')]), { headers: head });
    await expect(collect(journal.read('t', 0))).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringMatching(
        /^Batch 2 of team "t" .*different histories.*nats stream cluster step-down troupe_t/,
      ) as string,
    });
    expect(await texts(journal.read('t', 1))).toEqual(['second']);
  });
});
