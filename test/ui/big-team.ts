import type { Home } from '../../src/client/home.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTaskInput } from '../../src/core/task.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { HomeLedger } from './home-ledger.ts';

/** The size of the team. */
export const BIG = { tasks: 1_000, members: 50, messages: 10_000 } as const;

/** Commands of one step; steps that wait for the disk together become one batch. */
const PER_BATCH = 3;

/** A large team in the middle of its work, or a part of one, as a journal: 1,000 tasks, 50 members, 10,000 messages. */
export async function writeBigTeam(home: Home, name = 'big', part = 1): Promise<void> {
  const end = Date.now();
  const sizes = { tasks: Math.ceil(BIG.tasks * part), messages: Math.ceil(BIG.messages * part) };
  const ledger = new HomeLedger(home);
  const by = 'lead';
  const members = Array.from({ length: BIG.members - 1 }, (_, i) => `member-${i + 1}`);
  const random = numbers(7);
  const commands: NewCommand[] = members.map((member): NewCommand => ({
    type: 'member.join',
    by,
    ...JoinInput.parse({ name: member, agentType: 'claude', model: 'sonnet' }),
  }));
  for (let i = 1; i <= sizes.tasks; i++) {
    const needs = new Set<string>();
    for (let n = random(4); n > 0 && i > 10; n--) needs.add(String(Math.max(1, i - 1 - random(40))));
    const title = `Task number ${i}, which does one of a thousand things`;
    commands.push({ type: 'task.create', by, ...CreateTaskInput.parse({ title, dependencies: [...needs] }) });
  }
  for (let i = 1; i <= sizes.tasks * 0.6; i++) {
    const member = members[i % members.length] as string;
    if (i > sizes.tasks * 0.56) commands.push({ type: 'task.claim', by: member });
    else {
      commands.push({ type: 'task.claim', by: member, taskId: String(i) });
      commands.push({ type: 'task.complete', by: member, taskId: String(i), result: 'done' });
    }
  }
  for (let i = 0; i < sizes.messages; i++) {
    const toId = i % 4 === 0 ? by : (members[random(members.length)] as string);
    const from = members[random(members.length)] as string;
    if (from === toId) continue;
    const content = `Message ${i}: the **third** case of \`task ${random(1000)}\` still fails, what do you see?`;
    // Troupe itself sends them, because members have a limit per minute.
    commands.push({
      type: 'message.send',
      by: '@system',
      messageId: `m${i}`,
      toId,
      content,
      priority: 'normal',
      messageType: 'system',
    });
  }
  const start = end - 8 * 3_600_000;
  const create = CreateTeamInput.parse({ name, maxTeammates: 32 });
  await ledger.execute(
    name,
    { type: 'team.create', by: '@user', at: start, ...create, maxTeammates: BIG.members },
    () => undefined,
  );
  const step = (end - start) / commands.length;
  const work: Promise<unknown>[] = [];
  for (let i = 0; i < commands.length; i += PER_BATCH) {
    const batch = commands
      .slice(i, i + PER_BATCH)
      .map((command, j) => ({ ...command, at: Math.round(start + (i + j) * step) }));
    work.push(ledger.execute(name, batch, () => undefined));
    if (work.length >= 16) await Promise.all(work.splice(0));
  }
  await Promise.all(work);
  await ledger.close();
}

/** Numbers that look random and are the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}
