import { describe, expect, onTestFinished, test } from 'vitest';
import { NEEDS_NATS, startNats } from '../nats/server.ts';
import { isProof, rounds, tell } from '../proof.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { acquaint, newJournal, signalAll, startMachine } from './machines/stage.ts';
import { shareDaemon } from './stage.ts';

const DEATHS = rounds(1, 100);
const MACHINES = rounds(1, 12);
/** As teams have it; in `npm test` shorter, because nothing is measured there. */
const LEASE_MS = isProof ? 30_000 : 2_000;

describe('a task is free again', () => {
  const newStage = shareDaemon();

  test(`after the death of its member's process, ${DEATHS} times`, async () => {
    const local: number[] = [];
    for (let i = 0; i < DEATHS; i++) {
      const stage = newStage();
      const file = stage.teamFile({
        team: stage.team,
        members: [stage.member('ada', 'slow')],
        tasks: [{ title: 'Long' }],
      });
      await stage.ask('up', file, '--yes', '--detach');
      await until('the work has begun', () => stage.work()[0]);
      const before = await stage.task(stage.team, '1');
      const killedAt = performance.now();
      process.kill(await stage.pidOf(stage.team, 'ada'), 'SIGKILL');
      await until('it is free', async () => (await stage.task(stage.team, '1')).epoch > before.epoch);
      local.push(Math.round(performance.now() - killedAt));
      expect((await stage.troupe('down', stage.team, '--now')).code).toBe(0);
    }
    tell({ local });
  });

  test(`after the death of its member's whole machine, ${MACHINES} times`, NEEDS_NATS, async () => {
    const servers = await startNats();
    onTestFinished(() => servers.stop());
    const journal = await newJournal(servers, { leaseMs: LEASE_MS });
    const witness = await startMachine('witness', journal);
    const remote: number[] = [];
    for (let i = 0; i < MACHINES; i++) {
      const victim = await startMachine(`victim-${i}`, journal);
      await acquaint(witness, victim);
      const teamId = `crew-${i}`;
      const agent = { exec: ['sh', '-c', 'sleep 1000'] };
      const members = [{ name: 'ada', agent, host: victim.name }];
      const source = JSON.stringify({ team: teamId, members, tasks: [{ title: 'Long' }] });
      await witness.connection.call('team.up', { yes: true, source, folder: temporaryFolder() });
      const look = () => witness.connection.call('task.show', { teamId, taskId: '1' });
      await until('the work has begun', async () => (await look()).status === 'in_progress');
      const { epoch } = await look();
      const killedAt = performance.now();
      signalAll(victim, 'SIGKILL');
      await until('it is free', async () => (await look()).epoch > epoch);
      remote.push(Math.round(performance.now() - killedAt));
      await witness.connection.call('team.close', { teamId, force: true });
    }
    tell({ remote });
  });
});
