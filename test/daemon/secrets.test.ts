import { readdirSync, readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../until.ts';
import { connect, get, serve, temporaryHome } from './serve.ts';

/** Secrets in environment variables, some of known shapes and some not. */
const SECRETS = {
  ANTHROPIC_API_KEY: 'sk-ant-canary-0123456789abcdef',
  GITHUB_TOKEN: 'ghp_canary0123456789abcdefghijklmnopqrst',
  DATABASE_PASSWORD: 'canary horse battery staple',
  MY_SECRET: 'https://canary:canary@example.org/',
};

const TEXT = 'the canary sings at midnight';

test('no secret and no content reaches the log, the metrics, the status or the terminal', async () => {
  const home = temporaryHome();
  const daemon = await serve(home, { args: ['--log-level', 'debug'], env: SECRETS });
  const client = connect(home);
  await client.call('team.create', { name: 'demo', description: TEXT });
  await client.call('member.add', { teamId: 'demo', name: 'worker', prompt: TEXT });
  const { token } = await client.call('member.token', { teamId: 'demo', memberId: 'worker' });
  const everything = [TEXT, ...Object.values(SECRETS), token].join(' ');
  await client.call('message.send', { teamId: 'demo', toId: 'worker', content: everything }, { as: 'lead' });
  await client.call('task.create', { teamId: 'demo', title: TEXT, description: everything });
  await client.call('task.claim', { teamId: 'demo' }, { as: 'worker' });
  await client.call('task.fail', { teamId: 'demo', taskId: '1', reason: everything }, { as: 'worker' });

  // Every kind of mistake, with secrets in every place.
  for (const bad of [SECRETS.ANTHROPIC_API_KEY, SECRETS.DATABASE_PASSWORD, TEXT]) {
    await client.call(bad as 'team.show', { teamId: 'demo' }).catch(() => {});
    await client.call('team.show', { teamId: bad }).catch(() => {});
    await client.call('task.claim', { teamId: 'demo', taskId: bad }, { as: bad }).catch(() => {});
    await client
      .call('message.send', { teamId: 'demo', toId: bad, content: everything }, { as: 'lead' })
      .catch(() => {});
    await sendRaw(home.socket, `{"type":"hello","token":"${bad}"}\n${bad}\n`);
    await sendRaw(home.socket, `${bad}\n`);
    await fetch(`${daemon.url}/api/teams/${encodeURIComponent(bad)}`, { headers: { authorization: `Bearer ${bad}` } });
    await fetch(`${daemon.url}/mcp?token=${encodeURIComponent(bad)}`, { method: 'POST', body: bad });
  }
  await client.call('token.rotate', {});
  await until('the client is let in again', () =>
    client.call('team.list', {}).then(
      () => true,
      () => false,
    ),
  );

  const seen: Record<string, string> = {
    status: JSON.stringify(await client.call('daemon.status', {})),
    metrics: await (await get(home, `${daemon.url}/metrics`)).text(),
    health: await (await get(home, `${daemon.url}/health`)).text(),
    card: readFileSync(home.card, 'utf8'),
  };
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toBe(0);
  Object.assign(seen, daemon.output);
  for (const name of readdirSync(home.directory).filter((name) => name.startsWith('daemon.log'))) {
    seen[name] = readFileSync(join(home.directory, name), 'utf8');
  }
  expect(seen['daemon.log']).toContain('"event":"call"');
  const secret = readFileSync(home.secretFile, 'utf8').trim();
  for (const [where, text] of Object.entries(seen)) {
    expect(text, where).not.toMatch(/canary/i);
    expect(text, where).not.toContain(token.slice(-20));
    expect(text, where).not.toContain(secret);
    expect(text, where).not.toContain(readFileSync(home.tokenFile, 'utf8').trim());
  }
});

async function sendRaw(path: string, text: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const socket = createConnection(path, () => socket.end(text));
    socket.on('error', () => resolve()).on('close', () => resolve());
    socket.resume();
  });
}
