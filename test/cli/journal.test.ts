import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { natsJournal } from '../../src/journal/nats.ts';
import { readNatsAddress } from '../../src/journal/nats/address.ts';
import { setUpNatsJournal } from '../../src/journal/nats/setup.ts';
import { sqliteJournal } from '../../src/journal/sqlite.ts';
import { fill, note, texts } from '../contracts/journal/notes.ts';
import { connect, serve, temporaryHome } from '../daemon/serve.ts';
import { openAdmin } from '../nats/admin.ts';
import { NEEDS_NATS, PATIENT, startNats } from '../nats/server.ts';
import type { NatsServers } from '../nats/server.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { newTroupe } from './troupe.ts';

describe('troupe on NATS', NEEDS_NATS, () => {
  let servers: NatsServers;
  let prefixes = 0;
  const url = () => `${servers.url}?prefix=p${prefixes++}`;
  beforeAll(async () => {
    servers = await startNats();
  });
  afterAll(() => servers?.stop());

  test('journal init makes a journal, and changes an existing one', async () => {
    const troupe = newTroupe();
    const address = url();
    const made = await troupe.ask(['journal', 'init', address]);
    expect(made).toMatchObject({ status: 0, stderr: '' });
    expect(made.stdout).toContain(`troupe serve --journal '${address}'`);
    const changed = await troupe.askJson(['journal', 'init', address, '--max-bytes', '1000000']);
    const [bound, leaseMs] = [{ replicas: 1, maxBytes: 1_000_000 }, 30_000];
    const before = { replicas: 1, leaseMs };
    expect(changed).toEqual({ ...bound, leaseMs, created: false, changed: 0, before });
    const shorter = await troupe.ask(['journal', 'init', address, '--lease', '15s']);
    expect(shorter.stdout).toMatch(/replicas {3}1 \(as before\)\n.*1000000 \(as before\)\n.*15s \(was 30s\)/);
    const lifted = await troupe.askJson(['journal', 'init', address, '--max-bytes', '0']);
    expect(lifted).toMatchObject({ replicas: 1, leaseMs: 15_000, before: { ...bound, leaseMs: 15_000 } });
    expect(lifted).not.toHaveProperty('maxBytes');
    const three = await troupe.ask(['journal', 'init', address, '--replicas', '3']);
    expect(three).toMatchObject({ status: 1, stderr: expect.stringMatching(/too few servers/) as string });
    const two = await troupe.ask(['journal', 'init', address, '--replicas', '2']);
    expect(two).toMatchObject({ status: 2, stderr: expect.stringMatching(/use 1, 3 or 5/) as string });
  });

  test('running daemons create teams with the current settings of the journal, and teams with other settings are named', async () => {
    const address = url();
    const { prefix } = readNatsAddress(address, '/');
    const journal = await natsJournal(address, PATIENT);
    await setUpNatsJournal(address, { maxBytes: 1_000_000 });
    await journal.append('late', 0, [note('1')]);
    const admin = await openAdmin(servers);
    expect((await admin.jsm.streams.info(`${prefix}_late`)).config.max_bytes).toBe(1_000_000);
    await journal.close();

    await admin.jsm.streams.update(`${prefix}_late`, { max_bytes: 2_000_000 });
    await admin.close();
    const again = await natsJournal(address, PATIENT);
    const odd =
      /do not have the settings of the journal \(1 replica, 1000000 bytes\): late\. To apply them: troupe journal init/;
    expect(again.facts.advice).toMatch(odd);
    await again.close();
    const troupe = newTroupe();
    const env = { TROUPE_JOURNAL: address };
    const { checks } = await troupe.json<{ checks: { name: string; remedy?: string }[] }>('doctor', { env });
    expect(checks.find(({ name }) => name === 'teams')?.remedy).toMatch(odd);
    expect(await troupe.json(['journal', 'init', address])).toMatchObject({ changed: 1 });
    const cured = await troupe.json<{ checks: { name: string }[] }>('doctor', { env });
    expect(cured.checks.map(({ name }) => name)).not.toContain('teams');
  });

  test('journal init writes the files that servers need, and never overwrites them', async () => {
    const troupe = newTroupe();
    const folder = join(temporaryFolder(), 'nats');
    const words = ['journal', 'init', 'tls://n1.example:4222,n2.example:4222,n3.example:4222', '--config', folder];
    expect(await troupe.run(words)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/--replicas 3/) as string,
    });
    expect(readdirSync(folder).sort()).toEqual(['daemon.nk', 'n1.conf', 'n2.conf', 'n3.conf']);
    expect(statSync(join(folder, 'daemon.nk')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'n2.conf'), 'utf8')).not.toContain(
      readFileSync(join(folder, 'daemon.nk'), 'utf8').trim(),
    );
    expect(await troupe.run(words)).toMatchObject({ status: 4, stderr: expect.stringMatching(/already/) as string });
  });

  test('journal init says how many replicas two servers can have, and where the files are', async () => {
    const folder = temporaryFolder();
    const said = await newTroupe().run(['journal', 'init', 'tls://n1:4222,n2:4222', '--config', `${folder}/x/..`]);
    expect(said.stdout).toMatch(/--replicas 1\n$/);
    expect(said.stdout).toContain(`Wrote n1.conf, n2.conf, daemon.nk to ${folder}. Read them`);
  });

  test('journal init adds the key to an address that already has parameters', async () => {
    const folder = join(temporaryFolder(), "o'neill & co+1");
    const said = await newTroupe().run(['journal', 'init', 'nats://127.0.0.1:4222?prefix=acme', '--config', folder]);
    const command = /^ {2}troupe (.*)$/m.exec(said.stdout)![1]!;
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${command}`])
      .toString()
      .split('\n');
    const address = readNatsAddress(words[2]!, '/');
    expect(address).toMatchObject({ prefix: 'acme', nkeyFile: join(folder, 'daemon.nk') });
  });

  test('journal copy copies teams both ways, reads them back, and resumes after an interruption', async () => {
    const troupe = newTroupe();
    const folder = temporaryFolder();
    const [first, second, address] = [join(folder, 'a.db'), join(folder, 'b.db'), url()];
    const source = sqliteJournal(first);
    await fill(source, 'alpha', 40);
    await source.append('beta', 0, [note('🎭 \u0000'), note('second')]);
    const nats = await natsJournal(address, PATIENT);
    for await (const { seq, events } of source.read('alpha', 0)) {
      await nats.append('alpha', seq - 1, events);
      if (seq === 7) break;
    }
    await source.close();

    const there = await troupe.ask(['journal', 'copy', `sqlite://${first}`, address]);
    expect(there).toMatchObject({ status: 0, stderr: '' });
    expect(there.stdout).toBe(
      'alpha: 40 batches, 33 of them new, all verified\nbeta: 1 batches, 1 of them new, all verified\n2 teams copied.\n',
    );
    const back = await troupe.askJson(['journal', 'copy', address, `sqlite:${second}`, '--teams', 'beta,alpha']);
    expect(back).toEqual({
      teams: [
        { team: 'beta', batches: 1, added: 1 },
        { team: 'alpha', batches: 40, added: 40 },
      ],
    });
    const copy = sqliteJournal(second);
    expect(await texts(copy.read('alpha', 0))).toEqual(Array.from({ length: 40 }, (_, i) => String(i + 1)));
    expect(await texts(copy.read('beta', 0))).toEqual(['🎭 \u0000', 'second']);
    await copy.close();

    // A team that has other batches at the target is left alone.
    await nats.append('alpha', 40, [note('only here')]);
    const refused = await troupe.ask(['journal', 'copy', `sqlite:${first}`, address]);
    expect(refused).toMatchObject({ status: 4, stderr: expect.stringMatching(/from batch 41 on/) as string });
    expect(await texts(nats.read('alpha', 40))).toEqual(['only here']);
    await nats.close();
    const none = await troupe.ask(['journal', 'copy', 'sqlite:/not/there.db', address]);
    expect(none).toMatchObject({ status: 3, stderr: expect.stringMatching(/no journal at/) as string });
  });

  test('serves teams that another daemon made, and reports how durable they are', async () => {
    const address = url();
    const [one, two] = [temporaryHome(), temporaryHome()];
    await serve(one, { args: ['--journal', address, '--name', 'one'] });
    await connect(one).call('team.create', { name: 'shared' });
    // The second daemon takes the address from its configuration file.
    mkdirSync(two.directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(two.directory, 'config.yaml'), `journal: ${address}\nname: two\n`);
    await serve(two);
    const there = connect(two);
    expect(await there.call('team.list', {})).toMatchObject([{ name: 'shared' }]);
    await there.call('task.create', { teamId: 'shared', title: 'made by the other' });
    expect(await connect(one).call('task.list', { teamId: 'shared' })).toMatchObject([{ title: 'made by the other' }]);

    const { journal } = await there.call('daemon.status', {});
    expect(journal).toMatchObject({
      kind: 'nats',
      durability: 'lazy',
      advice: expect.stringMatching(/sync_interval: always/) as string,
    });
    const troupe = newTroupe();
    const env = { TROUPE_HOME: two.directory };
    expect((await troupe.run('status', { env })).stdout.replace(/\s+/g, ' ')).toContain('sync_interval: always');
    const doctor = await troupe.run('doctor', { env });
    expect(doctor.stdout.replace(/\s+/g, ' ')).toMatch(/! durability lazy at nats:.*sync_interval: always/);
  });

  test.each([
    ['\u001b[2J', /--label .*u001b\[2J.*: must be one line/],
    ['gpu,', /--label has nothing between two commas, or at an end/],
    ['x'.repeat(100_000), /--label \W*x{79}….*: Too big/],
  ])('serve refuses an invalid label, as config.yaml does', async (label, why) => {
    await expect(serve(temporaryHome(), { args: ['--label', label] })).rejects.toThrow(why);
  });

  test('names the file when the configuration is wrong', async () => {
    const home = temporaryHome();
    writeFileSync(join(home.directory, 'config.yaml'), 'jurnal: nats://127.0.0.1\n');
    await expect(serve(home)).rejects.toThrow(/config\.yaml:1:1: .*jurnal/s);
    await expect(serve(temporaryHome(), { env: { TROUPE_JOURNAL: 'nats:/x' } })).rejects.toThrow(
      /not the address of a journal/,
    );
  });
});
