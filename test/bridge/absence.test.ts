import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { writeInPlace } from './foreign.ts';
import { proves } from './requirements.ts';
import { file, NATIVE, read, readTeam, setStage, TEAM } from './stage.ts';

describe('a native team that disappears', () => {
  test('keeps its own members when the native lead resets the file, and notices native ones that left', async () => {
    const { ledger, paths, settled } = await setStage();
    const config = readTeam(paths.config);
    writeFileSync(
      paths.config,
      JSON.stringify({ ...config, metadata: undefined, members: config.members.slice(0, 1) }),
    );
    rmSync(paths.inboxes, { recursive: true });
    await settled();
    expect(readTeam(paths.config).members.map(({ name }) => name)).toEqual(['team-lead', 'codex-1']);
    expect(await ledger.view(TEAM, (state) => state.members.get('alice')?.status)).toBe('stopped');
  });

  proves(
    'resume-keeps-tasks',
    'is reported as gone to our members, and is synchronized again when it is back',
    async () => {
      const { bridge, ledger, tasks, mail, paths, settled } = await setStage();
      writeInPlace(paths.task('2'), { ...read(paths.task('2')), owner: 'alice', status: 'in_progress' });
      await tasks.claimTask(TEAM, '1', 'codex-1');
      await settled();
      const config = readTeam(paths.config);
      // As the newest version leaves it after a clean exit.
      rmSync(paths.team, { recursive: true });
      await settled();
      await settled();
      const statuses = (): Promise<unknown[]> =>
        ledger.view(TEAM, (state) => ['alice', 'codex-1'].map((id) => state.members.get(id)?.status));
      expect(await statuses()).toEqual(['stopped', 'active']);
      expect(await tasks.getTask(TEAM, '2')).toMatchObject({ status: 'pending' });
      expect(await tasks.getTask(TEAM, '1')).toMatchObject({ status: 'in_progress', assigneeId: 'codex-1' });
      const told = (await mail.getInbox(TEAM, 'codex-1')).filter(({ content }) => content.includes('is gone'));
      expect(told).toHaveLength(1);
      expect(bridge.joined()[0]?.notices.join()).toContain(`troupe native leave ${TEAM}`);
      await tasks.claimTask(TEAM, '2', 'codex-1');
      // As the program makes it again when its session is resumed.
      mkdirSync(paths.team, { recursive: true });
      writeFileSync(
        paths.config,
        JSON.stringify({ ...config, metadata: undefined, members: config.members.slice(0, 1) }),
      );
      await settled();
      await settled();
      expect(readTeam(paths.config).members.map(({ name }) => name)).toEqual(['team-lead', 'codex-1']);
      expect(read(paths.task('2'))).toMatchObject({ owner: 'codex-1', status: 'in_progress' });
      expect(bridge.joined()[0]?.notices.at(-1)).toContain('is back');
    },
  );

  proves('delete-removes-tasks', 'is not confused with another native team of the same name', async () => {
    const { bridge, tasks, paths, settled } = await setStage();
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await settled();
    const config = readTeam(paths.config);
    rmSync(paths.team, { recursive: true });
    rmSync(paths.tasks, { recursive: true });
    await settled();
    await expect(tasks.claimTask(TEAM, '2', 'codex-1')).resolves.toMatchObject({ assigneeId: 'codex-1' });
    for (const path of [paths.team, paths.tasks]) mkdirSync(path, { recursive: true });
    const fresh = { ...config, leadSessionId: 'another', members: config.members.slice(0, 1) };
    writeFileSync(paths.config, JSON.stringify(fresh));
    writeFileSync(paths.task('1'), JSON.stringify(file('1', { subject: 'Something else' })));
    await settled();
    await settled();
    expect(read(paths.task('1'))).toEqual(file('1', { subject: 'Something else' }));
    expect((await tasks.listTasks(TEAM)).map(({ title }) => title)).toEqual(['Task 1', 'Task 2']);
    expect(bridge.joined()[0]?.notices.join()).toContain('another native team has the name');
    await bridge.leave(TEAM);
    await expect(bridge.join(NATIVE)).rejects.toMatchObject({ code: 'exists', facts: { option: { field: 'rename' } } });
    await expect(bridge.join(NATIVE, { as: 'second' })).resolves.toMatchObject({ teamId: 'second' });
    expect((await tasks.listTasks('second')).map(({ title }) => title)).toEqual(['Something else']);
  });
});
