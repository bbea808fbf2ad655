import { renameSync, watch, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rounds } from '../proof.ts';
import { foreignLock, foreignUnlock, writeInPlace } from './foreign.ts';
import { addMember, file, read, readList, setStage, TEAM } from './stage.ts';
import type { Stage } from './stage.ts';

const WORKERS = ['codex-1', 'codex-2', 'codex-3', 'codex-4'];

/** A stage with `count` tasks and four members of ours. */
async function setList(count: number): Promise<Stage> {
  const stage = await setStage();
  for (let id = 3; id <= count; id++) {
    writeFileSync(stage.paths.task(String(id)), JSON.stringify(file(String(id)), undefined, 2));
  }
  for (const name of WORKERS.slice(1)) await addMember(stage.ledger, name);
  await stage.settled();
  return stage;
}

/** All members of ours claim tasks until none is left; returns the holder of each task. */
async function claimAll({ tasks }: Stage): Promise<Map<string, string>> {
  const got = new Map<string, string>();
  const work = async (name: string): Promise<void> => {
    for (;;) {
      const task = await tasks.claimNextTask(TEAM, name);
      if (!task) return;
      expect(got.has(task.id)).toBe(false);
      got.set(task.id, name);
      // Lets other members and passes of the mirror run in between.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  await Promise.all(WORKERS.map(work));
  return got;
}

describe('many claims of a native list', () => {
  test('take the lock of each task once: a pass in between does not check again what was just written', async () => {
    const stage = await setList(120);
    const taken = new Map<string, number>();
    const watcher = watch(stage.paths.tasks, (_event, name) => {
      if (name?.endsWith('.json.lock')) taken.set(name, (taken.get(name) ?? 0) + 1);
    });
    onTestFinished(() => watcher.close());
    expect((await claimAll(stage)).size).toBe(120);
    await stage.settled();
    // Each lock is made and removed.
    await expect.poll(() => [...taken.values()].reduce((sum, one) => sum + one, 0)).toBe(240);
    expect([...taken.values()].every((times) => times === 2)).toBe(true);
  });

  test('F20: survive stale overwrites by other programs, with or without the lock', async () => {
    const stage = await setList(100);
    const { paths } = stage;
    const before = new Map(Array.from({ length: 100 }, (_, i) => [String(i + 1), read(paths.task(String(i + 1)))]));
    let running = true;
    const overwrite = async (withLock: boolean): Promise<void> => {
      for (let i = 0; running; i++) {
        const id = String(1 + ((i * 7) % 100));
        if (withLock && !(await foreignLock(paths.task(id)))) continue;
        // It does not know of the claim, and changes another field.
        writeInPlace(paths.task(id), { ...before.get(id), activeForm: `at it ${i}` });
        if (withLock) foreignUnlock(paths.task(id));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    const writers = [overwrite(true), overwrite(false)];
    const got = await claimAll(stage);
    running = false;
    await Promise.all(writers);
    expect(got.size).toBe(100);
    await stage.settled();
    await stage.settled();
    const journal = await stage.tasks.listTasks(TEAM, { limit: 1000 });
    expect(new Map(journal.map(({ id, assigneeId }) => [id, assigneeId]))).toEqual(got);
    const files = journal.map(({ id }) => read(paths.task(id)));
    expect(new Map(files.map(({ id, owner }) => [id, owner]))).toEqual(got);
    expect(files.filter(({ status }) => status !== 'in_progress')).toEqual([]);
  });
});

/** As many as users have had. */
const MANY = rounds(1_000, 10_000);

describe('an inbox of thousands of entries', () => {
  const entries = (text: string): object[] =>
    Array.from({ length: MANY }, (_, i) => ({
      from: 'alice',
      text: `${text} ${i}`,
      timestamp: new Date(1_794_700_000_000 + i).toISOString(),
      read: false,
    }));

  test('of a native member keeps them all when a member of ours writes to it', async () => {
    const { mail, paths, settled } = await setStage();
    const many = entries('unread');
    writeFileSync(paths.inbox('alice'), JSON.stringify(many, undefined, 2));
    await settled();
    await mail.send(TEAM, 'codex-1', { toId: 'alice', content: 'one more' });
    await settled();
    const list = readList(paths.inbox('alice'));
    expect(list).toHaveLength(MANY + 1);
    expect(list.slice(0, -1)).toEqual(many);
    expect(list.at(-1)).toMatchObject({ from: 'codex-1', text: 'one more', read: false });
    // Half of them were read, and taken out.
    writeFileSync(`${paths.inbox('alice')}.tmp.01234567`, JSON.stringify(list.slice(MANY / 2), undefined, 2));
    renameSync(`${paths.inbox('alice')}.tmp.01234567`, paths.inbox('alice'));
    await settled();
    const waiting = async (): Promise<number> =>
      (await mail.getInbox(TEAM, 'alice')).filter(({ acknowledgedAt }) => acknowledgedAt === undefined).length;
    await expect.poll(waiting, { interval: 200 }).toBe(MANY / 2 + 1);
  });

  test('of a member of ours reaches it whole and in order', async () => {
    const { mail, paths, settled } = await setStage();
    writeFileSync(paths.inbox('codex-1'), JSON.stringify(entries('for you'), undefined, 2));
    await settled();
    const texts = async (): Promise<string[]> => (await mail.getInbox(TEAM, 'codex-1')).map(({ content }) => content);
    await expect.poll(async () => (await texts()).length, { interval: 200 }).toBe(MANY);
    expect(await texts()).toEqual(entries('for you').map((one) => (one as { text: string }).text));
  });
});
