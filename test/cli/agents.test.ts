import { chmodSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { views } from '../../src/cli/views/agent.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { newTroupe } from './troupe.ts';

test('lists every agent, which are here in which version, and what each can do', async () => {
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
  // Here, though it does not say in which version.
  expect(named('goose')).toMatchObject({ path: join(folder, 'goose'), known: 'documented' });
  expect(named('goose')).not.toHaveProperty('version');
  expect(named('kimi')).not.toHaveProperty('path');
  expect(agents.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['claude', 'codex', 'acp', 'exec', 'function']),
  );

  const { stdout } = await troupe.run('agents', { env });
  expect(stdout).toMatch(/^gemini +9\.8\.7 /m);
  // What is not here is listed with the way to get it, and fits into a terminal of 80 columns.
  expect(stdout).toMatch(/^NOT HERE +HOW TO GET IT\n/m);
  expect(stdout).toMatch(/^kimi +see github\.com/m);
  const screen = { columns: 80, isTerminal: true, hasColor: false, now: 0 };
  const narrow = views['agent.list']?.(agents as never, screen, {}) ?? '';
  expect(Math.max(...narrow.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
});
