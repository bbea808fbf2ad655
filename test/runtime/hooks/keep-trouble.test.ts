import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { USER } from '../../../src/core/actor.ts';
import { hookTroubles, troublesTold } from '../../../src/core/hook-trouble.ts';
import { CreateTeamInput } from '../../../src/core/team.ts';
import { viewTeam } from '../../../src/core/view.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import { SharedTaskList } from '../../../src/ledger/task-list.ts';
import { openApprovals } from '../../../src/runtime/hooks/approvals.ts';
import { keepTrouble } from '../../../src/runtime/hooks/keep-trouble.ts';
import { TeamHooks } from '../../../src/runtime/hooks/team-hooks.ts';
import { openLedger } from '../../ledger/places.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';

test('a hook that fails and lets work pass is reported once, and so is its recovery', async () => {
  const { folder, register, complete, troubles, told } = await setStage();
  await register('./gate.sh');
  await register('exit 7');
  await complete(3);
  const gone = `The hook "./gate.sh" cannot be run: ./gate.sh does not exist: put it into ${folder}. The work passed unjudged; onFailure: block would stop it`;
  const failed =
    'The TaskCompleted hook "exit 7" failed with exit code 7. The work passed unjudged; onFailure: block would stop it';
  await until('both are told of', async () => (await troubles()).length === 2);
  expect(await troubles()).toEqual([gone, failed]);
  // Once for each hook, not for each task.
  expect(told).toEqual([[gone], [failed]]);
  writeFileSync(join(folder, 'gate.sh'), '#!/bin/sh\nexit 0\n');
  chmodSync(join(folder, 'gate.sh'), 0o755);
  await complete(1);
  await until('one judges again', async () => (await troubles()).length === 1);
  expect(await troubles()).toEqual([failed]);
});

test('a hook that was removed, or that blocks, is not reported', async () => {
  const { folder, hooks, register, complete, troubles, told } = await setStage();
  await register('./gate.sh');
  await complete(1);
  await until('it is told of', async () => (await troubles()).length === 1);
  await hooks.removeHook('demo', 'TaskCompleted');
  await register('true');
  await complete(1);
  await until('it is forgotten', async () => (await troubles()).length === 0);
  expect(told.at(-1)).toEqual(['The hook TaskCompleted ./gate.sh works again']);
  await hooks.removeHook('demo', 'TaskCompleted');
  await hooks.registerHook('demo', { type: 'TaskCompleted', command: './gate.sh', cwd: folder, onFailure: 'block' });
  rmSync(join(folder, 'gate.sh'), { force: true });
  await expect(complete(1)).rejects.toMatchObject({ code: 'gate_rejected' });
  expect(await troubles()).toEqual([]);
});

async function setStage() {
  const folder = temporaryFolder();
  const ledger = openLedger(memoryJournal());
  const errors: unknown[] = [];
  const hooks = new TeamHooks(ledger, {
    approvals: openApprovals(join(temporaryFolder(), 'approvals.json')),
    environmentOf: () => ({ PATH: process.env['PATH'] }),
    cwd: folder,
    onRun: keepTrouble(ledger, (error) => errors.push(error)),
  });
  const told: string[][] = [];
  ledger.subscribe((_team, { events }) => {
    for (const event of events) {
      const troubles = event.type === 'team:updated' ? troublesTold(event.metadata) : undefined;
      if (troubles?.length) told.push(troubles);
    }
  });
  const create = { type: 'team.create', by: USER, ...CreateTeamInput.parse({ name: 'demo' }) } as const;
  await ledger.execute('demo', create, () => undefined);
  const tasks = new SharedTaskList(ledger, { gate: hooks });
  return {
    folder,
    hooks,
    told,
    register: (command: string) => hooks.registerHook('demo', { type: 'TaskCompleted', command, cwd: folder }),
    complete: async (number: number): Promise<void> => {
      for (let i = 0; i < number; i++) {
        const { id } = await tasks.createTask('demo', USER, { title: 'Judged' });
        await tasks.claimTask('demo', id, 'lead');
        await tasks.completeTask('demo', id, 'lead');
      }
    },
    troubles: async (): Promise<string[]> => {
      expect(errors).toEqual([]);
      return hookTroubles((await ledger.view('demo', viewTeam)).metadata);
    },
  };
}
