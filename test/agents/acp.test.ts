import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { acpAgent } from '../../src/agents/acp.ts';
import type { StartOptions, TeamTools } from '../../src/agents/agent.ts';
import { defaultStart, describeAgent, message, turn } from '../contracts/agent.ts';
import { HANG_MS } from '../until.ts';
import { doTurn, open } from './real.ts';

const FIXTURE = join(import.meta.dirname, '../fixtures/agents/acp.ts');

const agent = (...args: string[]) => acpAgent({ command: [process.execPath, FIXTURE, ...args], cancelMs: HANG_MS });
const start = (more: Partial<StartOptions> = {}): StartOptions => ({ ...defaultStart(), role: '', ...more });

const TOOLS: TeamTools = {
  name: 'troupe',
  http: { url: 'http://127.0.0.1:1/mcp', headers: { authorization: 'Bearer a dummy' } },
  stdio: { command: 'troupe', args: ['mcp'], env: { TROUPE_HOME: '/nowhere' } },
};

describeAgent('acp, a command that a user names', () => ({
  agent: (manner) => agent(manner),
  absent: () => acpAgent({ command: ['no-such-program', '--acp'] }),
  // Its answers say that it can resume, but agents outside of the table promise nothing.
  earlier: () => 'gone',
  start: { role: '' },
}));

describe('an agent that speaks ACP', () => {
  test('gets its role once, before its first prompt', async () => {
    const session = await open(agent('quick').start(start({ role: 'You are worker.' })));
    expect(JSON.parse((await doTurn(session, 'parts')).text)).toEqual(['You are worker.', 'parts']);
    expect(JSON.parse((await doTurn(session, 'parts')).text)).toEqual(['parts']);
  });

  test('resumes a session that it still has, and does not get its role again', async () => {
    const session = await open(agent('quick').start(start({ role: 'You are worker.', resume: 'session-1' })));
    expect(session.id).toBe('session-1');
    expect(JSON.parse((await doTurn(session, 'parts')).text)).toEqual(['parts']);
  });

  test('gets the tools of its team over HTTP if it can, else through the proxy', async () => {
    const overHttp = await open(agent('quick', '--http').start(start({ tools: TOOLS })));
    expect(JSON.parse((await doTurn(overHttp, 'tools')).text)).toEqual([
      {
        type: 'http',
        name: 'troupe',
        url: 'http://127.0.0.1:1/mcp',
        headers: [{ name: 'authorization', value: 'Bearer a dummy' }],
      },
    ]);
    const proxied = await open(agent('quick').start(start({ tools: TOOLS })));
    expect(JSON.parse((await doTurn(proxied, 'tools')).text)).toEqual([
      { name: 'troupe', command: 'troupe', args: ['mcp'], env: [{ name: 'TROUPE_HOME', value: '/nowhere' }] },
    ]);
  });

  test('asks for permission and gets the answer', async () => {
    const session = await open(agent('quick').start(start({ mode: 'edit' })));
    for (const allow of [true, false]) {
      await session.send(turn('ask'), { when: 'next' });
      const asked = await session.heardPermission();
      expect(asked).toMatchObject({ tool: 'shell', description: 'rm -r build', input: { command: 'rm -r build' } });
      asked.answer({ allow });
      expect(await session.end(allow ? 1 : 2)).toMatchObject({ text: allow ? 'allowed' : 'denied' });
    }
  });

  test.for(['plan', 'delegate'] as const)('is refused every permission in %s mode', async (mode) => {
    const session = await open(agent('quick').start(start({ mode })));
    expect(await doTurn(session, 'ask')).toMatchObject({ text: 'denied' });
    expect(session.events.some(({ type }) => type === 'permission')).toBe(false);
  });

  test('that refuses to answer fails its turn', async () => {
    const session = await open(agent('quick').start(start()));
    expect(await doTurn(session, 'refuse')).toMatchObject({ reason: 'failed', trouble: 'refused' });
  });

  test('that ignores a cancel is killed', async () => {
    const deaf = acpAgent({ command: [process.execPath, FIXTURE, 'deaf'], cancelMs: 1 });
    const session = await open(deaf.start(start()));
    await session.send(turn('long'), { when: 'next' });
    await session.heardText('working');
    await session.cancel();
    await session.over;
    expect(session.ends()).toMatchObject([{ reason: 'cancelled' }]);
  });

  test('that dies fails its running and queued turns with its exit code', async () => {
    const session = await open(agent('dies').start(start()));
    await session.send({ ...turn('one'), messages: [message('m-1')] }, { when: 'next' });
    await session.send(turn('two'), { when: 'next' });
    await session.over;
    expect(session.ends().map(({ reason }) => reason)).toEqual(['failed', 'failed']);
    expect(session.ends()[0]?.error).toContain('ended with code 7');
    // There is no evidence that the model got the message.
    expect(session.events.some(({ type }) => type === 'shown')).toBe(false);
  });

  test('that ended its turn just before a message came is prompted to read it', async () => {
    const late = acpAgent({ name: 'opencode', command: [process.execPath, FIXTURE, 'late'] });
    const session = await open(late.start(start()));
    await session.send(turn('long'), { when: 'next' });
    await session.heardText('working');
    await session.send({ ...turn('beside'), messages: [message('m-7')] }, { when: 'steer' });
    expect(await session.end(1)).toMatchObject({ reason: 'done', text: expect.stringContaining('Read it') as string });
    expect(session.events.filter(({ type }) => type === 'shown')).toEqual([{ type: 'shown', messageIds: ['m-7'] }]);
  });

  test('with an unknown name is refused', () => {
    expect(() => acpAgent({ name: 'clippy' })).toThrow(
      'There is no agent named "clippy": choose one of claude, claude-native, codex, gemini',
    );
    expect(() => acpAgent({ name: 'codex' })).toThrow('The agent codex does not speak ACP');
    expect(() => acpAgent({})).toThrow('The agent acp is any other that speaks ACP: name it');
  });
});
