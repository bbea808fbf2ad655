import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openWebSocket } from '../server/wire.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { newTroupe } from './troupe.ts';

interface Member {
  readonly agent: object;
  readonly cwd?: string;
}

test('a teammate without a named agent runs on the first installed one, on every face', async () => {
  const troupe = newTroupe();
  const programs = temporaryFolder();
  const env = { PATH: programs };
  const { url, tokenFile } = await troupe.json<{ url: string; tokenFile: string }>('status', { env });
  const token = readFileSync(tokenFile, 'utf8').trim();
  const wire = await openWebSocket(url, { authorization: `Bearer ${token}` });
  // Only the fields that the first design asks for.
  await wire.ask({ type: 'create_team', payload: { name: 'demo', leadSessionId: 'session-1' } });
  const ask = (name: string) =>
    wire.ask({ type: 'spawn_teammate', payload: { teamId: 'demo', name, role: 'tester', prompt: 'Test it' } });

  expect(await ask('nobody')).toMatchObject({
    type: 'error',
    error: {
      code: 'invalid',
      message: expect.stringMatching(/^No agent is installed \(claude, codex, .*npm install -g/),
    },
  });
  expect(await troupe.run('member spawn nobody --team demo', { env })).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('set agent in config.yaml'),
  });

  // Found without a restart.
  writeFileSync(join(programs, 'goose'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  expect(await ask('over-ws')).toMatchObject({ type: 'teammate_spawned', member: { agent: { name: 'goose' } } });
  writeFileSync(join(programs, 'codex'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  await troupe.json('team create fresh', { env });
  const rest = await fetch(`${url}/api/teams/fresh/teammates`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'over-rest', role: 'tester', prompt: 'Test it' }),
  });
  expect(await rest.json()).toMatchObject({ agent: { kind: 'codex' } });
  // The team has an agent by now, so the next teammate uses it.
  expect(await troupe.json<Member>('member spawn over-cli --team demo', { env })).toMatchObject({
    agent: { kind: 'acp', name: 'goose' },
  });

  writeFileSync(join(troupe.home, 'config.yaml'), 'agent: { exec: [/bin/pwd] }\n');
  await troupe.json('team create other', { env });
  expect(await troupe.json<Member>('member spawn set --team other', { env })).toMatchObject({
    agent: { kind: 'exec', command: ['/bin/pwd'] },
    cwd: process.cwd(),
  });
});

test('a teammate without a folder works in a folder of its team, which stays while it has content', async () => {
  const troupe = newTroupe();
  const { url, tokenFile } = await troupe.json<{ url: string; tokenFile: string }>('status');
  const token = readFileSync(tokenFile, 'utf8').trim();
  const wire = await openWebSocket(url, { authorization: `Bearer ${token}` });
  await wire.ask({ type: 'create_team', payload: { name: 'demo' } });
  const agent = { exec: 'pwd -P; echo made > made.txt' };
  await wire.ask({ type: 'spawn_teammate', payload: { teamId: 'demo', name: 'one', agent } });
  await troupe.json('task add Look --team demo');
  const task = await until('the task is done', async () => {
    const one = await troupe.json<{ status: string; result: string }>('task show 1 --team demo');
    return one.status === 'completed' && one;
  });
  const folder = join(troupe.home, 'folders', 'demo');
  expect(task.result.trim()).toBe(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(await troupe.run('team delete demo --force --yes')).toMatchObject({ status: 0 });
  expect(existsSync(join(folder, 'made.txt'))).toBe(true);
});
