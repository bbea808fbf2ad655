import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openBridge } from '../../../src/bridge/bridge.ts';
import type { Bridge } from '../../../src/bridge/bridge.ts';
import { hostedName } from '../../../src/bridge/hosted/place.ts';
import { nativePaths } from '../../../src/bridge/layout.ts';
import type { NativePaths } from '../../../src/bridge/layout.ts';
import { MIRROR_TIMES } from '../../../src/bridge/mirror/shared.ts';
import { JoinInput } from '../../../src/core/member.ts';
import { parse } from '../../../src/core/parse.ts';
import { CreateTeamInput } from '../../../src/core/team.ts';
import { streamOf } from '../../../src/core/view.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { Mailbox } from '../../../src/ledger/mailbox.ts';
import { SharedTaskList } from '../../../src/ledger/task-list.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { writeInPlace } from '../foreign.ts';
import { file, read, readList, readTeam } from '../stage.ts';

const TEAM = 'demo';

interface Stage {
  readonly bridge: Bridge;
  readonly ledger: Ledger;
  readonly tasks: SharedTaskList;
  readonly mail: Mailbox;
  readonly paths: NativePaths;
  readonly trash: string;
  readonly root: string;
  readonly completed: string[];
  readonly settled: () => Promise<void>;
  readonly open: () => { bridge: Bridge; ledger: Ledger };
}

/** A team of ours with a lead, a teammate, and a member that is Claude Code in a terminal. No program runs. */
async function setStage(): Promise<Stage> {
  const folder = temporaryFolder();
  const [root, home, trash] = [join(folder, 'claude'), join(folder, 'home'), join(folder, 'trash')];
  const journal = memoryJournal();
  const completed: string[] = [];
  const open = (): { bridge: Bridge; ledger: Ledger; tasks: SharedTaskList } => {
    const ledger = new Ledger(journal, { exclusive: true });
    const tasks: SharedTaskList = new SharedTaskList(ledger, {
      claims: {
        keeps: (teamId) => bridge.claims.keeps(teamId),
        confirm: (...given) => bridge.claims.confirm(...given),
      },
    });
    const bridge = openBridge({
      ledger,
      home,
      root,
      trash,
      times: { ...MIRROR_TIMES, grace: 0 },
      async complete(teamId, taskId, memberId) {
        completed.push(`${taskId} by ${memberId}`);
        await tasks.completeTask(teamId, taskId, memberId);
      },
      onError: (error) => console.error(error),
    });
    onTestFinished(async () => {
      await bridge.close();
      await ledger.close();
    });
    return { bridge, ledger, tasks };
  };
  const { bridge, ledger, tasks } = open();
  await bridge.start();
  const team = parse(CreateTeamInput, { name: TEAM, leadName: 'boss' });
  await ledger.execute(TEAM, { type: 'team.create', by: '@user', ...team }, () => undefined);
  for (const given of [{ name: 'codex-1' }, { name: 'alice', agent: { kind: 'claude-native' as const } }]) {
    const input = parse(JoinInput, { role: 'coder', ...given });
    await ledger.execute(TEAM, { type: 'member.join', by: '@user', ...input }, () => undefined);
  }
  const stream = await ledger.view(TEAM, (state) => (state.team ? streamOf(state.team) : ''));
  const paths = nativePaths(root, hostedName({ home, teamId: TEAM, stream }));
  const settled = async (): Promise<void> => {
    bridge.sight().list();
    await bridge.settled(TEAM);
    await bridge.settled(TEAM);
  };
  await settled();
  return { bridge, ledger, tasks, mail: new Mailbox(ledger), paths, trash, root, completed, settled, open };
}

describe('a native team that we lead', () => {
  test('is private to us, with a lead that every version finds', async () => {
    const { bridge, paths } = await setStage();
    const config = readTeam(paths.config) as { members: { agentId?: string }[]; leadAgentId?: string };
    expect(config).toMatchObject({ name: paths.name, leadAgentId: `team-lead@${paths.name}` });
    expect(config.members[0]).toMatchObject({ name: 'team-lead', agentId: config.leadAgentId });
    for (const folder of [paths.team, paths.inboxes, paths.tasks]) expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(existsSync(paths.taskList)).toBe(true);
    await expect(bridge.join(paths.name)).rejects.toThrow('is led by Troupe');
    expect(() => bridge.clean([paths.name], 0)).toThrow('it is removed with that team');
  });

  test('has the tasks of the team, and its completions pass the gates', async () => {
    const { tasks, paths, completed, settled } = await setStage();
    for (const title of ['One', 'Two']) await tasks.createTask(TEAM, 'boss', { title });
    await settled();
    expect(read(paths.task('1'))).toMatchObject({ subject: 'One', status: 'pending' });
    writeInPlace(paths.task('1'), { ...read(paths.task('1')), owner: 'alice', status: 'in_progress' });
    await settled();
    expect(await tasks.getTask(TEAM, '1')).toMatchObject({ status: 'in_progress', assigneeId: 'alice' });
    // Two tasks at a time, neither of them the one of her turn.
    writeInPlace(paths.task('2'), { ...read(paths.task('2')), owner: 'alice', status: 'in_progress' });
    await settled();
    writeInPlace(paths.task('1'), { ...read(paths.task('1')), status: 'completed' });
    await settled();
    expect(completed).toEqual(['1 by alice']);
    expect(await tasks.getTask(TEAM, '1')).toMatchObject({ status: 'completed' });
    await tasks.createTask(TEAM, 'boss', { title: 'Three' });
    await settled();
    expect(await tasks.claimNextTask(TEAM, 'codex-1')).toMatchObject({ id: '3' });
    expect(read(paths.task('3'))).toMatchObject({ owner: 'codex-1', status: 'in_progress' });
  });

  test('lets its files change only what a member may: changes to the tasks of others are undone', async () => {
    const { tasks, paths, settled } = await setStage();
    await tasks.createTask(TEAM, 'boss', { title: 'One' });
    await tasks.claimTask(TEAM, '1', 'codex-1');
    await settled();
    const mine = read(paths.task('1'));
    for (const change of [{ status: 'completed' }, { owner: 'alice' }, { status: 'pending', owner: undefined }]) {
      writeInPlace(paths.task('1'), { ...mine, ...change });
      await settled();
      expect(await tasks.getTask(TEAM, '1')).toMatchObject({ status: 'in_progress', assigneeId: 'codex-1' });
      expect(read(paths.task('1'))).toMatchObject({ status: 'in_progress', owner: 'codex-1' });
    }
    // New tasks are allowed.
    writeFileSync(paths.task('7'), JSON.stringify(file('7')));
    await settled();
    expect(await tasks.getTask(TEAM, '7')).toMatchObject({ title: 'Task 7', createdBy: 'alice' });
  });

  test("delivers its member's messages to the recipients, only in that member's name", async () => {
    const { mail, paths, settled } = await setStage();
    const entry = { text: 'from the pane', timestamp: '2026-11-15T00:00:00.000Z', read: false };
    writeFileSync(paths.inbox('codex-1'), JSON.stringify([{ from: 'alice', ...entry }]));
    writeFileSync(paths.inbox('team-lead'), JSON.stringify([{ from: 'alice', ...entry, text: 'to my lead' }]));
    await settled();
    expect((await mail.getInbox(TEAM, 'codex-1')).map(({ fromId, content }) => [fromId, content])).toEqual([
      ['alice', 'from the pane'],
    ]);
    expect((await mail.getInbox(TEAM, 'boss')).map(({ fromId, content }) => [fromId, content])).toEqual([
      ['alice', 'to my lead'],
    ]);
    // Our own members never write to these files, whatever the entries say.
    writeFileSync(paths.inbox('codex-1'), JSON.stringify([{ from: 'boss', ...entry, text: 'forged' }]));
    await settled();
    const said = (await mail.getInbox(TEAM, 'codex-1')).filter(({ content }) => content.includes('forged'));
    expect(said.filter(({ fromId }) => fromId === 'boss')).toEqual([]);
    expect(readList(paths.inbox('codex-1')).every((one) => one['from'] !== 'codex-1')).toBe(true);
  });

  test('goes to the trash with the team, even if that was closed while no daemon ran', async () => {
    const { bridge, ledger, paths, trash, open } = await setStage();
    await bridge.close();
    await ledger.execute(TEAM, { type: 'team.close', by: '@user', force: true }, () => undefined);
    expect(existsSync(paths.team)).toBe(true);
    await ledger.close();
    const later = open();
    await later.bridge.start();
    expect([existsSync(paths.team), existsSync(paths.tasks)]).toEqual([false, false]);
    const moved = readdirSync(trash).find((name) => name.endsWith(paths.name)) ?? '';
    expect(existsSync(join(trash, moved, 'teams', paths.name, 'config.json'))).toBe(true);
  });

  test('of another home is not touched', async () => {
    const { bridge, ledger, paths, open } = await setStage();
    const config = read(paths.config);
    const mark = (config['metadata'] as Record<string, object>)['troupe-host'];
    writeFileSync(
      paths.config,
      JSON.stringify({ ...config, metadata: { 'troupe-host': { ...mark, home: '/elsewhere', stream: 'x' } } }),
    );
    await bridge.close();
    await ledger.execute(TEAM, { type: 'team.close', by: '@user', force: true }, () => undefined);
    await ledger.close();
    await open().bridge.start();
    expect(existsSync(paths.config)).toBe(true);
  });
});
