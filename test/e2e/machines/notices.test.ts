import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NEEDS_NATS, startNats } from '../../nats/server.ts';
import type { NatsServers } from '../../nats/server.ts';
import { until } from '../../until.ts';
import { openWebhook } from '../../webhook.ts';
import { acquaint, LONG_MS, newJournal, startMachine } from './stage.ts';
import type { Machine } from './stage.ts';

/** What a daemon remembers of the notices of a team. */
interface Remembered {
  readonly told: Readonly<Record<string, string>>;
  readonly waiting: readonly { readonly text: string }[];
}

function remembered({ home }: Machine, teamId: string): Remembered | undefined {
  const file = join(home.directory, 'notices.json');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Remembered>)[teamId];
}

/** A service that notes which machine sent what. */
async function listen() {
  const got: { from: string; text: string }[] = [];
  const url = await openWebhook((path, body) => void got.push({ from: path.slice(1), text: body }));
  const notify = (name: string) => ({ webhook: { url: `${url}/${name}`, template: 'ntfy' } });
  return { got, notify };
}

describe('notices of daemons that share a journal', NEEDS_NATS, () => {
  let servers: NatsServers;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  test('are sent once, by one of them', async () => {
    const { got, notify } = await listen();
    const journal = await newJournal(servers, { leaseMs: LONG_MS });
    const [a, b] = await Promise.all(
      ['alpha', 'beta'].map((name) => startMachine(name, journal, { notify: notify(name) })),
    );
    if (!a || !b) return;
    await acquaint(a, b);
    // A question that came through the one, and a team that is done through the other.
    const { connection } = b;
    await connection.call('team.create', { name: 'asks' });
    await connection.call('member.add', { teamId: 'asks', name: 'ann' });
    await connection.call('question.ask', { teamId: 'asks', content: 'Ship it?' }, { as: 'ann' });
    await a.connection.call('team.create', { name: 'done' });
    await a.connection.call('member.add', { teamId: 'done', name: 'eve' });
    await a.connection.call('task.create', { teamId: 'done', title: 'One' });
    await a.connection.call('task.complete', { teamId: 'done', taskId: '1' });
    await until('alpha has sent both', () => got.length >= 2);
    // The other came to the same notices, and left them to alpha.
    await until('beta has left them to alpha', () => remembered(b, 'done')?.told['end'] !== undefined);
    const [question] = await connection.call('request.list', { teamId: 'asks' });
    const { id: requestId = '' } = question ?? {};
    await connection.call('request.answer', { teamId: 'asks', requestId, approve: true, feedback: 'Yes' });
    await until('beta keeps nothing for later', () => remembered(b, 'asks')?.waiting.length === 0);
    expect(got.map(({ from }) => from)).toEqual(['alpha', 'alpha']);
    const texts = got.map(({ text }) => text).toSorted();
    expect(texts).toEqual([expect.stringContaining('Ship it?'), expect.stringContaining('1 task completed')]);
  });
});
