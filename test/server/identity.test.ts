import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { localDoor } from '../../src/teammate/local-door.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { openUnix, openWebSocket } from './wire.ts';
import type { Frame, Wire } from './wire.ts';

const teamId = 'demo';
const wires = (stage: Stage, token: string): Promise<Wire>[] => [
  openUnix(stage.home.socket, token),
  openWebSocket(stage.url, { authorization: `Bearer ${token}` }),
];

describe('the credential decides who sends a message', () => {
  test('on every face', async () => {
    const stage = await setStage();
    for (const opening of wires(stage, stage.tokens.worker)) {
      const wire = await opening;
      for (const type of ['message.send', 'team_send_message']) {
        const answer = await wire.ask({ type, payload: { teamId, toId: 'lead', content: 'It is me' } });
        expect(answer['result'] ?? answer['message']).toMatchObject({ fromId: 'worker' });
      }
    }
    const answer = await fetch(`${stage.url}/api/teams/demo/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.tokens.worker}`, 'content-type': 'application/json' },
      body: JSON.stringify({ toId: 'lead', content: 'It is me' }),
    });
    expect(await answer.json()).toMatchObject({ fromId: 'worker' });
  });

  test.each(['lead', 'other', '@user', '@system'])('and not %s, however the client claims it', async (as) => {
    const stage = await setStage();
    const before = await stage.ends();
    const payload = { teamId, toId: 'lead', content: 'I am somebody else' };
    for (const opening of wires(stage, stage.tokens.worker)) {
      const wire = await opening;
      expect(await wire.ask({ type: 'message.send', as, payload })).toMatchObject({ error: { code: 'not_allowed' } });
      for (const forged of [{ fromId: as }, { by: as }, { from: as }, { as }]) {
        expect(await wire.ask({ type: 'message.send', payload: { ...payload, ...forged } })).toMatchObject({
          error: { code: 'invalid' },
        });
      }
    }
    const answer = await fetch(`${stage.url}/api/teams/demo/messages`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stage.tokens.worker}`,
        'content-type': 'application/json',
        'x-troupe-as': as,
      },
      body: JSON.stringify({ toId: 'lead', content: 'I am somebody else' }),
    });
    expect(answer.status).toBe(403);
    expect(await stage.ends()).toEqual(before);
  });

  test('a person may speak for a member', async () => {
    const stage = await setStage();
    const wire = await openUnix(stage.home.socket, stage.token);
    const payload = { teamId, toId: 'lead', content: 'For the worker' };
    expect(await wire.ask({ type: 'message.send', as: 'worker', payload })).toMatchObject({
      result: { fromId: 'worker' },
    });
    expect(await wire.ask({ type: 'message.send', payload })).toMatchObject({ result: { fromId: '@user' } });
  });
});

test('nobody speaks as Troupe itself, not even a person', async () => {
  const stage = await setStage();
  const before = await stage.ends();
  const payload = { teamId, toId: 'lead', content: 'I am the supervisor' };
  for (const opening of wires(stage, stage.token)) {
    const wire = await opening;
    for (const frame of [
      { type: 'message.send', as: '@system', payload },
      { type: 'team_send_message', payload: { ...payload, fromId: '@system' } },
      { type: 'message.inbox', as: '@system', payload: { teamId, memberId: 'worker' } },
    ]) {
      expect(await wire.ask(frame)).toMatchObject({ error: { code: 'not_allowed' } });
    }
  }
  const answer = await fetch(`${stage.url}/api/teams/demo/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json', 'x-troupe-as': '@system' },
    body: JSON.stringify({ toId: 'lead', content: 'I am the supervisor' }),
  });
  expect([answer.status, await answer.text()]).toMatchObject([
    403,
    expect.stringContaining('Nobody can act as @system'),
  ]);
  expect(await stage.ends()).toEqual(before);
});

describe('messages are seen by their sender, their recipient, the lead and people', () => {
  async function withMail(): Promise<{ stage: Stage; id: string }> {
    const stage = await setStage();
    const { id } = await stage.act('message.send', { teamId, toId: 'other', content: 'SECRET' }, 'lead');
    await stage.act('message.send', { teamId, toId: 'worker', content: 'FOR WORKER' }, 'lead');
    await stage.act('message.send', { teamId, toId: 'other', content: 'BY WORKER' }, 'worker');
    await stage.act('message.broadcast', { teamId, content: 'TO ALL' }, 'lead');
    return { stage, id };
  }

  const seenBy: [keyof Stage['tokens'] | 'admin', string[]][] = [
    ['worker', ['FOR WORKER', 'BY WORKER', 'TO ALL']],
    ['reader', ['FOR WORKER', 'BY WORKER', 'TO ALL']],
    ['other', ['SECRET', 'BY WORKER', 'TO ALL']],
    ['lead', ['SECRET', 'FOR WORKER', 'BY WORKER', 'TO ALL']],
    ['admin', ['SECRET', 'FOR WORKER', 'BY WORKER', 'TO ALL']],
  ];

  test.each(seenBy)('%s sees its messages', async (who, expected) => {
    const { stage } = await withMail();
    const token = who === 'admin' ? stage.token : stage.tokens[who];
    const end = async (): Promise<number | undefined> => (await stage.ends())['demo'];
    const seesAll = who === 'lead' || who === 'admin';
    for (const [at, wire] of (await Promise.all(wires(stage, token))).entries()) {
      const first = await end();
      await wire.ask({ type: 'subscribe', payload: { teamId } });
      await wire.take(({ type, seq }) => type === 'events' && seq === first);
      const history = await wire.ask({ type: 'event.list', payload: { teamId } });
      expect(contentsOf(wire.frames)).toEqual(expected);
      expect(contentsOf(history['result'] as Frame[])).toEqual(expected);

      await stage.act('message.send', { teamId, toId: 'worker', content: `LIVE ${at} WORKER` }, 'lead');
      await stage.act('message.send', { teamId, toId: 'other', content: `LIVE ${at} OTHER` }, 'lead');
      const last = await end();
      await wire.take(({ type, seq }) => type === 'events' && seq === last);
      if (who !== 'other') expected = [...expected, `LIVE ${at} WORKER`];
      if (who === 'other' || seesAll) expected = [...expected, `LIVE ${at} OTHER`];
      await wire.ask({ type: 'ping' });
      const frames = wire.frames.filter(({ type }) => type === 'events');
      // Every batch arrives, so the numbers have no gap; but not all of its content.
      expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, at) => at + 1));
      expect(contentsOf(frames)).toEqual(expected);
      const told = wire.frames.flatMap(({ type, message }) => (type === 'team_message' ? [message] : []));
      const contents = told.map((message) => (message as { content: string }).content);
      expect([...new Set(contents)]).toEqual(expected);
    }
    const answer = await fetch(`${stage.url}/api/teams/demo/history`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(contentsOf((await answer.json()) as Frame[])).toEqual(expected);
  });

  test('a retried command does not reveal the messages of others', async () => {
    const { stage, id } = await withMail();
    const [mine] = await stage.act('message.inbox', { teamId, memberId: 'worker' });
    const wire = await openUnix(stage.home.socket, stage.tokens.worker);
    for (const type of ['message.read', 'message.acknowledge']) {
      const commandId = `twice-${type}`;
      const own = { teamId, memberId: 'worker', messageIds: [mine?.id] };
      expect(await wire.ask({ type, commandId, payload: own })).toMatchObject({ type: 'result' });
      for (const memberId of ['worker', 'other']) {
        const answer = await wire.ask({ type, commandId, payload: { teamId, memberId, messageIds: [id] } });
        expect(JSON.stringify(answer)).not.toContain('SECRET');
      }
    }
  });

  test.each([
    ['worker', [200, 403, 403]],
    ['reader', [200, 403, 403]],
    ['lead', [200, 200, 200]],
    ['admin', [200, 200, 200]],
  ] as const)('%s reads transcripts, which contain messages, by the same rule', async (who, expected) => {
    const stage = await setStage();
    const members = ['worker', 'other', 'lead'];
    for (const member of members) {
      const folder = join(stage.home.transcripts, teamId, member);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 's1.jsonl'), `{"at":1,"type":"turn","text":"TOLD ${member}"}\n`);
    }
    const token = who === 'admin' ? stage.token : stage.tokens[who];
    const answers = await Promise.all(
      members.map(async (member) => {
        const answer = await fetch(`${stage.url}/api/teams/demo/members/${member}/transcript`, {
          headers: { authorization: `Bearer ${token}` },
        });
        const text = await answer.text();
        expect(text.includes(`TOLD ${member}`), text).toBe(answer.status === 200);
        return answer.status;
      }),
    );
    expect(answers).toEqual(expected);
  });

  test('a reader cannot mark messages as read', async () => {
    const { stage } = await withMail();
    const before = await stage.ends();
    const wire = await openUnix(stage.home.socket, stage.tokens.reader);
    expect(await wire.ask({ type: 'message.inbox', payload: { teamId, markRead: true } })).toMatchObject({
      error: { code: 'not_allowed' },
    });
    expect(await stage.ends()).toEqual(before);
  });
});

describe('a connection ends when its credential does', () => {
  test('when its team is deleted', async () => {
    const stage = await setStage();
    const open = await Promise.all(wires(stage, stage.tokens.worker));
    const other = await openUnix(stage.home.socket, stage.tokens.stranger);
    await stage.act('team.delete', { teamId, force: true });
    for (const wire of open) await wire.closed;
    expect(await other.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
  });

  test('when another team has the name, even if another process deleted the first', async () => {
    const stage = await setStage();
    const open = await Promise.all(wires(stage, stage.tokens.worker));
    await stage.ledger.drop(teamId);
    await stage.act('team.create', { name: teamId });
    for (const wire of open) await wire.closed;
  });

  test('when its team is deleted, even if another takes its name', async () => {
    const stage = await setStage();
    const open = await Promise.all(wires(stage, stage.tokens.worker));
    await stage.act('team.delete', { teamId, force: true });
    await stage.act('team.create', { name: teamId });
    await stage.act('member.add', { teamId, name: 'worker' });
    for (const wire of open) await wire.closed;
    const again = await openUnix(stage.home.socket, stage.tokens.worker);
    expect(again.frames).toMatchObject([{ error: { code: 'unauthenticated' } }]);
    const headers = { authorization: `Bearer ${stage.tokens.worker}` };
    await expect(openWebSocket(stage.url, headers)).rejects.toThrow('401');
  });

  test('when its member leaves, even if another joins under that name', async () => {
    const stage = await setStage();
    const open = await Promise.all(wires(stage, stage.tokens.worker));
    const other = await openUnix(stage.home.socket, stage.tokens.other);
    await stage.act('member.remove', { teamId, memberId: 'worker' });
    for (const wire of open) await wire.closed;
    await stage.act('member.add', { teamId, name: 'worker' });
    const again = await openUnix(stage.home.socket, stage.tokens.worker);
    expect(again.frames).toMatchObject([{ error: { code: 'unauthenticated' } }]);
    await expect(openWebSocket(stage.url, { authorization: `Bearer ${stage.tokens.worker}` })).rejects.toThrow('401');
    const { token } = await stage.act('member.token', { teamId, memberId: 'worker' });
    const wire = await openUnix(stage.home.socket, token);
    expect(await wire.ask({ type: 'team.show', payload: { teamId } })).toMatchObject({ type: 'result' });
    expect(await other.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
  });

  test('when another member becomes the lead', async () => {
    const stage = await setStage();
    const open = await Promise.all(wires(stage, stage.tokens.lead));
    await stage.act('team.update', { teamId, leadId: 'worker' });
    for (const wire of open) await wire.closed;
    const wire = await openUnix(stage.home.socket, stage.tokens.lead);
    expect(wire.frames[0]).toMatchObject({ type: 'welcome', scope: 'member', memberId: 'lead' });
  });

  test('when another member becomes the lead, also for calls through an old local door', async () => {
    const { hub } = await setStage();
    const old = localDoor(hub.services, { teamId, memberId: 'lead', isLead: true });
    await old.call('message.inbox', { teamId, memberId: 'other' });
    await old.call('team.update', { teamId, leadId: 'worker' });
    const refused = { code: 'not_allowed' };
    await expect(old.call('message.inbox', { teamId, memberId: 'other' })).rejects.toMatchObject(refused);
    await expect(old.call('member.stop', { teamId, memberId: 'other' })).rejects.toMatchObject(refused);
    await expect(old.call('member.idle', { teamId, memberId: 'other' })).rejects.toMatchObject(refused);
    await expect(old.call('team.update', { teamId, leadId: 'lead' })).rejects.toMatchObject(refused);
    // It may still act as a member.
    await old.call('task.create', { teamId, title: 'on as one of many' });
  });

  test('when all credentials are revoked', async () => {
    const stage = await setStage();
    const open = await Promise.all([...wires(stage, stage.tokens.worker), ...wires(stage, stage.token)]);
    await stage.act('token.rotate', {});
    for (const wire of open) await wire.closed;
    for (const token of [stage.token, stage.tokens.worker]) {
      const headers = { authorization: `Bearer ${token}` };
      expect((await fetch(`${stage.url}/api/teams`, { headers })).status).toBe(401);
    }
  });
});

function contentsOf(batches: readonly Frame[]): string[] {
  const events = batches.flatMap(({ events = [] }) => events as { type: string; content: string }[]);
  return events.filter(({ type }) => type === 'message:sent').map(({ content }) => content);
}

describe('only a person chooses which program runs', () => {
  test.each([
    { kind: 'exec', command: ['make'] },
    { kind: 'claude', args: ['--flag'] },
    { kind: 'codex', env: { PATH: '/tmp' } },
  ] as const)('and not for a lead, neither started nor added: %j', async (agent) => {
    const stage = await setStage();
    const before = await stage.ends();
    for (const opening of wires(stage, stage.tokens.lead)) {
      const wire = await opening;
      for (const [type, more] of [
        ['member.spawn', {}],
        ['spawn_teammate', {}],
        ['member.add', { status: 'spawning' }],
        ['member.add', {}],
      ] as const) {
        const payload = { teamId, name: 'fresh', agent, ...more };
        expect(await wire.ask({ type, payload })).toMatchObject({ error: { code: 'not_allowed' } });
      }
    }
    expect(await stage.ends()).toEqual(before);
  });

  test('a lead may name an agent that a person set up, and add members that run themselves', async () => {
    const stage = await setStage();
    const wire = await openUnix(stage.home.socket, stage.tokens.lead);
    const spawn = (more: object) => wire.ask({ type: 'member.spawn', payload: { teamId, name: 'fresh', ...more } });
    const nothing = {
      error: { code: 'not_allowed', message: expect.stringContaining('has no agents for new teammates') },
    };
    expect(await spawn({ agentType: 'tester' })).toMatchObject(nothing);
    const agents = { tester: { kind: 'exec' as const, command: ['true'] } };
    expect(await wire.ask({ type: 'team.update', payload: { teamId, agents } })).toMatchObject({
      error: { code: 'not_allowed' },
    });
    await stage.act('team.update', { teamId, agents });
    expect(await spawn({ agentType: 'codex' })).toMatchObject({
      error: { code: 'not_allowed', message: 'lead may start teammates with tester, not with "codex"' },
    });
    expect(await spawn({ agent: { kind: 'exec', name: 'tester', mode: 'full' } })).toMatchObject({
      result: { id: 'fresh', agent: agents.tester, status: 'spawning' },
    });
    expect(await wire.ask({ type: 'member.add', payload: { teamId, name: 'own' } })).toMatchObject({
      result: { id: 'own', status: 'active' },
    });
  });
});

describe('a member with an agent', () => {
  const runner = { teamId, name: 'runner', agent: { kind: 'exec' as const, command: ['true'] } };

  test('has a process until it is stopped', async () => {
    const stage = await setStage();
    await stage.act('member.spawn', runner);
    const pid = async () =>
      (await stage.act('session.list', { teamId })).find(({ memberId }) => memberId === 'runner')?.pid;
    await expect.poll(pid).toEqual(expect.any(Number));
    expect(await stage.act('member.show', { teamId, memberId: 'runner' })).toMatchObject({ hostId: 'test' });
    expect(await stage.act('member.stop', { teamId, memberId: 'runner' })).toEqual({
      memberId: 'runner',
      how: 'terminated',
    });
    expect(await pid()).toBeUndefined();
    expect(stage.errors).toEqual([]);
  });

  test('has no process after it stopped, even if it is stopped before the process has started', async () => {
    const stage = await setStage();
    await stage.act('member.spawn', runner);
    expect(await stage.act('member.stop', { teamId, memberId: 'runner' })).toMatchObject({ how: 'terminated' });
    await stage.act('member.spawn', runner);
    await stage.act('member.remove', { teamId, memberId: 'runner' });
    await stage.act('member.spawn', { ...runner, name: 'other-runner' });
    await stage.stop();
    const { processes } = stage.home;
    expect(readdirSync(processes).filter((name) => name.endsWith('.json'))).toEqual([]);
  });
});

test('a lead in delegate mode can neither claim nor end that mode, also over REST', async () => {
  const stage = await setStage();
  await stage.act('team.update', { teamId, delegateMode: true });
  await stage.act('task.create', { teamId, title: 'First' });
  const ask = async (method: string, path: string, body: object): Promise<number> => {
    const headers = { authorization: `Bearer ${stage.tokens.lead}`, 'content-type': 'application/json' };
    const url = `${stage.url}/api/teams/${teamId}${path}`;
    return (await fetch(url, { method, headers, body: JSON.stringify(body) })).status;
  };
  expect(await ask('POST', '/claim', {})).toBe(403);
  expect(await ask('POST', '/claim', { taskId: '1' })).toBe(403);
  expect(await ask('PATCH', '', { delegateMode: false })).toBe(403);
  expect(await stage.act('team.show', { teamId })).toMatchObject({ delegateMode: true });
});

test('a retried delivery returns the same messages', async () => {
  const stage = await setStage();
  const teamId = 'demo';
  const { id } = await stage.act('message.send', { teamId, toId: 'worker', content: 'hello' }, 'lead');
  const wire = await openUnix(stage.home.socket, stage.tokens.worker);
  const payload = { teamId, memberId: 'worker', messageIds: [id], sessionId: 's1' };
  const deliver = async (commandId: string) =>
    (await wire.ask({ type: 'message.deliver', commandId, payload })) as { result?: unknown };
  for (let i = 0; i < 2; i++) expect((await deliver('once')).result).toMatchObject([{ id, redeliveries: 0 }]);
  expect((await deliver('another')).result).toEqual([]);
  await stage.act('message.acknowledge', { teamId, memberId: 'worker', messageIds: [id] }, 'worker');
  expect((await deliver('once')).result).toEqual([]);
});
