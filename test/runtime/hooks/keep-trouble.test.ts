import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { USER } from '../../../src/core/actor.ts';
import { hookTroubles, troublesTold } from '../../../src/core/hook-trouble.ts';
import type { HookResult } from '../../../src/core/hook.ts';
import { CreateTeamInput } from '../../../src/core/team.ts';
import { viewTeam } from '../../../src/core/view.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import { SharedTaskList } from '../../../src/ledger/task-list.ts';
import { openApprovals } from '../../../src/runtime/hooks/approvals.ts';
import { keepTrouble } from '../../../src/runtime/hooks/keep-trouble.ts';
import { TeamHooks } from '../../../src/runtime/hooks/team-hooks.ts';
import { ALLOWED } from '../../../src/runtime/hooks/verdict.ts';
import { openProcessRecords } from '../../../src/runtime/process-records.ts';
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
  await until('both are reported', async () => (await troubles()).length === 2);
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
  await until('it is reported', async () => (await troubles()).length === 1);
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

test('a hook that is late is reported as that; a function, and a hook that was removed meanwhile, are not', async () => {
  const { hooks, ledger, folder, register, keep, troubles, told } = await setStage();
  await register('true');
  const failed = { ...ALLOWED, exitCode: 1 } as const;
  const run = (result: HookResult): void => keep({ teamId: 'demo', type: 'TaskCompleted', result });
  run(failed);
  run({ ...failed, command: 'removed' });
  run({ ...failed, command: 'true', timedOut: true });
  await until('one is reported', async () => (await troubles()).length > 0);
  const end = 'The work passed unjudged; onFailure: block would stop it';
  const late = `The TaskCompleted hook "true" did not answer in time. ${end}`;
  expect([await troubles(), told]).toEqual([[late], [[late]]]);
  run({ ...failed, command: 'true' });
  await until(
    'the new end is reported',
    async () => (await troubles())[0] === `The TaskCompleted hook "true" failed. ${end}`,
  );
  await hooks.removeHook('demo', 'TaskCompleted');
  run({ ...ALLOWED, command: 'removed' });
  await until('it is forgotten', async () => (await troubles()).length === 0);
  // What else the team records stays.
  expect((await ledger.view('demo', viewTeam)).metadata).toEqual({ folder });
});

test('reports nothing about a team that is gone or closed, reports what it cannot write, and then keeps the next trouble', async () => {
  const { ledger, keep, errors, hooks, register, troubles, journal } = await setStage();
  const failed = { ...ALLOWED, exitCode: 1, command: 'true' } as const;
  const run = (teamId: string, result: HookResult): void => keep({ teamId, type: 'TaskCompleted', result });
  const create = { type: 'team.create', by: USER, ...CreateTeamInput.parse({ name: 'other' }) } as const;
  await ledger.execute('other', create, () => undefined);
  await hooks.registerHook('other', { type: 'TaskCompleted', command: 'true' });
  await register('true');
  run('demo', failed);
  await until('it is reported', async () => (await troubles()).length === 1);
  await ledger.execute('demo', { type: 'team.close', by: USER, force: true }, () => undefined);
  run('demo', { ...failed, exitCode: 0 });
  run('never-there', failed);
  run('other', failed);
  const inOther = async () => hookTroubles((await ledger.view('other', viewTeam)).metadata);
  await until('the next is kept', async () => (await inOther()).length === 1);
  expect(errors).toEqual([]);
  await journal.close();
  run('other', { ...failed, exitCode: 0 });
  await until('it is reported', () => errors.length > 0);
  expect(errors).toMatchObject([[{ code: 'storage' }, 'other']]);
});

async function setStage() {
  const folder = temporaryFolder();
  const journal = memoryJournal();
  const ledger = openLedger(journal);
  const errors: unknown[] = [];
  const keep = keepTrouble(ledger, (error, teamId) => errors.push([error, teamId]));
  const hooks = new TeamHooks(ledger, {
    approvals: openApprovals(join(temporaryFolder(), 'approvals.json')),
    records: openProcessRecords(temporaryFolder()),
    environmentOf: () => ({ PATH: process.env['PATH'] }),
    cwd: folder,
    onRun: keep,
  });
  const told: string[][] = [];
  ledger.subscribe((_team, { events }) => {
    for (const event of events) {
      const troubles = event.type === 'team:updated' ? troublesTold(event.metadata) : undefined;
      if (troubles?.length) told.push(troubles);
    }
  });
  const create = {
    type: 'team.create',
    by: USER,
    ...CreateTeamInput.parse({ name: 'demo', metadata: { folder } }),
  } as const;
  await ledger.execute('demo', create, () => undefined);
  const tasks = new SharedTaskList(ledger, { gate: hooks });
  return {
    folder,
    journal,
    ledger,
    hooks,
    keep,
    errors,
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
