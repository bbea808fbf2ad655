import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyBuilt } from '../built-copy.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { findOldNode, needs } from '../tools.ts';
import { newTroupe } from './troupe.ts';

describe('the built package', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-built-')));

  beforeAll(() => copyBuilt(folder));

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('works like the source: daemon, help, completion, live lines', async () => {
    const troupe = newTroupe();
    const run = (...words: readonly string[]) => {
      const environment = { ...troupe.environment, TROUPE_SOURCE: '' };
      return spawnSync(process.execPath, [join(folder, 'bin/troupe.js'), ...words], {
        encoding: 'utf8',
        env: environment,
      });
    };
    expect(run('--version')).toMatchObject({ status: 0, stderr: '' });
    expect(run('team', 'create', 'demo')).toMatchObject({
      status: 0,
      stdout: 'Team demo created; its lead is lead.\n',
      stderr: `troupe: starting the daemon for ${troupe.home}, since none was running; troupe stop ends it\n`,
    });
    expect(run('task', 'add', '日本語 → ✓', '--team', 'demo')).toMatchObject({
      status: 0,
      stdout: 'Task #1 added: 日本語 → ✓\n',
    });
    expect(run('task', 'list', '--team', 'demo').stdout).toMatch(/#1 {2}○ pending {2}日本語 → ✓ {2}\d{4}/);
    expect(run('task', 'show', '9', '--team', 'demo', '--json')).toMatchObject({ status: 3, stdout: '' });
    expect(run('task', 'lsit')).toMatchObject({ status: 2, stderr: expect.stringContaining('task list') as string });
    expect(run('task', 'add', '--help').stdout).toContain('Usage: troupe task add');
    expect(run('completion', 'bash').stdout).toContain('_troupe()');
    expect(run('doctor')).toMatchObject({ status: 0, stderr: '' });
    expect(run('logs', '--daemon').stdout).toContain('daemon.ready');
    expect(run('inbox', '--team', 'demo', '--as', 'lead', '--wait', '50ms', '--json').stdout).toBe('[]\n');
    expect(run('stop')).toMatchObject({ status: 0, stdout: 'The daemon has ended.\n', stderr: '' });
    expect(run('status').stderr).toContain('starting the daemon');
    expect(run('stop').status).toBe(0);
  });

  test('has the license texts of the packages that are bundled', () => {
    const text = readFileSync(join(folder, 'dist/cli/licenses.md'), 'utf8');
    for (const name of ['hono', 'ws', 'yaml', 'zod', '@modelcontextprotocol/server']) {
      expect(text).toContain(`\n## ${name} - `);
    }
  });

  test('runs members and gates, which find their files although the code is bundled', () => {
    const troupe = newTroupe();
    const work = temporaryFolder();
    const gate = 'export default ({ task_subject }) => task_subject === "First" ? {} : { reject: "no" };\n';
    writeFileSync(join(work, 'gate.mjs'), gate);
    const team = [
      'team: built',
      'members: [{ name: ann, agent: { exec: [echo, done] } }]',
      'tasks: [{ id: one, title: First }]',
      'hooks: { TaskCompleted: { command: ./gate.mjs, executor: node, onFailure: block } }',
    ];
    writeFileSync(join(work, 'troupe.yaml'), team.join('\n'));
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(folder, 'bin/troupe.js'), 'up', join(work, 'troupe.yaml'), '--yes', '--json'],
      { encoding: 'utf8', env: { ...troupe.environment, TROUPE_SOURCE: '' } },
    );
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ reason: 'done', tasks: [{ status: 'completed', result: 'done' }] });
  });

  test(
    'says which Node it needs, also when used as a library',
    needs(findOldNode() !== undefined, 'no Node older than 22.13 is on the PATH'),
    () => {
      const program = `import(${JSON.stringify(join(folder, 'dist/index.js'))}).catch((error) => console.log(error.message))`;
      expect(spawnSync(findOldNode() ?? '', ['-e', program], { encoding: 'utf8' })).toMatchObject({
        stdout: expect.stringMatching(
          /^Troupe needs Node 22\.13 or newer, and this is Node \d+\.\d+\.\d+\.\n$/,
        ) as string,
      });
    },
  );
});
