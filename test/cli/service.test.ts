import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findManager } from '../../src/cli/commands/service/manager.ts';
import { plistText } from '../../src/cli/commands/service/plist.ts';
import { nameFor, pathFor } from '../../src/cli/commands/service/program.ts';
import type { ServiceProgram } from '../../src/cli/commands/service/program.ts';
import { unitText } from '../../src/cli/commands/service/unit.ts';
import { findHome, homeAt } from '../../src/client/home.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { isInstalled } from '../tools.ts';
import { BIN, newTroupe } from './troupe.ts';

/** Paths with everything that means something to a service manager. */
const ODD = `we ird/%h $HOME "q" 'a' \\n & <b> é`;

function program(folder: string, node: string): ServiceProgram {
  return {
    command: [join(folder, node), join(folder, ODD, 'bin/troupe.js'), 'serve'],
    variables: { PATH: `/usr/bin:/bin:${join(folder, ODD)}`, TROUPE_HOME: join(folder, ODD, 'state') },
    log: join(folder, ODD, 'daemon.log'),
  };
}

describe('the unit of systemd', () => {
  test.for(['node', 'a node', `node"q"`, 'node$x', "node'a'", 'no\\de'])('takes any path: %s', (node) => {
    const folder = temporaryFolder();
    const path = join(folder, node);
    writeFileSync(path, '#!/bin/sh\n', { mode: 0o755 });
    const text = unitText(program(folder, node));
    const [, start = ''] = /^ExecStart=(.*)$/m.exec(text) ?? [];
    const words = readWords(start).map((word) => word.replaceAll('$$', '$'));
    const command = [path, join(folder, ODD, 'bin/troupe.js'), 'serve'];
    // systemd takes no program with quotes in its path, so a shell starts that one.
    expect(words).toEqual(/["'\\$]/.test(path) ? ['/bin/sh', '-c', 'exec "$0" "$@"', ...command] : command);
    const [, state = ''] = /^Environment=(.*TROUPE_HOME.*)$/m.exec(text) ?? [];
    expect(readWords(state)).toEqual([`TROUPE_HOME=${join(folder, ODD, 'state')}`]);
    if (!isInstalled('systemd-analyze')) return;
    const unit = join(folder, 'troupe.service');
    writeFileSync(unit, text);
    const runtime = join(folder, 'run');
    mkdirSync(runtime, { mode: 0o700 });
    const env = { PATH: process.env['PATH'], HOME: folder, XDG_RUNTIME_DIR: runtime };
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', unit], { env, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

/** Words in double quotes, as systemd reads them: backslashes escape, and `%%` is a percent sign. */
function readWords(text: string): string[] {
  const words = [...text.matchAll(/"((?:[^"\\]|\\.)*)"(?: |$)/g)].map(([, word = '']) => word);
  return words.map((word) => word.replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%'));
}

describe('the agent of launchd', () => {
  test('has every path as it is', () => {
    const folder = temporaryFolder();
    const wanted = program(folder, 'a node');
    const text = plistText('troupe.daemon', wanted);
    const strings = [...text.matchAll(/<string>(.*)<\/string>/g)].map(([, one = '']) =>
      one.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
    );
    const { command, variables, log } = wanted;
    expect(strings).toEqual(['troupe.daemon', ...command, ...Object.values(variables), log, log]);
    if (!isInstalled('python3')) return;
    const read = 'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';
    const { stdout, stderr } = spawnSync('python3', ['-c', read], { input: text, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      Label: 'troupe.daemon',
      ProgramArguments: command,
      EnvironmentVariables: variables,
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 10,
      ExitTimeOut: 60,
      AbandonProcessGroup: true,
      StandardOutPath: log,
      StandardErrorPath: log,
    });
  });

  test('belongs into the folder of agents of its user', () => {
    const manager = findManager(homeAt('/Users/ada/.local/state/troupe'), { HOME: '/Users/ada' }, 'darwin');
    expect(manager).toMatchObject({
      kind: 'launchd',
      name: 'troupe.daemon',
      file: '/Users/ada/Library/LaunchAgents/troupe.daemon.plist',
    });
  });
});

describe('a service', () => {
  test('gets the PATH of the terminal, without what holds only there, and with the folder of its Node', () => {
    const path = '/home/ada/bin:relative::/usr/bin:/project/node_modules/.bin:/usr/bin:/x/node-gyp-bin';
    expect(pathFor(path, '/opt/node/bin/node')).toBe('/home/ada/bin:/usr/bin:/opt/node/bin');
    expect(pathFor('/opt/node/bin:/bin', '/opt/node/bin/node')).toBe('/opt/node/bin:/bin');
  });

  test('has a name for each state directory, a short one for the usual', () => {
    const environment = { HOME: '/home/ada' };
    expect(nameFor(findHome(environment), environment)).toBe('troupe');
    const names = ['/a', '/b'].map((home) => nameFor(homeAt(home), { ...environment, TROUPE_HOME: home }));
    expect(names).toEqual([expect.stringMatching(/^troupe-[0-9a-f]{8}$/), expect.stringMatching(/^troupe-/)]);
    expect(names[0]).not.toBe(names[1]);
  });

  test.skipIf(process.platform !== 'linux')(
    'is refused where no manager of services answers, with the reason',
    async () => {
      const troupe = newTroupe();
      const home = temporaryFolder();
      const env = { PATH: '/nowhere', HOME: home, XDG_CONFIG_HOME: undefined };
      const refused = await troupe.run('service install', { env });
      expect(refused).toMatchObject({ status: 1, stdout: '' });
      expect(refused.stderr).toMatch(/systemd runs no user session here \(systemctl is not on the PATH\): /);
      expect(existsSync(join(home, '.config'))).toBe(false);
      // It can still be looked at.
      const printed = await troupe.run('service install --print', { env });
      expect(printed.stdout).toContain(`Environment="TROUPE_HOME=${troupe.home}"\n`);
      expect(printed.stdout).toContain(`"${BIN}" "serve"\n`);
    },
    60_000,
  );

  test.skipIf(process.platform !== 'linux')(
    'is installed, shown and removed',
    async () => {
      const troupe = newTroupe();
      const folder = temporaryFolder();
      // Says yes, and writes down what it is asked.
      const systemctl = join(folder, 'bin/systemctl');
      mkdirSync(dirname(systemctl));
      writeFileSync(systemctl, `#!/bin/sh\necho "$@" >> ${folder}/asked\n`);
      chmodSync(systemctl, 0o755);
      const asked = (): string =>
        existsSync(join(folder, 'asked')) ? readFileSync(join(folder, 'asked'), 'utf8') : '';
      const env = { PATH: `${dirname(systemctl)}:/usr/bin:/bin`, HOME: folder, XDG_CONFIG_HOME: undefined };
      const given = { env };
      const before = await troupe.askJson('service status', given);
      expect(before).toMatchObject({
        manager: 'systemd',
        installed: false,
        enabled: false,
        active: false,
        problems: [],
      });
      const { file, name } = before as { file: string; name: string };
      expect(file).toBe(join(folder, '.config/systemd/user', name));
      const journal = { env: { ...env, TROUPE_JOURNAL: 'memory' } };
      const installed = await troupe.ask('service install', journal);
      expect(installed).toMatchObject({ status: 0, stderr: expect.stringContaining('does not get TROUPE_JOURNAL') });
      expect(installed.stdout).toContain(`Installed ${file}: systemd starts the daemon at login. It runs now.`);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(asked()).toContain(`--user daemon-reload\n--user enable --now ${name}\n`);
      expect(await troupe.askJson('service status', given)).toMatchObject({
        installed: true,
        enabled: true,
        active: true,
        problems: [],
      });
      // A service keeps the PATH of its day.
      const other = await troupe.askJson('service status', { env: { ...env, PATH: `${env.PATH}:/opt/new` } });
      expect(other['problems']).toEqual([expect.stringContaining('To renew it: troupe service install')]);
      // Where a daemon runs, the service waits for the next login.
      await troupe.run('status', given);
      const again = await troupe.ask('service install', given);
      expect(again.stdout).toContain(`troupe stop && systemctl --user start ${name}`);
      expect(asked()).toContain(`--user enable ${name}\n`);
      expect(await troupe.askJson('service remove', given)).toEqual({ removed: true, file });
      expect(existsSync(file)).toBe(false);
      expect(asked()).toContain(`--user disable --now ${name}\n`);
      expect(await troupe.askJson('service remove', given)).toEqual({ removed: false, file });
      // Somebody else's file stays.
      writeFileSync(file, '[Service]\n');
      expect(await troupe.ask('service install', given)).toMatchObject({
        status: 4,
        stderr: expect.stringContaining('is not from troupe service install'),
      });
      expect((await troupe.ask('service remove', given)).status).toBe(4);
      expect(readFileSync(file, 'utf8')).toBe('[Service]\n');
    },
    120_000,
  );
});
