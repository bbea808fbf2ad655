import { spawn } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import { rounds, tell } from '../proof.ts';
import { until } from '../until.ts';
import { isAlive, processesOf, setStage } from './stage.ts';
import type { Stage } from './stage.ts';

const RUNS = rounds(4, 200);
/** So many runs share a daemon. */
const PER_DAEMON = 20;

/** How a run ends. Afterwards nothing of its team may be left. */
const ENDS: readonly ((stage: Stage) => Promise<void>)[] = [
  async (stage) => expect((await stage.troupe('down', stage.team, '--now')).code).toBe(0),
  async (stage) => expect((await stage.troupe('down', stage.team, '--within', '1s')).code).toBe(0),
  async (stage) => {
    process.kill(stage.daemonPid(), 'SIGKILL');
    expect((await stage.troupe('down', stage.team, '--now')).code).toBe(0);
  },
  async (stage) => {
    for (const { identity } of stage.records()) if (identity) process.kill(identity.pid, 'SIGKILL');
    expect((await stage.troupe('stop')).code).toBe(0);
  },
];

test(`nothing is left of ${RUNS} teams that were stopped or killed, and no process of anybody else is touched`, async () => {
  // It looks like what members leave behind, but outlives all runs.
  const stranger = spawn('sleep', ['100001'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void stranger.kill());
  const waits: number[] = [];
  let count = 0;
  for (let done = 0; done < RUNS; done += PER_DAEMON) {
    const first = setStage();
    for (let run = done; run < Math.min(done + PER_DAEMON, RUNS); run++) {
      const stage = first.aside();
      const members = ['slow', 'escapes', 'ignores-term'].map((fixture, i) => stage.member(`m${i}`, fixture));
      const tasks = members.map((_, i) => ({ title: `Task ${i}`, assign: `m${i}` }));
      await stage.ask('up', stage.teamFile({ team: stage.team, members, tasks }), '--yes', '--detach');
      await until('everybody works', async () => {
        count = Math.max(count, stage.processes().length);
        const { status } = await stage.task(stage.team, '2');
        return stage.work().length > 0 && status !== 'pending' && stage.processes().length >= members.length + 2;
      });
      await ENDS[run % ENDS.length]?.(stage);
      const endedAt = performance.now();
      await until('nothing is left', () => stage.processes().length === 0);
      waits.push(Math.round(performance.now() - endedAt));
    }
    await first.troupe('stop', '--all');
    await until('the daemon is gone', () => processesOf(first.home).length === 0);
  }
  expect(count).toBeGreaterThan(3);
  expect(isAlive(stranger.pid as number)).toBe(true);
  tell({ runs: RUNS, waits });
});
