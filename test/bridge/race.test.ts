import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { nativePaths } from '../../src/bridge/layout.ts';
import { rounds } from '../proof.ts';
import { setStage } from '../server/stage.ts';

const TASKS = rounds(100, 500);
const NATIVE = 'race';

describe('eight processes, four of them foreign', () => {
  test(`claim ${TASKS} tasks of a native list: none twice, none lost, none torn`, async () => {
    const stage = await setStage({ limits: { requestBurst: 1e6 } });
    const root = join(stage.home.directory, 'claude');
    const paths = nativePaths(root, NATIVE);
    mkdirSync(paths.inboxes, { recursive: true });
    mkdirSync(paths.tasks, { recursive: true });
    const foreign = ['f1', 'f2', 'f3', 'f4'];
    const ours = ['t1', 't2', 't3', 't4'];
    const members = ['team-lead', ...foreign].map((name) => ({ name, agentId: `${name}@${NATIVE}` }));
    writeFileSync(paths.config, JSON.stringify({ name: NATIVE, leadAgentId: `team-lead@${NATIVE}`, members }));
    for (let id = 1; id <= TASKS; id++) {
      const task = {
        id: String(id),
        subject: `Task ${id}`,
        description: 'x',
        status: 'pending',
        blocks: [],
        blockedBy: [],
      };
      writeFileSync(paths.task(String(id)), JSON.stringify(task, undefined, 2));
    }
    await stage.act('native.join', { name: NATIVE });
    for (const name of ours) await stage.act('member.add', { teamId: NATIVE, name });
    const program = (name: string): string => join(import.meta.dirname, 'programs', name);
    const env = { ...process.env, TOKEN: stage.token };
    const started = [
      ...foreign.map((name) => fork(program('foreign-claimer.ts'), [paths.tasks, name], { execArgv: [] })),
      ...ours.map((name) =>
        fork(program('troupe-claimer.ts'), [stage.home.socket, NATIVE, name], { execArgv: [], env }),
      ),
    ];
    onTestFinished(() => started.forEach((child: ChildProcess) => child.kill('SIGKILL')));
    const gone = Promise.all(started.map(untilGone));
    const all = <T>(next: (child: ChildProcess) => Promise<T>): Promise<T[]> =>
      Promise.race([Promise.all(started.map(next)), gone.then(() => [])]);
    const say = (word: string): void => started.forEach((child) => void child.send(word));
    await all((child) => once(child, 'message'));
    const firsts = all((child) => once(child, 'message'));
    say('go');
    await firsts;
    const answers = all(async (child) => (await once(child, 'message'))[0] as string[]);
    say('on');
    const got = await answers;

    expect(new Set(got.flat()).size).toBe(got.flat().length);
    expect(got.flat()).toHaveLength(TASKS);
    const claimers = [...foreign, ...ours];
    const claimedBy = new Map(got.flatMap((ids, i) => ids.map((id) => [id, claimers[i]] as const)));

    await expect
      .poll(
        async () =>
          (await stage.act('task.list', { teamId: NATIVE, limit: 1000 })).filter(
            ({ status }) => status !== 'in_progress',
          ).length,
      )
      .toBe(0);
    const journal = await stage.act('task.list', { teamId: NATIVE, limit: 1000 });
    expect(new Map(journal.map(({ id, assigneeId }) => [id, assigneeId]))).toEqual(claimedBy);
    const files = readdirSync(paths.tasks).filter((name) => name.endsWith('.json'));
    const onDisk = files.map(
      (name) => JSON.parse(readFileSync(join(paths.tasks, name), 'utf8')) as { id: string; owner: string },
    );
    expect(new Map(onDisk.map(({ id, owner }) => [id, owner]))).toEqual(claimedBy);
    // A pass of the mirror may still be writing. Nothing would remove files that remain after it.
    const debris = () => readdirSync(paths.tasks).filter((name) => /lock\/?$|tmp/.test(name) && name !== '.lock');
    await expect.poll(debris).toEqual([]);
    expect(stage.errors).toEqual([]);
  });
});

/** Fails if a claimer ends with an error, because the others would wait for it. */
async function untilGone(child: ChildProcess): Promise<void> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`A claimer ended with ${code ?? signal}: see what it printed above`);
}
