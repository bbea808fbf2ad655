import { chmodSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { views } from '../../src/cli/show/views/agent.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { newTroupe } from './troupe.ts';

test('lists every agent, whether it is installed and in which version, and what it can do', async () => {
  const folder = temporaryFolder();
  for (const [name, line] of [
    ['gemini', 'echo gemini 9.8.7'],
    ['goose', 'exit 3'],
  ] as const) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const troupe = newTroupe();
  const env = { PATH: [folder, dirname(process.execPath), '/usr/bin', '/bin'].join(':') };
  const agents = await troupe.json<Record<string, unknown>[]>('agents', { env });
  const named = (name: string) => agents.find((one) => one['name'] === name);
  expect(named('gemini')).toMatchObject({
    path: join(folder, 'gemini'),
    version: '9.8.7',
    abilities: { steer: false, interrupt: true },
    holds: { plan: 'enforced' },
    known: 'measured',
  });
  // Installed, but its version is unknown.
  expect(named('goose')).toMatchObject({ path: join(folder, 'goose'), known: 'documented' });
  expect(named('goose')).not.toHaveProperty('version');
  expect(named('kimi')).not.toHaveProperty('path');
  expect(agents.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['claude', 'codex', 'acp', 'exec', 'function']),
  );

  const { stdout } = await troupe.run('agents', { env });
  expect(stdout).toMatch(/^gemini +9\.8\.7 /m);
  // Missing agents are listed with the way to get them, and fit into a terminal of 80 columns.
  expect(stdout).toMatch(/^NOT INSTALLED +HOW TO INSTALL\n/m);
  expect(stdout).toMatch(/^kimi +see github\.com/m);
  const at = (columns: number): string =>
    views['agent.list']?.(agents as never, { columns, isTerminal: true, hasColor: false, now: 0 }, {}) ?? '';
  const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));
  expect(at(120)).toMatch(/^gemini +9\.8\.7 +- +yes /m);
  expect(widest(at(80))).toBeLessThanOrEqual(80);
  // Every width shows all facts.
  for (const columns of [80, 40]) {
    expect(at(columns).replace(/\s+/g, ' ')).toMatch(
      / gemini 9\.8\.7; INTERRUPT, [A-Z, ]+; COST \S+.*?; PLAN enforced; DELEGATE \w+; KNOWN by tests /,
    );
  }
});

test('takes an agent by name or as in a team file, and says in plain words what is wrong', async () => {
  const troupe = newTroupe();
  await troupe.run('team create demo');
  await troupe.json([
    'team',
    'update',
    'demo',
    '--agents',
    '{"gemini":{"kind":"acp","name":"gemini","model":"small"}}',
  ]);
  const add = (name: string, agent: string): Promise<{ agent: object }> =>
    troupe.json(['member', 'add', name, '--team', 'demo', '--agent', agent]);
  expect((await add('a', 'codex')).agent).toEqual({ kind: 'codex' });
  expect((await add('b', 'goose')).agent).toEqual({ kind: 'acp', name: 'goose' });
  // The team has settings for this one.
  expect((await add('c', 'gemini')).agent).toEqual({ kind: 'acp', name: 'gemini', model: 'small' });
  expect((await add('d', '{"exec":"./work.sh"}')).agent).toEqual({
    kind: 'exec',
    command: ['/bin/sh', '-c', './work.sh'],
  });
  expect((await add('e', '{"acp":["my-agent","--acp"]}')).agent).toEqual({
    kind: 'acp',
    command: ['my-agent', '--acp'],
  });
  const refused = async (agent: string): Promise<string> =>
    (await troupe.run(['member', 'spawn', 'f', '--team', 'demo', '--agent', agent])).stderr;
  expect(await refused('{"exec":5}')).toContain('agent.command: must be a list, not a number');
  expect(await refused('{exec: ./work.sh}')).toContain('--agent must be a name such as codex, or JSON such as {"exec"');
});
