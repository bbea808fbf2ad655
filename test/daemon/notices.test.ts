import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startDaemon } from '../../src/daemon.ts';
import { until } from '../until.ts';
import { openWebhook } from '../webhook.ts';
import { connect, temporaryHome } from './serve.ts';

test('a daemon sends what the last one left, notes what is new, and forgets all when notices are switched off', async () => {
  const got: { path: string | undefined; body: string }[] = [];
  const url = await openWebhook((path, body) => void got.push({ path, body }));
  const home = temporaryHome();
  mkdirSync(home.directory, { recursive: true, mode: 0o700 });
  const config = join(home.directory, 'config.yaml');
  const file = join(home.directory, 'notices.json');
  writeFileSync(config, `notify: { webhook: { url: '${url}/\${TOPIC}', template: ntfy } }\n`);
  const message = { team: 'alpha', title: 'Troupe: team alpha', text: 'Which database?', notices: [] };
  const left = { told: {}, waiting: [], sending: { message, left: ['webhook'] }, sentAt: 0 };
  writeFileSync(file, JSON.stringify({ alpha: left }));

  const daemon = await startDaemon({ home, environment: { ...process.env, TOPIC: 'my-topic' } });
  await until('it arrives', () => got.length > 0);
  expect(got).toEqual([{ path: '/my-topic', body: 'Which database?' }]);
  const client = connect(home);
  await client.call('team.create', { name: 'beta' });
  await client.call('member.add', { teamId: 'beta', name: 'ann' });
  await client.call('question.ask', { teamId: 'beta', content: 'Ship it?' }, { as: 'ann' });
  await until('it is noted', () => readFileSync(file, 'utf8').includes('Ship it?'));
  expect(readFileSync(file, 'utf8')).not.toContain('Which database?');
  await daemon.close();

  writeFileSync(config, '# nothing\n');
  const quiet = await startDaemon({ home });
  expect(existsSync(file)).toBe(false);
  await quiet.close();
});
