import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mountSmall, needMounts } from '../journal/mounts.ts';
import { rounds } from '../proof.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { isRunning, killDaemon, newTroupe, readPid, sharedTroupe } from './troupe.ts';
import type { Started, Troupe } from './troupe.ts';

/** How many commands find no daemon at the same moment. */
const MANY = rounds(4, 20);

/** A daemon for tests that only need a running one. */
const shared = sharedTroupe();

describe('a command without a daemon', () => {
  test('starts one in the background, says so once, and finds all data again after kill -9', async () => {
    const troupe = newTroupe();
    const first = await troupe.run('team create demo');
    const said = `starting the daemon for ${troupe.home}, since none was running; troupe stop ends it`;
    expect(first).toMatchObject({ status: 0, stderr: `troupe: ${said}\n` });
    expect(statSync(troupe.home).mode & 0o777).toBe(0o700);
    expect(statSync(join(troupe.home, 'daemon.log')).mode & 0o777).toBe(0o600);
    expect(existsSync(join(troupe.home, 'starting'))).toBe(false);
    expect(await troupe.run('task add First --team demo')).toMatchObject({ status: 0, stderr: '' });

    const pid = readPid(troupe.home) ?? 0;
    await killDaemon(troupe.home);
    const again = await troupe.run('task list --team demo');
    expect(again.stderr).toContain('starting the daemon');
    expect(again.stdout).toContain('First');
    expect(readPid(troupe.home)).not.toBe(pid);
  });

  test('starts another when the one that it started is killed at once, but not a third', async () => {
    const troupe = newTroupe();
    const killNext = async (command: Started, killed: readonly string[]): Promise<string> => {
      const children = (): string[] =>
        spawnSync('pgrep', ['-P', String(command.child.pid)], { encoding: 'utf8' })
          .stdout.split('\n')
          .filter(Boolean);
      const next = (): string | undefined => children().find((pid) => !killed.includes(pid));
      // Looked for once: a signal to "no process" would reach every process of this run.
      const pid = await until('a daemon is started', next);
      process.kill(Number(pid), 'SIGKILL');
      return pid;
    };
    const lucky = troupe.start('team list --json');
    await killNext(lucky, []);
    const { stderr, ...outcome } = await lucky.ended;
    expect(outcome).toEqual({ status: 0, stdout: '[]\n' });
    expect(JSON.parse(stderr)).toEqual({ notice: expect.stringContaining('starting the daemon') as string });
    await killDaemon(troupe.home);
    const unlucky = troupe.start('team list --json');
    await killNext(unlucky, [await killNext(unlucky, [])]);
    expect(await unlucky.ended).toMatchObject({ status: 75, stdout: '' });
  });

  test('says so in JSON beside a result, but not beside an error, which stands alone', async () => {
    const troupe = newTroupe();
    const notice = `starting the daemon for ${troupe.home}, since none was running; troupe stop ends it`;
    const stderr = `${JSON.stringify({ notice })}\n`;
    expect(await troupe.run('team list --json')).toEqual({ status: 0, stdout: '[]\n', stderr });
    expect(await troupe.run('team list --json')).toEqual({ status: 0, stdout: '[]\n', stderr: '' });
    await killDaemon(troupe.home);
    const refused = await troupe.ask('team show absent --json');
    expect(refused).toMatchObject({ status: 3, stdout: '' });
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'not_found' } });
  });

  test('uses the journal of the last time unless another is named', async () => {
    const troupe = newTroupe();
    const file = join(temporaryFolder(), 'teams.db');
    const elsewhere = `sqlite:${file}`;
    const serve = async (journal: string): Promise<void> => {
      const daemon = troupe.start(['serve', '--journal', journal, '--json']);
      await until('it is ready', () => daemon.output.stdout.includes('"ready":true'));
    };
    await serve(elsewhere);
    await troupe.ask('team create demo');
    // A second daemon on this journal would run the same members twice.
    const other = newTroupe();
    const second = await other.run(['serve', '--journal', elsewhere]);
    expect(second).toMatchObject({ status: 1, stderr: expect.stringContaining('and only one may') as string });
    expect(await other.json('team list')).toEqual([]);
    await killDaemon(troupe.home);
    expect(await troupe.json('team list')).toMatchObject([{ name: 'demo' }]);
    await troupe.ask('stop');
    expect(await troupe.json('team list', { env: { TROUPE_JOURNAL: elsewhere } })).toMatchObject([{ name: 'demo' }]);
    await troupe.ask('stop');

    // If the journal is gone, no daemon starts with an empty one unless told to.
    renameSync(file, `${file}.away`);
    expect((await troupe.ask('doctor')).stdout).toMatch(/not running, and cannot start: The last daemon here/);
    const lost = await troupe.ask('team list');
    expect(lost).toMatchObject({ status: 75, stdout: '' });
    expect(lost.stderr).toContain(`The last daemon here kept its teams in ${elsewhere}, which no longer exists`);
    expect(lost.stderr).toContain('troupe serve --journal sqlite');
    // A daemon that is told to starts with an empty journal, and later commands need no flag.
    await serve('sqlite');
    await troupe.ask('stop');
    expect(await troupe.json('team list')).toEqual([]);
  });

  test('warns if it names another journal than the running daemon uses', async () => {
    const troupe = shared;
    const env = { TROUPE_JOURNAL: `sqlite:${join(temporaryFolder(), 'other.db')}` };
    const warning = `keeps its teams in ${troupe.home}/journal.db, not in ${env.TROUPE_JOURNAL.slice(7)}`;
    await Promise.all(
      ['status', 'team list', 'team show absent', 'ps'].map(async (words) => {
        const { stderr } = await troupe.run(words, { env });
        expect(stderr.split(warning).length, `${words}: ${stderr}`).toBe(2);
      }),
    );
    const list = await troupe.run('team list --json', { env });
    expect(JSON.parse(list.stderr)).toMatchObject({ notice: expect.stringContaining(warning) as string });
    const refused = await troupe.run('team show absent --json', { env });
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'not_found' } });
    for (const same of ['sqlite', `sqlite:${troupe.home}/journal.db`, `sqlite://${troupe.home}/journal.db`]) {
      expect((await troupe.run('team list', { env: { TROUPE_JOURNAL: same } })).stderr).toBe('');
    }
  });

  test('prints no password from the address of a journal', async () => {
    const other = newTroupe();
    for (const said of ['nats://u:SEC/RET@host', 'nats:u:SECRET@host', 'mysql://u:SECRET@host']) {
      const { stderr } = await shared.run('team list', { env: { TROUPE_JOURNAL: said } });
      expect(stderr).toContain('…@host (TROUPE_JOURNAL)');
      expect(stderr).not.toMatch(/SEC|RET/);
      const serve = await other.run(['serve', '--journal', said]);
      expect(serve.stderr).toContain('…@host');
      expect(serve.stderr).not.toMatch(/SEC|RET/);
    }
  });

  test('resolves a relative journal against the working directory of the command, and recognises it through a link', async () => {
    const troupe = newTroupe();
    const folder = temporaryFolder();
    const file = join(folder, 'mine.db');
    const env = { TROUPE_JOURNAL: `sqlite:${relative(process.cwd(), file)}` };
    const { journal } = await troupe.json<{ journal: { location: string } }>('status', { env });
    expect(journal.location).toBe(file);
    const link = join(temporaryFolder(), 'link');
    symlinkSync(folder, link);
    for (const same of [env.TROUPE_JOURNAL, `sqlite:${link}/mine.db`]) {
      expect((await troupe.ask('team list', { env: { TROUPE_JOURNAL: same } })).stderr).toBe('');
    }
  });

  test('that should stop the daemon names the members that a killed one left running', async () => {
    const troupe = newTroupe();
    await troupe.ask('team create demo');
    const agent = JSON.stringify({ exec: 'sleep 60' });
    expect((await troupe.ask(['member', 'spawn', 'ann', '--team', 'demo', '--agent', agent])).stderr).toBe('');
    await until(
      'it runs',
      async () => (await troupe.json<{ status: string }>('member show ann --team demo')).status === 'idle',
    );
    await killDaemon(troupe.home);
    const { status, stderr } = await troupe.ask('stop');
    expect(status).toBe(75);
    expect(stderr).toContain('ann@demo still runs: troupe stop --all kills what it left');
    expect((await troupe.ask('stop --all')).stdout).toContain('Ended 1 teammate (ann@demo)');
    expect((await troupe.ask('stop')).stderr).toBe(`troupe: No daemon is running for ${troupe.home}\n`);
  });

  test('starts one daemon together with many other commands', async () => {
    const troupe = newTroupe();
    const outcomes = await Promise.all(Array.from({ length: MANY }, () => troupe.run('status')));
    expect(outcomes.map(({ status, stderr }) => (status === 0 ? 0 : stderr))).toEqual(Array(MANY).fill(0));
    expect(new Set(outcomes.map(pidIn))).toEqual(new Set([readPid(troupe.home)]));
    expect(outcomes.filter(({ stderr }) => stderr.includes('starting')).length).toBeGreaterThan(0);
  });

  test('waits while another command starts it', async () => {
    const troupe = newTroupe();
    mkdirSync(troupe.home, { mode: 0o755 });
    const mark = join(troupe.home, 'starting');
    writeFileSync(mark, String(process.pid));
    // The mark never looks old, so this process is about to start the daemon.
    const ahead = new Date(Date.now() + 600_000);
    utimesSync(mark, ahead, ahead);
    const command = troupe.start('status');
    // It makes the directory private just before it looks for the mark.
    await until('it looks for a daemon', () => (statSync(troupe.home).mode & 0o777) === 0o700);
    const daemon = troupe.start('serve');
    expect(await command.ended).toMatchObject({ status: 0, stderr: '' });
    expect(pidIn(command.output)).toBe(daemon.child.pid);
  });

  test('does not wait for a command that died while it started the daemon', async () => {
    const troupe = newTroupe();
    mkdirSync(troupe.home, { mode: 0o700 });
    const mark = join(troupe.home, 'starting');
    writeFileSync(mark, '');
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(mark, longAgo, longAgo);
    expect(await troupe.ask('status')).toMatchObject({ status: 0 });
    await troupe.ask('stop');
    // If the mark names a dead process, there is no wait at all.
    const { pid } = spawnSync('true');
    writeFileSync(mark, String(pid));
    // A time 10 minutes ahead: the mark never looks old, so its age alone cannot make it void.
    const ahead = new Date(Date.now() + 600_000);
    utimesSync(mark, ahead, ahead);
    expect(await troupe.ask('status')).toMatchObject({ status: 0 });
  });

  test('says why the daemon cannot start', async () => {
    const troupe = newTroupe();
    mkdirSync(troupe.home, { mode: 0o700 });
    mkdirSync(join(troupe.home, 'journal.db'));
    const { status, stderr } = await troupe.ask('status');
    expect(status).toBe(75);
    expect(stderr).toMatch(/The daemon ended at once: .*journal\.db/);
  });

  test('says what to do if the token of the daemon is missing or wrong', async () => {
    const troupe = shared;
    const pid = readPid(troupe.home);
    const token = join(troupe.home, 'token');
    const before = readFileSync(token);
    onTestFinished(() => writeFileSync(token, before, { mode: 0o600 }));
    rmSync(token);
    const gone = await troupe.ask('status');
    expect(gone).toMatchObject({ status: 5, stdout: '' });
    const why = `runs as process ${pid}, but its token ${token} is gone. End it with: kill ${pid}.`;
    expect(gone.stderr).toContain(why);
    // Commands that start no daemon must not report it as absent.
    expect(await troupe.ask('stop')).toMatchObject({ status: 5, stderr: expect.stringContaining(why) });
    const doctor = await troupe.ask('doctor');
    expect(doctor.status).toBe(1);
    expect(doctor.stdout).toMatch(new RegExp(`process ${pid} runs, but .*token is missing`));
    expect(doctor.stdout).toContain(`run: kill ${pid}; the next command starts it again`);
    writeFileSync(token, 'another', { mode: 0o600 });
    const other = await troupe.ask('task list --team demo');
    expect(other).toMatchObject({ status: 5, stdout: '' });
    expect(other.stderr).toContain(`${token} does not hold the token of the running daemon`);
    expect((await troupe.ask('doctor')).stdout).toContain(`run: kill ${pid}; the next command starts it again`);
    chmodSync(token, 0o644);
    expect((await troupe.ask('task list --team demo')).stderr).toContain(`Others can read ${token}, so it is not used`);
    expect((await troupe.ask('doctor')).stdout).toContain(`run: chmod 600 ${token}`);
    chmodSync(token, 0o600);
  });

  test('says what is wrong with its configuration: file, line, key, what is allowed', async () => {
    const troupe = newTroupe();
    mkdirSync(troupe.home, { mode: 0o700 });
    const file = join(troupe.home, 'config.yaml');
    writeFileSync(file, 'labels: gpu\njournl: nats://n1:4222\n');
    const { status, stderr } = await troupe.ask('status');
    expect(status).toBe(75);
    expect(stderr).toContain(`The daemon ended at once: ${file}:1:9: labels `);
    expect(stderr).toContain(`${file}:2:1: `);
    expect(stderr).toMatch(/journl.*journal/);
    writeFileSync(file, '# name: build-1\n');
    expect(await troupe.ask('status')).toMatchObject({ status: 0 });
  });

  test('starts it on a full disk, from its reserve; once that is used up, says to free some space', async (context) => {
    needMounts(context);
    const troupe = newTroupe();
    mkdirSync(troupe.home);
    mountSmall(troupe.home, '24m');
    chmodSync(troupe.home, 0o700);
    // Before the unmount, which takes away the file with the pid.
    onTestFinished(() => kill());
    const fillers = ['filler', 'filler-2'].map((name) => join(troupe.home, name));
    const killAndFill = async (filler: string): Promise<void> => {
      await kill();
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k'], { stdio: 'ignore' });
    };
    await troupe.json('team create demo');
    await killAndFill(fillers[0] as string);
    expect(await troupe.json('team list')).toMatchObject([{ id: 'demo' }]);
    await killAndFill(fillers[1] as string);
    const { stderr } = await troupe.run('team list');
    expect(stderr).toMatch(/disk is full.*free some space/i);
    for (const filler of fillers) rmSync(filler, { force: true });
    expect(await troupe.json('team list')).toMatchObject([{ id: 'demo' }]);

    async function kill(): Promise<void> {
      const pid = readPid(troupe.home);
      if (pid === undefined || !isRunning(pid)) return;
      process.kill(pid, 'SIGKILL');
      await until('it is gone', () => !isRunning(pid));
    }
  });

  test('says at once why a home cannot be used, and leaves it unchanged', async () => {
    const troupe = newTroupe();
    const folder = temporaryFolder();
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const used = join(folder, 'used');
    mkdirSync(used, { mode: 0o755 });
    writeFileSync(join(used, 'thesis.tex'), '');
    const long = join(folder, 'x'.repeat(100));
    const homes: [string, RegExp][] = [
      [
        '/proc/nope',
        /\/proc\/nope cannot be made \(there is no such file or folder\): choose another with TROUPE_HOME/,
      ],
      [file, /file is not a directory: choose another/],
      [join(file, 'below'), /cannot be made \(a part of its path is a file, not a folder\)/],
      [used, /holds other files and is open to others \(mode 755\): choose an empty one/],
      [long, /daemon\.sock has \d+ bytes, and this system allows \d+: set TROUPE_HOME to a shorter path/],
    ];
    for (const [home, message] of homes) {
      const outcome = await troupe.ask('status', { env: { TROUPE_HOME: home } });
      expect(outcome).toMatchObject({ status: 1, stderr: expect.stringMatching(message) as string });
      // It did not try to start a daemon first.
      expect(outcome.stderr).not.toContain('starting');
    }
    expect(statSync(used).mode & 0o777).toBe(0o755);
    expect(existsSync(long)).toBe(false);
  });

  test('passes none of its own settings to the daemon that it starts', async () => {
    const troupe = newTroupe();
    const env = { TROUPE_MEMBER_NAME: 'canary-member', TROUPE_TEAM: 'canary-team', TROUPE_TOKEN_FILE: undefined };
    await troupe.run('status', { env });
    const environment = await import('node:fs').then(({ readFileSync }) =>
      readFileSync(`/proc/${readPid(troupe.home)}/environ`, 'utf8'),
    );
    expect(environment).not.toContain('canary');
    expect(environment).toContain(`TROUPE_HOME=${troupe.home}`);
  });
});

describe('troupe stop', () => {
  test('ends the daemon and returns when it is gone', async () => {
    const troupe = newTroupe();
    const { pid } = await troupe.json<{ pid: number }>('status');
    expect(await troupe.run('stop --json')).toEqual({ status: 0, stdout: '{"stopping":true}\n', stderr: '' });
    expect(isRunning(pid)).toBe(false);
    expect(await troupe.ask('stop')).toMatchObject({
      status: 75,
      stderr: expect.stringContaining('No daemon') as string,
    });
    expect(readPid(troupe.home)).toBeUndefined();
  });

  test('ends it despite a waiting call, which does not start it again', async () => {
    const troupe = newTroupe();
    await troupe.ask('team create demo');
    const waiting = await startToWait(troupe, 'inbox --team demo --as lead --wait 60s');
    expect(await troupe.run('stop')).toMatchObject({ status: 0, stdout: 'The daemon has ended.\n' });
    expect(await waiting.ended).toMatchObject({ status: 75 });
    expect(readPid(troupe.home)).toBeUndefined();
  });
});

describe('Ctrl-C', () => {
  test('cancels a waiting call and ends with 130', async () => {
    const troupe = shared;
    await troupe.ask('team create demo');
    const waiting = await startToWait(troupe, 'task claim --team demo --as lead --wait 60s');
    waiting.child.kill('SIGINT');
    expect(await waiting.ended).toEqual({ status: 130, stdout: '', stderr: '' });
    await troupe.ask('task add Later --team demo');
    expect(await troupe.json('task show 1 --team demo')).toMatchObject({ status: 'pending' });
  });
});

/** Starts a command, and returns when the daemon has its call. */
async function startToWait(troupe: Troupe, words: string): Promise<Started> {
  // In a process of its own: one that answers several commands keeps their connections.
  const connections = async (): Promise<number> =>
    (JSON.parse((await troupe.run('status --json')).stdout) as { connections: number }).connections;
  const before = await connections();
  const started = troupe.start(words);
  await until('the call waits', async () => (await connections()) > before);
  return started;
}

/** The process that `troupe status` says is the daemon. */
function pidIn({ stdout }: { readonly stdout: string }): number {
  return Number(/^ +pid +(\d+)$/m.exec(stdout)?.[1]);
}
