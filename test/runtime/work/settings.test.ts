import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitingOf } from '../../../src/core/waiting.ts';
import type { ResultOf } from '../../../src/operations/index.ts';
import { localDoor } from '../../../src/teammate/local-door.ts';
import { mayWorkHere } from '../../../src/teammate/open-work.ts';
import { openApart } from '../../mcp/apart.ts';
import type { Apart } from '../../mcp/apart.ts';
import { write } from '../../workspaces/project.ts';

const SETTINGS = '.claude/settings.json';
const hook = (command: string): string =>
  JSON.stringify({ hooks: { SessionStart: [{ hooks: [{ type: 'command', command }] }] } });
const ALICE = { teamId: 'demo', memberId: 'alice' };

/** alice runs Claude Code, bob Codex; alice holds task 1. */
async function openTeam(files?: Record<string, string>): Promise<Apart & { own: string }> {
  const agents = { alice: { kind: 'claude' }, bob: { kind: 'codex' } } as const;
  const team = await openApart({ agents, ...(files && { files }) });
  for (const title of ['First', 'Second']) await team.house.call('task.create', { teamId: 'demo', title });
  await team.house.call('task.claim', { teamId: 'demo', taskId: '1' }, 'alice');
  return { ...team, own: await team.folder('alice') };
}

const NOT_AGREED = `${SETTINGS} in `;

test('settings that an agent obeys keep it from starting, and its work from landing, until a person agrees', async () => {
  const { house, folder, own } = await openTeam();
  write(own, { [SETTINGS]: hook('./steal.sh'), 'work.txt': 'done\n' });
  await expect(folder('alice')).rejects.toThrow(`${SETTINGS} in ${own} tells its agent what to run without asking`);
  const complete = () => house.call('task.complete', { teamId: 'demo', taskId: '1', result: 'done' }, 'alice');
  await expect(complete()).rejects.toThrow(`- ${SETTINGS} tells agents what to run without asking, and nobody agreed`);
  expect(await house.call('work.check', ALICE)).toMatchObject({ problems: [expect.stringContaining(SETTINGS)] });

  expect(await house.call('work.trust', ALICE)).toEqual({ paths: [SETTINGS] });
  write(own, { [SETTINGS]: hook('./steal.sh --all') });
  await expect(folder('alice')).rejects.toThrow(NOT_AGREED);
  write(own, { [SETTINGS]: hook('./steal.sh') });
  expect(await folder('alice')).toBe(own);
  await complete();

  // What landed was agreed to, so it holds in all workspaces.
  await house.call('task.claim', { teamId: 'demo', taskId: '2' }, 'bob');
  const his = await folder('bob');
  await house.call('work.begin', { teamId: 'demo', memberId: 'bob', taskId: '2', epoch: 1 }, 'bob');
  // Codex does not obey this file, but the next member may.
  write(his, { [SETTINGS]: hook('./other.sh') });
  expect(await folder('bob')).toBe(his);
  await expect(house.call('task.complete', { teamId: 'demo', taskId: '2' }, 'bob')).rejects.toThrow(SETTINGS);
});

test("settings of the base and of the user's checkout are known", async () => {
  const { folder, repository, own } = await openTeam({ [SETTINGS]: hook('./mine.sh'), '.gitignore': '*.local.json\n' });
  expect(await folder('alice')).toBe(own);
  write(own, { '.claude/settings.local.json': hook('./local.sh') });
  await expect(folder('alice')).rejects.toThrow('.claude/settings.local.json in ');
  write(repository, { '.claude/settings.local.json': hook('./local.sh') });
  expect(await folder('alice')).toBe(own);

  rmSync(join(own, '.claude'), { recursive: true });
  write(own, { 'elsewhere/settings.json': hook('./steal.sh') });
  symlinkSync('elsewhere', join(own, '.claude'));
  await expect(folder('alice')).rejects.toThrow(NOT_AGREED);
});

test('what a person agreed to holds after the project was moved', async () => {
  const { house, folder, repository, own } = await openTeam();
  const { ledger, works } = house.services;
  write(own, { [SETTINGS]: hook('./agreed.sh') });
  await house.call('work.trust', ALICE);
  const moved = `${repository}-moved`;
  renameSync(repository, moved);
  expect(await works?.recognise('demo', moved)).toBe(moved);
  const { tip: _tip, ...work } = await ledger.view('demo', ({ team }) => team!.work!);
  const change = { type: 'team.update', by: '@user', work: { ...work, repository: moved } } as const;
  await ledger.execute('demo', change, () => undefined);
  expect(await folder('alice')).toBe(own);
  write(own, { [SETTINGS]: hook('./other.sh') });
  await expect(folder('alice')).rejects.toThrow(NOT_AGREED);
});

test('a member waits with its turn, and says why, while its folder has such settings', async () => {
  const { house, own } = await openTeam();
  write(own, { [SETTINGS]: hook('./steal.sh') });
  const reason = (): Promise<string | undefined> =>
    house.services.ledger.view('demo', ({ members }) => waitingOf(members.get('alice') ?? {}));
  let why: string | undefined;
  const bench = {
    door: localDoor(house.services, { ...ALICE, isLead: false }),
    who: ALICE,
    worksApart: true,
    async pause() {
      why = await reason();
      return Boolean(await house.call('work.trust', ALICE));
    },
  };
  expect(await mayWorkHere(bench)).toBe(true);
  expect(why).toMatch(/^its workspace cannot be used: .*troupe work trust alice/);
  expect(await reason()).toBeUndefined();
  write(own, { [SETTINGS]: hook('./again.sh') });
  expect(await mayWorkHere({ ...bench, pause: async () => false })).toBe(false);
});

test('a program of the repository that members run lands changed only when a person agrees', async () => {
  const run = (...command: string[]) => ({ kind: 'exec', command }) as const;
  const agents = { alice: { kind: 'claude' }, bob: run('sh', '-c', 'sh tools/agent.sh "look at src/a.js"') } as const;
  const files = {
    'tools/agent.sh': 'node tools/part.js\n',
    'tools/part.js': "import '../src/a.js';\n",
    'src/a.js': '1\n',
    '.gitignore': 'made/\n',
  };
  const { house, folder } = await openApart({ agents, files });
  await house.call('task.create', { teamId: 'demo', title: 'First' });
  await house.call('task.claim', { teamId: 'demo', taskId: '1' }, 'alice');
  const own = await folder('alice');
  const problems = async () => (await house.call<ResultOf<'work.check'>>('work.check', ALICE)).problems;
  // What the program only names or imports, or what a build makes, is work like any other.
  write(own, { 'src/a.js': '2\n', 'made/agent.js': '2\n' });
  expect(await problems()).toEqual([]);
  write(own, { 'tools/part.js': '2\n' });
  expect(await problems()).toEqual([
    expect.stringMatching(/^tools\/part\.js decides what a program of the team does, and nobody agreed to it/),
  ]);
  const complete = () => house.call('task.complete', { teamId: 'demo', taskId: '1', result: 'done' }, 'alice');
  await expect(complete()).rejects.toThrow('tools/part.js decides what a program');
  expect(await house.call('work.trust', ALICE)).toEqual({ paths: ['tools/part.js'] });
  await complete();
  // On the branch it is known.
  write(own, { 'tools/agent.sh': 'changed\n' });
  expect(await problems()).toEqual([expect.stringContaining('tools/agent.sh decides')]);
  write(own, { 'tools/agent.sh': 'node tools/part.js\n' });
  expect(await problems()).toEqual([]);
});
