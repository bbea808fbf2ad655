import type { Home } from '../../src/client/home.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTaskInput } from '../../src/core/task.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import { Usage } from '../../src/core/usage.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { HomeLedger } from './home-ledger.ts';

/** Commands of one step, and steps at a time: those that wait for the disk together become one batch. */
const PER_STEP = 2;
const STEPS = 8;
const TASKS = 200;

/** A team that has run for weeks, as a journal: few tasks, and many events about them. */
export async function writeLongTeam(home: Home, name: string, events: number): Promise<void> {
  const ledger = new HomeLedger(home);
  const by = 'lead';
  const members = Array.from({ length: 8 }, (_, i) => `member-${i + 1}`);
  const start = Date.now() - 14 * 24 * 3_600_000;
  const first: NewCommand[] = [
    { type: 'team.create', by: '@user', ...CreateTeamInput.parse({ name, maxTeammates: 8 }) },
    ...members.map((member): NewCommand => ({ type: 'member.join', by, ...JoinInput.parse({ name: member }) })),
    ...Array.from({ length: TASKS }, (_, i): NewCommand => {
      return { type: 'task.create', by, ...CreateTaskInput.parse({ title: `Task number ${i + 1}` }) };
    }),
  ];
  await ledger.execute(
    name,
    first.map((command) => ({ ...command, at: start })),
    () => undefined,
  );
  const usage = Usage.parse({ inputTokens: 1_200, outputTokens: 300, costUsd: 0.01 });
  const step = (Date.now() - start) / events;
  const commandOf = (i: number): NewCommand => {
    const member = members[i % members.length] as string;
    const taskId = String(1 + ((i * 7) % TASKS));
    if (i % 3 === 0) return { type: 'task.update', by: member, taskId, activeForm: `Step ${i} of many` };
    const status = Math.floor(i / 8) % 2 === 0 ? 'idle' : 'active';
    if (i % 3 === 1) return { type: 'member.change', by: member, memberId: member, status };
    return { type: 'usage.record', by: member, memberId: member, usage };
  };
  for (let i = 0; i < events; i += STEPS * PER_STEP) {
    const steps = Array.from({ length: STEPS }, (_, b) => {
      const commands = Array.from({ length: PER_STEP }, (_, j) => commandOf(i + b * PER_STEP + j));
      const at = Math.round(start + (i + b * PER_STEP) * step);
      return ledger.execute(
        name,
        commands.map((command) => ({ ...command, at })),
        () => undefined,
      );
    });
    await Promise.all(steps);
  }
  await ledger.close();
}
