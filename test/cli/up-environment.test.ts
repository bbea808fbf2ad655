import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { linesOf } from '../lines-of.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { isRunning, readPid, sharedTroupe } from './troupe.ts';

/** Its daemon is started by `troupe status`, without the variables that the tests set. */
const troupe = sharedTroupe();

/** A folder with a program that is only on the PATH of an activated environment. */
function activate(folder: string, says: string): { PATH: string; VIRTUAL_ENV: string } {
  const bin = join(folder, says, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'crew-tool'), `#!/bin/sh\necho ${says}\n`);
  chmodSync(join(bin, 'crew-tool'), 0o755);
  return { PATH: `${bin}:${process.env['PATH']}`, VIRTUAL_ENV: join(folder, says) };
}

test('members and gates get the environment of troupe up, and no file keeps its secrets', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'troupe.yaml');
  writeFileSync(
    file,
    `team: given
members:
  - name: ann
    agent: { exec: [crew-tool-runner] }
    env: { REPO: '\${CREW_REPO}', TOKEN: '\${CREW_TOKEN}', LOST: '\${CREW_LOST}' }
tasks: [{ id: a, title: A }]
hooks:
  TaskCompleted: { command: 'echo "$CREW_REPO $(crew-tool)" > judged', env: [CREW_REPO] }
`,
  );
  const env = { ...activate(folder, 'venv'), CREW_REPO: '/repo/x', CREW_TOKEN: 'only-in-memory-81', OTHER: 'unnamed' };
  const runner = join(folder, 'venv/bin/crew-tool-runner');
  writeFileSync(runner, '#!/bin/sh\necho "$REPO $(crew-tool) $TOKEN $VIRTUAL_ENV <$LOST> <$OTHER>" > worked\n');
  chmodSync(runner, 0o755);
  const { status, stderr } = await troupe.ask(['up', '--yes', file], { env });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(stderr).toContain(`${file} takes \${CREW_LOST} from your environment. It is not set there`);
  expect(readFileSync(join(folder, 'worked'), 'utf8')).toBe(
    `/repo/x venv only-in-memory-81 ${join(folder, 'venv')} <> <>\n`,
  );
  expect(readFileSync(join(folder, 'judged'), 'utf8')).toBe('/repo/x venv\n');
  const files = readdirSync(troupe.home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const keepers = files.filter((one) => readFileSync(join(one.parentPath, one.name)).includes('only-in-memory-81'));
  expect(keepers.map(({ name }) => name)).toEqual([]);
  // Without the activated environment its program is missing, whatever the daemon had before.
  const gone = await troupe.ask(['up', '--yes', file, '--again']);
  expect(gone).toMatchObject({ status: 2, stderr: expect.stringContaining('crew-tool-runner') });
});

test('a member finds troupe, also if its user has it in no folder of the PATH', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'troupe.yaml');
  const work = `'command -v troupe > found; troupe task show 1 > shown'`;
  writeFileSync(
    file,
    `team: lonely\nmembers: [{ name: ann, agent: { exec: [/bin/sh, -c, ${work}] } }]\ntasks: [{ id: a, title: Alone }]\n`,
  );
  const { status, stderr } = await troupe.ask(['up', '--yes', file], { env: { PATH: folder } });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(readFileSync(join(folder, 'found'), 'utf8')).toBe(`${join(troupe.home, 'launcher/troupe')}\n`);
  expect(readFileSync(join(folder, 'shown'), 'utf8')).toContain('Alone');
});

test('a running member keeps its environment, troupe up says so, and a restart takes the new one, also after a crash', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'troupe.yaml');
  const work = `'cat > /dev/null; crew-tool >> said; until test -e go; do sleep 0.1; done'`;
  writeFileSync(
    file,
    `team: kept\nmembers: [{ name: ann, agent: { exec: [sh, -c, ${work}] }, env: { KEY: '\${CREW_KEY}' } }]\ntasks: [{ id: a, title: A }]\n`,
  );
  const said = (): string[] => linesOf(join(folder, 'said'));
  const [one, two] = [activate(folder, 'one'), activate(folder, 'two')];
  const up = (env: typeof one) =>
    troupe.ask(['up', '--yes', '--detach', file], { env: { ...env, CREW_KEY: 'only-in-memory-82' } });
  expect(await up(one)).toMatchObject({ status: 0 });
  await until('it works', () => said().length === 1);
  const same = await up(one);
  expect(same.stderr).not.toContain('earlier environment');
  const { stderr } = await up(two);
  expect(stderr).toContain('ann already ran and keep an earlier environment; your PATH, VIRTUAL_ENV differ.');
  expect(stderr).toContain('troupe member restart NAME --team kept');
  expect(await troupe.ask('member restart ann --team kept')).toMatchObject({ status: 0 });
  await until('it works again', () => said().length === 2);
  const daemon = readPid(troupe.home) as number;
  process.kill(daemon, 'SIGKILL');
  await until('the daemon is gone', () => !isRunning(daemon));
  expect(await troupe.ask('member restart ann --team kept')).toMatchObject({ status: 0 });
  await until('it works once more', () => said().length === 3);
  expect(said()).toEqual(['one', 'two', 'two']);
  // Secrets are not stored: the user reads it where problems are, and how to give them again.
  const lacks = 'The members and gates of team kept that start now lack CREW_KEY: a secret is not stored';
  expect((await troupe.ask('status')).stdout.replaceAll(/\s+/g, ' ')).toContain(lacks);
  await up(two);
  expect((await troupe.ask('status')).stdout).not.toContain('CREW_KEY');
  writeFileSync(join(folder, 'go'), '');
  expect(await troupe.ask('down kept --now')).toMatchObject({ status: 0 });
});
