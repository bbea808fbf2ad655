import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect, serve, temporaryHome } from '../daemon/serve.ts';
import { freePorts, NEEDS_NATS, startNats } from '../nats/server.ts';
import { until } from '../until.ts';
import { killDaemon, newTroupe } from './troupe.ts';

interface Check {
  readonly name: string;
  readonly state: string;
  readonly found: string;
  readonly remedy?: string;
}

const AWAY = /^troupe: The NATS servers at nats:\/\/127\.0\.0\.1:\d+ are not reachable \(since \d[\dTZ:-]+\): /;

describe('a journal whose servers are away', NEEDS_NATS, () => {
  test('is reported by the doctor and by a command that would start a daemon, and the daemon is not blamed', async () => {
    const [port] = await freePorts(1);
    const troupe = newTroupe();
    const env = { TROUPE_JOURNAL: `nats://127.0.0.1:${port}` };
    const { ok, checks } = JSON.parse((await troupe.run('doctor --json', { env })).stdout) as Report;
    expect(ok).toBe(false);
    expect(checks.filter(({ state }) => state === 'fail').map(({ name }) => name)).toEqual([
      `server 127.0.0.1:${port}`,
      'journal',
    ]);
    expect(checks.find(({ name }) => name === 'journal')?.found).toMatch(/no server listens there\. Start nats-server/);
    const status = await troupe.run('status', { env });
    expect(status.stderr).toMatch(/No connection to nats:.*: no server listens there\. Start nats-server/);
  });

  test('is used again after kill -9, under the same name, although only flags had named it', async () => {
    const servers = await startNats();
    onTestFinished(() => servers.stop());
    const troupe = newTroupe();
    const daemon = troupe.start(['serve', '--journal', servers.url, '--name', 'one', '--label', 'gpu', '--json']);
    await until('it is ready', () => daemon.output.stdout.includes('"ready":true'));
    await troupe.run('team create demo');
    await killDaemon(troupe.home);
    await daemon.ended;
    expect(await troupe.json('team list')).toMatchObject([{ name: 'demo' }]);
    expect(await troupe.json('status')).toMatchObject({ name: 'one', hosts: [{ name: 'one', labels: ['gpu'] }] });
    await killDaemon(troupe.home);
    await servers.nodes[0]!.kill();
    const away = await troupe.run('team list');
    expect(away.stderr).toMatch(
      /no server listens there.*the last daemon here kept its teams in nats:.*--journal sqlite/s,
    );
  });

  test('lets people read what was known; other commands fail with the reason before the journal times out', async () => {
    const servers = await startNats();
    onTestFinished(() => servers.stop());
    const home = temporaryHome();
    mkdirSync(home.directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(home.directory, 'config.yaml'), `journal: ${servers.url}\nname: one\n`);
    const troupe = newTroupe();
    const env = { TROUPE_HOME: home.directory };
    const examine = async () => (JSON.parse((await troupe.run('doctor --json', { env })).stdout) as Report).checks;
    const before = (await examine()).find(({ name }) => name === 'journal');
    expect(before).toMatchObject({ state: 'warn', remedy: `create it: troupe journal init ${servers.url}` });

    await serve(home);
    const client = connect(home);
    await client.call('team.create', { name: 'demo' });
    await client.call('task.create', { teamId: 'demo', title: 'Look at this' });
    const journal = (await examine()).find(({ name }) => name === 'journal');
    expect(journal).toMatchObject({ state: 'ok', found: expect.stringMatching(/1 team, 1 replica, .*daemons one$/) });

    await servers.nodes[0]!.kill();
    // A timeout of the journal would have another message.
    const added = await troupe.run('task add --team demo Another', { env });
    expect(added.stderr).toMatch(AWAY);
    expect(added.stderr).toMatch(/check that nats-server runs there/);
    for (const words of ['task list --team demo', 'team status demo', 'teams', 'ps', 'member list --team demo']) {
      const looked = await troupe.run(words, { env });
      expect(looked, words).toMatchObject({ status: 0, stderr: expect.stringMatching(AWAY) });
      expect(looked.stderr).toMatch(/: this answer may be out of date\.\n$/);
    }
    expect((await troupe.run('task list --team demo', { env })).stdout).toContain('Look at this');
    expect((await troupe.run('status', { env })).stdout.replace(/\s+/g, ' ')).toMatch(/problems The NATS servers at/);
    const failed = (await examine()).filter(({ state }) => state === 'fail').map(({ name }) => name);
    expect(failed).toEqual(['trouble', expect.stringMatching(/^server 127/), 'journal']);

    await servers.nodes[0]!.start();
    const added2 = await until('a task can be added again', async () => {
      const outcome = await troupe.run('task add --team demo "When they are back"', { env });
      return outcome.status === 0 ? outcome : undefined;
    });
    expect(added2.stderr).toBe('');
    await expect
      .poll(async () => (await client.call('daemon.status', {})).health)
      .toEqual({ status: 'ok', problems: [] });
  });
});

interface Report {
  readonly ok: boolean;
  readonly checks: Check[];
}
