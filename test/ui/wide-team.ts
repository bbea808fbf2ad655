import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../../src/client/home.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTaskInput } from '../../src/core/task.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { HomeLedger } from './home-ledger.ts';

/** Twenty packages, each with one task that begins it, many alike ones, and one that ends it. */
export const WIDE = { packages: 20, alike: 48, tasks: 1_001, messages: 10_000, done: 30 } as const;

/** Steps that are stored together. */
const PER_BATCH = 50;

/** A message, a note and an entry of a transcript of the team have this word. */
export const RARE = 'Quagmire';

/** A team of 1,001 tasks, most of them alike, with 10,000 messages, a note and a transcript. */
export async function writeWideTeam(home: Home, name: string): Promise<void> {
  const by = 'lead';
  const members = Array.from({ length: 8 }, (_, i) => `member-${i + 1}`);
  const add = (title: string, dependencies: string[] = []): NewCommand => ({
    type: 'task.create',
    by,
    ...CreateTaskInput.parse({ title, dependencies }),
  });
  const commands: NewCommand[] = members.map((member): NewCommand => ({
    type: 'member.join',
    by,
    ...JoinInput.parse({ name: member, agentType: 'claude', model: 'sonnet' }),
  }));
  commands.push(add('Read the plan of the whole port, with all its packages and everything that they need'));
  for (let one = 0; one < WIDE.packages; one++) {
    const first = 2 + one * (WIDE.alike + 2);
    const alike = Array.from({ length: WIDE.alike }, (_, i) => String(first + 1 + i));
    commands.push(add(`Begin package ${one + 1}`, ['1']));
    commands.push(...alike.map((_, i) => add(`Port file ${i + 1} of package ${one + 1}`, [String(first)])));
    commands.push(add(`Test package ${one + 1}`, alike));
  }
  // The first two packages are begun; of the first, some files are ported, three are held, one failed.
  const finish = (taskId: string, member: string): NewCommand[] => [
    { type: 'task.claim', by: member, taskId },
    { type: 'task.complete', by: member, taskId, result: 'done' },
  ];
  commands.push(...finish('1', 'member-1'), ...finish('2', 'member-1'), ...finish('52', 'member-1'));
  for (let i = 0; i < WIDE.done; i++) commands.push(...finish(String(3 + i), `member-${1 + (i % 4)}`));
  for (let i = 1; i <= 3; i++) commands.push({ type: 'task.claim', by: `member-${i}`, taskId: String(40 + i) });
  commands.push({ type: 'task.claim', by: 'member-4', taskId: '45' });
  commands.push({ type: 'task.fail', by: 'member-4', taskId: '45', reason: 'The file is binary' });
  commands.push({ type: 'note.add', by: 'member-1', text: `Beware of the ${RARE} in package 3`, tags: ['port'] });
  for (let i = 0; i < WIDE.messages; i++) {
    commands.push({
      type: 'message.send',
      by: '@system',
      messageId: `m${i}`,
      toId: i % 4 === 0 ? by : (members[i % members.length] as string),
      content:
        i === 4_321 ? `I fell into the ${RARE}, what now?` : `Message ${i}: file ${i % 48} is larger than I thought.`,
      priority: 'normal',
      messageType: 'system',
    });
  }
  const end = Date.now();
  const start = end - 8 * 3_600_000;
  const ledger = new HomeLedger(home);
  const create = CreateTeamInput.parse({ name, description: 'Port everything', maxTeammates: 32 });
  await ledger.execute(name, { type: 'team.create', by: '@user', at: start, ...create }, () => undefined);
  const step = (end - start) / commands.length;
  for (let i = 0; i < commands.length; i += PER_BATCH) {
    const batch = commands
      .slice(i, i + PER_BATCH)
      .map((command, j) => ({ ...command, at: Math.round(start + (i + j) * step) }));
    await ledger.execute(name, batch, () => undefined);
  }
  await ledger.close();
  const folder = join(home.transcripts, name, 'member-2');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lines = Array.from({ length: 400 }, (_, i) =>
    JSON.stringify({ at: start + i * 1_000, type: 'text', text: i === 150 ? `There is the ${RARE}.` : `Thought ${i}` }),
  );
  writeFileSync(join(folder, 's1.jsonl'), lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
}
