import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { wordPackage } from '../../src/cli/commands/uninstall/package.ts';
import { isOwnEntry } from '../../src/runtime/home-entries.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { BIN, isRunning, newTroupe, readPid } from './troupe.ts';

interface Uninstalled {
  readonly removed: readonly { kind: string; path: string }[];
  readonly found?: readonly { kind: string; path: string }[];
  readonly stays: readonly { path: string; why: string }[];
  readonly unmerged: readonly string[];
  readonly package: string;
}

describe('the command that removes the package', () => {
  test.for([
    ['/usr/local/lib/node_modules/troupe', 'npm uninstall -g troupe'],
    ['/home/ada/.nvm/versions/node/v24/lib/node_modules/troupe', 'npm uninstall -g troupe'],
    ['/home/ada/my tools/lib/node_modules/troupe', "npm uninstall -g --prefix '/home/ada/my tools' troupe"],
    ['/home/ada/.npm/_npx/0f3/node_modules/troupe', 'rm -r /home/ada/.npm/_npx/0f3 (the copy that npx keeps)'],
    ['/home/ada/project/node_modules/troupe', 'npm uninstall troupe (in /home/ada/project)'],
    ['/home/ada/troupe', 'delete the checkout /home/ada/troupe'],
  ])('of %s', ([root = '', expected]) => {
    expect(wordPackage(root, { HOME: '/home/ada' })).toBe(expected);
  });

  test('of a checkout that npm link put on the PATH removes the link first', () => {
    const [checkout, prefix] = [temporaryFolder(), temporaryFolder()];
    mkdirSync(join(prefix, 'lib/node_modules'), { recursive: true });
    symlinkSync(checkout, join(prefix, 'lib/node_modules/troupe'));
    const PATH = `/usr/bin:${prefix}/bin`;
    expect(wordPackage(checkout, { PATH })).toBe(
      `npm uninstall -g --prefix ${prefix} troupe, then delete the checkout ${checkout}`,
    );
    // A link of another checkout is not ours to remove.
    expect(wordPackage(temporaryFolder(), { PATH })).not.toContain('npm');
  });
});

test('names in the state directory are told from those of others', () => {
  const own = ['journal.db-wal', 'journal.db.mark', 'daemon.log.1', 'daemon.json.123.tmp', 'start-a1B2c3', 'box', 'id'];
  expect(own.filter((name) => !isOwnEntry(name))).toEqual([]);
  const others = ['notes.txt', 'port.moved', 'journal.db.backup', '.bashrc', 'daemon.log.old', 'x.1.tmp'];
  expect(others.filter(isOwnEntry)).toEqual([]);
});

describe('troupe uninstall', () => {
  test('lists and removes state, service and completions, and nothing else', async () => {
    const troupe = newTroupe();
    const user = temporaryFolder();
    const env = { HOME: user, PATH: '/usr/bin:/bin', XDG_CONFIG_HOME: undefined, XDG_DATA_HOME: undefined };
    const fish = join(user, '.config/fish/completions/troupe.fish');
    mkdirSync(dirname(fish), { recursive: true });
    writeFileSync(fish, (await troupe.ask('completion fish')).stdout);
    const zsh = join(user, '.zfunc/_troupe');
    mkdirSync(dirname(zsh));
    writeFileSync(zsh, '#compdef troupe\n# by hand\n');
    writeFileSync(join(user, '.bashrc'), 'true\nsource <(troupe completion bash)\n');
    await troupe.run('team create demo', { env });
    // Not even its owner may write here.
    const shut = join(troupe.home, 'trash/shut');
    mkdirSync(join(shut, 'inner'), { recursive: true });
    writeFileSync(join(shut, 'inner/file'), '');
    chmodSync(join(shut, 'inner'), 0o500);
    writeFileSync(join(troupe.home, 'notes.txt'), 'mine');
    writeFileSync(join(troupe.home, 'config.yaml'), 'labels: [here]\n');
    const { stdout: unit } = await troupe.run('service install --print', { env });
    const { file } = await troupe.askJson<{ file: string }>('service status', { env });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, unit);

    const listed = await troupe.askJson<Uninstalled>('uninstall --dry-run', { env });
    expect(listed).toMatchObject({ removed: [], unmerged: [] });
    expect(listed.found?.map(({ kind }) => kind)).toEqual(['service', 'state', 'settings', 'completion']);
    expect(listed.stays).toEqual([
      { path: join(troupe.home, 'notes.txt'), why: 'Troupe did not make it' },
      { path: join(user, '.bashrc'), why: 'line 2 loads completions: remove it yourself' },
    ]);
    const pid = readPid(troupe.home) ?? 0;
    expect(isRunning(pid)).toBe(true);

    // A script says --yes, and a member never may.
    const unasked = await troupe.run('uninstall', { env });
    expect(unasked).toMatchObject({ status: 2, stderr: expect.stringContaining('say so with --yes') });
    expect(unasked.stdout).toContain('Troupe made on this machine:\n');
    const member = await troupe.run('uninstall --yes', { env: { ...env, TROUPE_TOKEN: 'x' } });
    expect(member).toMatchObject({ status: 5, stderr: expect.stringContaining('Only a person uninstalls Troupe') });
    expect(existsSync(join(troupe.home, 'journal.db'))).toBe(true);

    const gone = await troupe.run('uninstall --yes', { env });
    expect(gone).toMatchObject({ status: 0, stderr: '' });
    expect(gone.stdout).toContain('Removed.\nTo remove the package itself: delete the checkout ');
    await until('the daemon has ended', () => !isRunning(pid));
    expect(readdirSync(troupe.home)).toEqual(['notes.txt']);
    expect([existsSync(fish), existsSync(file)]).toEqual([false, false]);
    expect(readFileSync(zsh, 'utf8')).toContain('by hand');

    const nothing = await troupe.run('uninstall --yes', { env });
    expect(nothing).toMatchObject({ status: 0, stderr: '' });
    expect(nothing.stdout).toContain('Troupe has made nothing on this machine that is still there.\n');
  });

  test('leaves a folder alone that no daemon used', () => {
    const home = temporaryFolder();
    writeFileSync(join(home, 'port'), '8080');
    const { status, stdout } = spawnSync(process.execPath, [BIN, 'uninstall', '--yes', '--json'], {
      env: { PATH: '/usr/bin:/bin', HOME: home, TROUPE_HOME: home },
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ removed: [], stays: [{ path: home, why: 'no daemon ever used it' }] });
    expect(readdirSync(home)).toEqual(['port']);
  });
});
