import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { USER } from '../../../src/core/actor.ts';
import { CreateTeamInput } from '../../../src/core/team.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { openDisk } from '../../../src/runtime/work/disk.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const teamId = 'demo';

test('the lead of a team is told of its disk, also if a deleted team of that name was', async () => {
  const folder = temporaryFolder();
  const at = (name: string): string => join(folder, name);
  const places = {
    workspaces: at('workspaces'),
    depots: at('depots'),
    indexes: at('indexes'),
    making: at('making'),
    trash: at('trash'),
  };
  mkdirSync(join(places.workspaces, teamId, 'ann'), { recursive: true });
  writeFileSync(join(places.workspaces, teamId, 'ann', 'large'), 'a'.repeat(5_000));
  const ledger = new Ledger(memoryJournal());
  const disk = openDisk({ ledger, projects: { places } }, (error) => {
    throw error;
  });
  const begin = (): Promise<unknown> => {
    const work = {
      workspaces: 'own',
      repository: '/project',
      prefix: '',
      base: '1'.repeat(40),
      branch: 'troupe/demo',
    } as const;
    const create = { type: 'team.create', by: USER, ...CreateTeamInput.parse({ name: teamId }) } as const;
    return ledger.execute(teamId, { ...create, work: { ...work, limits: { disk: 1_000 } } }, () => undefined);
  };
  const told = (): Promise<number> => ledger.view(teamId, ({ messages }) => messages.size);
  await begin();
  await disk.look(teamId);
  await disk.look(teamId);
  expect(await told()).toBe(1);
  await ledger.drop(teamId);
  disk.forget(teamId);
  await begin();
  expect(await told()).toBe(0);
  await disk.look(teamId);
  expect(await told()).toBe(1);
});
