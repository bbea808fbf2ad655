import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SYSTEM, USER } from '../../../src/core/actor.ts';
import type { HookResult } from '../../../src/core/hook.ts';
import { JoinInput } from '../../../src/core/member.ts';
import type { NewCommand } from '../../../src/ledger/ledger.ts';
import { hashHook } from '../../../src/runtime/hooks/approvals.ts';
import { WORK } from '../../samples/work.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { CONTEXT, setStage } from './stage.ts';

const EXEC = { kind: 'exec', command: ['true'] } as const;
/** A completion of `ann`, who has a workspace. */
const HERS = { ...CONTEXT, completedBy: 'ann', memberName: 'ann' };

describe('a gate that judges work in a workspace', () => {
  test('runs there, and knows its number; of a member without one, neither', async () => {
    const { stage, workspace, asked } = await setWork();
    await stage.hooks.registerHook('demo', { type: 'TaskCompleted', command: 'cat > payload; env > environment' });
    await asked();
    expect(JSON.parse(read(workspace, 'payload'))).toMatchObject({ cwd: workspace, teammate_name: 'ann' });
    expect(read(workspace, 'environment')).toMatch(/^TROUPE_SLOT=3$/m);
    await stage.hooks.executeTaskCompletedHook(CONTEXT);
    expect(JSON.parse(stage.read('payload'))).not.toHaveProperty('cwd');
    expect(stage.read('environment')).not.toContain('SLOT');
    // Of a person, too.
    await stage.hooks.executeTaskCompletedHook({ ...CONTEXT, completedBy: USER, memberName: USER });
    expect(stage.read('environment')).toContain(`TROUPE_MEMBER_NAME=${USER}`);
    expect(stage.read('environment')).not.toContain('SLOT');
  });

  test('runs in the folder that has the work merged, if there is one, and knows the number of that', async () => {
    const { stage, workspace } = await setWork();
    const merged = temporaryFolder();
    await stage.hooks.registerHook('demo', { type: 'TaskCompleted', command: 'cat > payload; env > environment' });
    await stage.hooks.executeTaskCompletedHook(HERS, { folder: merged, slot: 7 });
    expect(JSON.parse(read(merged, 'payload'))).toMatchObject({ cwd: merged });
    expect(read(merged, 'environment')).toMatch(/^TROUPE_SLOT=7$/m);
    expect(existsSync(join(workspace, 'payload'))).toBe(false);
  });

  test("runs at its place there, whichever name of the team's folder it has; outside of that folder, where it is", async () => {
    const { stage, project, workspace, link, asked } = await setWork();
    const elsewhere = temporaryFolder();
    for (const folder of [project, workspace]) mkdirSync(join(folder, 'checks'));
    const folders = [workspace, join(workspace, 'checks'), join(workspace, 'checks'), elsewhere];
    for (const cwd of [project, join(project, 'checks'), join(link, 'checks'), elsewhere]) {
      await stage.register({ command: `pwd >> ${stage.folder}/ran`, cwd });
    }
    await asked();
    expect(stage.read('ran').trim().split('\n')).toEqual(folders);
  });

  test("knows the team's folder by the name that it has on the machine of the person, where it cannot be looked at", async () => {
    const { stage, workspace, asked } = await setWork({ given: '/no/such/machine/project' });
    await stage.register({ command: `pwd > ${stage.folder}/ran`, cwd: '/no/such/machine/project' });
    await asked();
    expect(stage.read('ran')).toBe(`${workspace}\n`);
  });

  test('runs in its own folder if the team was started from another checkout', async () => {
    const other = temporaryFolder();
    const { stage, asked } = await setWork({ given: other });
    await stage.register({ command: 'pwd > ran', cwd: other });
    await asked();
    expect(read(other, 'ran')).toBe(`${other}\n`);
  });

  test('runs in its own folder if the team has no workspaces, or no folder', async () => {
    const { stage, project, workspace, asked } = await setWork({ given: null });
    await stage.register({ command: `pwd >> ${stage.folder}/ran`, cwd: project });
    await asked();
    const plain = await setStage();
    await plain.register({ command: `pwd >> ${stage.folder}/ran` });
    await plain.hooks.executeTaskCompletedHook(CONTEXT, { folder: workspace, slot: 1 });
    expect(stage.read('ran')).toBe(`${workspace}\n${plain.folder}\n`);
  });
});

describe('an approved gate in a workspace', () => {
  test('runs with the content that it has in the project, also on a machine that lacks the project', async () => {
    const { stage, project, workspace, link, asked } = await setWork();
    for (const folder of [project, workspace]) writeGate(folder, 'exit 0');
    const hook = { command: './gate.sh', executor: 'shell' } as const;
    await stage.register({ ...hook, approved: hashHook(hook, link), cwd: link });
    expect(await asked()).toMatchObject({ exitCode: 0, accepted: true });
    // As on a machine that does not have the project.
    rmSync(link);
    rmSync(project, { recursive: true });
    expect(await asked()).toMatchObject({ exitCode: 0, accepted: true });
  });

  test('that the work changes does not run, whatever its failures mean, and names what changed', async () => {
    const { project, workspace, register, asked } = await setWork();
    for (const folder of [project, workspace]) writeGate(folder, './other.sh', 'exit 0');
    await register();
    writeGate(workspace, './other.sh; touch canary', 'exit 0');
    expect(await asked()).toMatchObject({
      exitCode: 2,
      unable: `The hook "./gate.sh" changed since it was approved (gate.sh) and was not run. Read it in ${workspace}.`,
      unapproved: hashHook({ command: './gate.sh', executor: 'shell' }, workspace, { approvedIn: project }),
    });
    expect(existsSync(join(workspace, 'canary'))).toBe(false);
    // What it was approved as cannot be looked at.
    rmSync(project, { recursive: true });
    expect(await asked()).toMatchObject({ unable: expect.stringContaining('since it was approved and was not run') });
  });

  test('that the work changes runs once a person has accepted that work, and after no other answer', async () => {
    const { stage, project, workspace, register, asked, run } = await setWork();
    for (const folder of [project, workspace]) writeGate(folder, 'exit 2');
    await register();
    await stage.tasks.createTask('demo', USER, { title: 'Judged' });
    await stage.tasks.claimTask('demo', '1', 'ann');
    writeGate(workspace, 'exit 0');
    const { unapproved } = await asked();
    const answer = async (approve: boolean): Promise<void> => {
      const requests = await stage.ledger.view('demo', (state) => [...state.requests.values()]);
      const requestId = requests.findLast(({ status }) => status === 'pending')?.id ?? '';
      await run({ type: 'request.answer', by: USER, requestId, approve });
    };
    const reject = { type: 'task.reject', by: SYSTEM, taskId: '1', feedback: 'changed', unable: true } as const;
    await run({ ...reject, unapproved });
    expect(await asked()).toMatchObject({ exitCode: 2, unapproved });
    await answer(false);
    expect(await asked()).toMatchObject({ exitCode: 2, unapproved });
    await stage.tasks.claimTask('demo', '1', 'ann');
    await run({ ...reject, unapproved });
    await answer(true);
    expect(await asked()).toMatchObject({ exitCode: 0, accepted: true });
  });

  test('that the work changes is not approved by a yes to what a member asked for, whatever it put into the request', async () => {
    const { stage, project, workspace, register, asked, run } = await setWork();
    for (const folder of [project, workspace]) writeGate(folder, 'exit 2');
    await register();
    writeGate(workspace, 'exit 0');
    const { unapproved = '' } = await asked();
    const detail = { approves: unapproved };
    const asks = { kind: 'permission', memberId: 'ann', content: 'May I go on?', detail } as const;
    await run({ type: 'request.raise', by: 'ann', ...asks });
    const [request] = await stage.ledger.view('demo', (state) => [...state.requests.keys()]);
    await run({ type: 'request.answer', by: USER, requestId: request ?? '', approve: true });
    expect(await asked()).toMatchObject({ exitCode: 2, unapproved });
  });
});

function read(folder: string, name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}

/** A gate, and a script beside it that it may use. */
function writeGate(folder: string, gate: string, other = 'exit 0'): void {
  for (const [name, text] of [
    ['gate.sh', gate],
    ['other.sh', other],
  ] as const) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }
}

/** A team with a project. `ann` has a workspace of it. `given` is the project's path as the user gave it; by default, a link to it. */
async function setWork({ given }: { given?: string | null } = {}) {
  const [project, workspace] = [temporaryFolder(), temporaryFolder()];
  const link = join(temporaryFolder(), 'link');
  symlinkSync(project, link);
  const stage = await setStage(
    {},
    {
      works: {
        folderOf: ({ members }, memberId) => (members.get(memberId)?.workspace === 'own' ? workspace : undefined),
        slotOf: ({ memberId }) => (memberId === 'ann' ? 3 : 4),
      },
    },
  );
  const run = (...commands: NewCommand[]): Promise<void> => stage.ledger.execute('demo', commands, () => undefined);
  const metadata = given === null ? {} : { folder: given ?? link };
  await run(
    { type: 'team.update', by: USER, work: { ...WORK, repository: project }, metadata },
    { type: 'member.join', by: USER, ...JoinInput.parse({ name: 'ann', agent: EXEC }) },
  );
  return {
    stage,
    project,
    workspace,
    link,
    run,
    /** Registers `gate.sh` as the project has it now. */
    register: (): Promise<void> => {
      const hook = { command: './gate.sh', executor: 'shell' } as const;
      return stage.register({ ...hook, approved: hashHook(hook, project), cwd: project, onFailure: 'allow' });
    },
    asked: (): Promise<HookResult> => stage.hooks.executeTaskCompletedHook(HERS),
  };
}
