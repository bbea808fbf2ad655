import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { natsJournal } from '../../../src/journal/nats.ts';
import { writeServerConfigs } from '../../../src/journal/nats/server-config.ts';
import type { PackStore } from '../../../src/journal/packs.ts';
import { makeCertificate } from '../../nats/certificates.ts';
import { NEEDS_NATS, PATIENT, startNats } from '../../nats/server.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { needTool } from '../../tools.ts';
import { until } from '../../until.ts';
import { setStage } from '../stage.ts';
import { SHELL, startMachine } from './stage.ts';

const TEAM = 'closed';

describe('machines on servers with the configuration of journal init', NEEDS_NATS, () => {
  test('can do everything that daemons need, and see nothing of another account', async (context) => {
    needTool(context, 'openssl');
    const { ca, cert, key } = makeCertificate(temporaryFolder(), { days: 2 });
    const accounts = ['one', 'two'].map(writeAccount);
    const tls = `tls { cert_file: ${JSON.stringify(cert)}, key_file: ${JSON.stringify(key)} }`;
    const config = `${tls}\naccounts {\n${accounts.map(({ text }) => text).join('\n')}\n}`;
    const servers = await startNats({ config });
    onTestFinished(() => servers.stop());
    const [ours, others] = accounts.map(
      ({ nkey }) => `${servers.url.replace('nats:', 'tls:')}?nkey=${nkey}&ca=${ca}`,
    ) as [string, string];

    const person = setStage();
    expect(await person.troupe('journal', 'init', ours, '--lease', '600s')).toMatchObject({ code: 0 });
    const refused = await person.troupe('serve', '--journal', `${servers.url.replace('nats:', 'tls:')}?ca=${ca}`);
    expect(refused.stderr).toMatch(/does not accept the credential\. Give \?creds=FILE or \?nkey=FILE/);
    expect(refused.code).toBe(1);

    const [a, b, stranger] = await Promise.all([
      startMachine('alpha', ours),
      startMachine('beta', ours),
      startMachine('alpha', others),
    ]);
    const members = ['alpha', 'beta'].map((host) => ({ name: `on-${host}`, agent: { exec: SHELL }, host }));
    const tasks = members.map(({ name }) => ({ title: `for ${name}`, assign: name }));
    const source = JSON.stringify({ team: TEAM, members, tasks });
    await a.connection.call('team.up', { yes: true, source, folder: '/' });
    await until(
      'all is done',
      async () => (await b.connection.call('team.status', { teamId: TEAM })).tasks['completed'] === 2,
    );
    for (const [from, memberId] of [
      [a, 'on-beta'],
      [b, 'on-alpha'],
    ] as const) {
      const { entries } = await from.connection.call('transcript.read', { teamId: TEAM, memberId });
      expect(entries.map(({ type }) => type)).toContain('shown');
    }
    expect(await stranger.connection.call('team.list', {})).toEqual([]);
    const { hosts } = await stranger.connection.call('daemon.status', {});
    expect(hosts?.map(({ name }) => name)).toEqual(['alpha']);
    await exchangePacks(ours, others);
    // The servers refused nothing that a daemon needs.
    for (const { home } of [a, b, stranger]) expect(readFileSync(home.log, 'utf8')).not.toMatch(/may not|ermission/);
  });
});

/** Work that travels beside the journal can be stored, read and removed; another account does not see it. */
async function exchangePacks(ours: string, others: string): Promise<void> {
  const journals = await Promise.all([ours, ours, others].map((url) => natsJournal(url, PATIENT)));
  const [one, two, strange] = journals.map(({ packs }) => packs) as [PackStore, PackStore, PackStore];
  const bytes = randomBytes(2_000_000);
  const bound = { maxBytes: bytes.length };
  await one.put('closed/work', bytes);
  expect((await two.get('closed/work', bound))?.equals(bytes)).toBe(true);
  expect(await strange.get('closed/work', bound)).toBeUndefined();
  await two.remove('closed/');
  expect(await one.get('closed/work', bound)).toBeUndefined();
  await Promise.all(journals.map((journal) => journal.close()));
}

/** The account of the example configuration under another name, and the key of its daemons. */
function writeAccount(name: string): { text: string; nkey: string } {
  const folder = temporaryFolder();
  const [example, key] = writeServerConfigs('nats://127.0.0.1:4222', folder);
  const text = /^ {2}TROUPE \{.*^ {2}\}/ms.exec(example!.text)![0].replace('TROUPE', name);
  const nkey = join(folder, key!.name);
  writeFileSync(nkey, key!.text, { mode: 0o600 });
  return { text, nkey };
}
