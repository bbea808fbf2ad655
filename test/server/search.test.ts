import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ResultOf } from '../../src/operations/index.ts';
import type { Stage } from './stage.ts';
import { shareStage } from './stage.ts';

type Findings = ResultOf<'team.search'>;

const NEEDLE = 'Gooseberry';

describe('one search finds a text in everything that its caller may read', () => {
  const stage = shareStage({ limits: { requestBurst: 1e6 } });

  /** Searches with a credential, as programs do. */
  async function search(who: keyof Stage['tokens'], query: Record<string, string>): Promise<Findings> {
    const { url, tokens } = stage();
    const answer = await fetch(`${url}/api/search?${new URLSearchParams(query).toString()}`, {
      headers: { authorization: `Bearer ${tokens[who]}` },
    });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Findings;
  }

  function words({ hits }: Findings): string[] {
    return hits.map(({ kind, teamId, id, memberId }) => `${kind} ${teamId} ${memberId ?? id}`);
  }

  beforeAll(async () => {
    const { act, home } = stage();
    const teamId = 'demo';
    await act('task.create', { teamId, title: 'Pick the gooseberry bush' });
    await act('task.create', { teamId, title: 'Write', description: 'about a GOOSEBERRY, at length' });
    await act('note.add', { teamId, text: 'Each gooseberry counts', tags: [] }, 'worker');
    await act('message.send', { teamId, toId: 'worker', content: 'A secret gooseberry' }, 'lead');
    await act('message.broadcast', { teamId, content: 'Hear of a gooseberry' }, 'worker');
    await act('member.add', { teamId, name: 'berry', role: 'gooseberry picker' });
    await act('task.create', { teamId: 'away', title: 'Another gooseberry' });
    const folder = join(home.directory, 'transcripts', teamId, 'worker');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 's1.jsonl'), `${JSON.stringify({ at: 1, type: 'text', text: 'I see a gooseberry' })}\n`);
  });

  test('a person finds it in all teams, whatever its case; a broadcast counts once', async () => {
    const found = await stage().act('team.search', { text: NEEDLE });
    expect(words(found).toSorted()).toEqual([
      'member demo berry',
      'message demo other',
      'message demo worker',
      'note demo 1',
      'task away 1',
      'task demo 1',
      'task demo 2',
      'transcript demo worker',
    ]);
    expect(found).toMatchObject({ more: [], unfinished: [] });
    // The kinds are in one order, and a match in the title comes before one in the text.
    expect(found.hits.map(({ kind }) => kind)).toEqual([
      'task',
      'task',
      'task',
      'member',
      'note',
      'message',
      'message',
      'transcript',
    ]);
    expect(found.hits.at(2)).toMatchObject({ id: '2', before: 'about a ', match: 'GOOSEBERRY', after: ', at length' });
    expect(found.hits.at(-1)).toMatchObject({ id: 's1', place: 0, match: 'gooseberry' });
  });

  test('a member finds neither the mail and transcripts of others, nor other teams', async () => {
    expect(words(await search('other', { text: NEEDLE })).toSorted()).toEqual([
      'member demo berry',
      'message demo other',
      'note demo 1',
      'task demo 1',
      'task demo 2',
    ]);
    expect(words(await search('worker', { text: 'secret' }))).toEqual(['message demo worker']);
    expect(words(await search('reader', { text: 'secret' }))).toEqual(['message demo worker']);
    expect(words(await search('lead', { text: 'secret' }))).toEqual(['message demo worker']);
    expect(words(await search('stranger', { text: NEEDLE }))).toEqual(['task away 1']);
    const { url, tokens } = stage();
    const headers = { authorization: `Bearer ${tokens.stranger}` };
    expect((await fetch(`${url}/api/search?text=a&teamId=demo`, { headers })).status).toBe(403);
  });

  test('finds a task by its number, and says what it left out', async () => {
    expect(words(await stage().act('team.search', { text: '#2', teamId: 'demo' }))[0]).toBe('task demo 2');
    const few = await stage().act('team.search', { text: NEEDLE, limit: 1 });
    expect(few.more).toEqual(['task', 'message']);
    expect(few.hits.map(({ kind }) => kind)).toEqual(['task', 'member', 'note', 'message', 'transcript']);
  });
});
