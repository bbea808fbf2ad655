import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Mode } from '../../src/agents/agent.ts';
import { functionAgent } from '../../src/agents/function.ts';
import type { AgentSpec } from '../../src/core/agent.ts';
import { judgeWish } from '../../src/core/permission.ts';
import type { TeamRequest } from '../../src/core/request.ts';
import { localDoor } from '../../src/teammate/local-door.ts';
import { rightsOf } from '../../src/teammate/permissions.ts';
import { runTeammate } from '../../src/teammate/teammate.ts';
import { openTeam } from '../mcp/house.ts';
import type { House } from '../mcp/house.ts';
import { temporaryFolder } from '../temporary-folder.ts';

interface Wishes {
  readonly mode?: Mode;
  readonly permissions?: AgentSpec['permissions'];
  readonly asks?: { readonly tool: string; readonly input: unknown };
}

/** A member that asks for permission to run a command as soon as it has a task. The task's result is the answer. */
async function startAsker(options: Wishes = {}): Promise<House> {
  const house = await openTeam(['asker']);
  const agent = functionAgent(
    (_turn, { emit }) =>
      new Promise<string>((resolve) => {
        emit({
          type: 'permission',
          id: 'ask-1',
          description: 'Run the tests',
          ...(options.asks ?? { tool: 'Bash', input: { command: 'npm test -- --watch=false' } }),
          answer: ({ allow, message }) => resolve(`${allow ? 'yes' : 'no'}${message ? `: ${message}` : ''}`),
        });
      }),
  );
  const folder = temporaryFolder();
  const stop = new AbortController();
  const ended = runTeammate({
    door: localDoor(house.services, { teamId: 'demo', memberId: 'asker', isLead: false }),
    agent,
    start: {
      teamId: 'demo',
      memberId: 'asker',
      cwd: folder,
      env: {},
      role: '',
      mode: options.mode ?? 'edit',
    },
    permissions: options.permissions,
    transcriptPath: (sessionId) => join(folder, `${sessionId}.jsonl`),
    signal: stop.signal,
    onError: () => {},
  });
  onTestFinished(async () => {
    stop.abort();
    await house.call('team.close', { teamId: 'demo', force: true });
    await ended;
  });
  await house.call('task.create', { teamId: 'demo', title: 'Ask' });
  return house;
}

async function question(house: House): Promise<TeamRequest> {
  return expect
    .poll(async () => (await house.call<TeamRequest[]>('request.list', { teamId: 'demo', kind: 'permission' }))[0])
    .toBeDefined()
    .then(async () => (await house.call<TeamRequest[]>('request.list', { teamId: 'demo' }))[0] as TeamRequest);
}

const result = (house: House): Promise<unknown> =>
  house.call<{ result?: string }>('task.show', { teamId: 'demo', taskId: '1' }).then((task) => task.result);

test('a wish that no rule covers goes to a person, with a deadline, and the answer reaches the agent', async () => {
  const house = await startAsker();
  const asked = await question(house);
  expect(asked).toMatchObject({
    kind: 'permission',
    memberId: 'asker',
    // The command itself, because the words come from a model.
    content: 'Bash: npm test -- --watch=false\nRun the tests',
    detail: {
      tool: 'Bash',
      input: '{"command":"npm test -- --watch=false"}',
      folder: expect.stringMatching(/^\//) as string,
    },
  });
  expect(asked.deadline?.getTime()).toBeGreaterThan(Date.now());
  await house.call('request.answer', { teamId: 'demo', requestId: asked.id, approve: true });
  await expect.poll(() => result(house)).toBe('yes');
});

test("a refusal contains the person's feedback", async () => {
  const house = await startAsker();
  const { id } = await question(house);
  await house.call('request.answer', { teamId: 'demo', requestId: id, approve: false, feedback: 'not on a Sunday' });
  await expect.poll(() => result(house)).toBe('no: not on a Sunday');
});

test('a person is asked about a long command to its end, and never about one that cannot be shown whole', async () => {
  const long = `echo ${'a '.repeat(10_000)}&& rm -rf ~`;
  const house = await startAsker({ asks: { tool: 'Bash', input: { command: long } } });
  const asked = await question(house);
  expect(asked.content).toContain('&& rm -rf ~\n');
  expect(asked.detail?.['input']).toMatch(/… \(\d+ more characters are in the transcript\)$/);
  // So is the new text of a file, which the path does not show.
  const write = { file_path: 'a.sh', content: `${'true\n'.repeat(2_000)}rm -rf ~` };
  const writer = await startAsker({ asks: { tool: 'Write', input: write } });
  expect((await question(writer)).content).toMatch(/^Write: a\.sh\n[^]*\ncontent:\ntrue\n[^]*\nrm -rf ~$/);
  const endless = await startAsker({ asks: { tool: 'Bash', input: { command: `echo ${'a'.repeat(70_000)}` } } });
  await expect.poll(() => result(endless)).toBe('no: it is too long to be shown to a person: use a shorter one');
});

test('no agent can answer, not even the lead', async () => {
  const house = await startAsker();
  const { id } = await question(house);
  const answer = { type: 'request.answer', by: 'lead', requestId: id, approve: true } as const;
  await expect(house.services.ledger.execute('demo', answer, () => undefined)).rejects.toMatchObject({
    code: 'not_allowed',
  });
});

const edits = (...paths: string[]) => ({ tool: 'edit', input: { paths } });

test('a path that leads out of what a rule allows goes to a person', async () => {
  const house = await startAsker({ permissions: { allow: ['edit(src/*)'] }, asks: edits('src/a.ts', 'src/../../x') });
  expect(await question(house)).toMatchObject({ content: 'edit: src/a.ts, src/../../x\nRun the tests' });
});

test.each([
  ['allowed by a rule', { permissions: { allow: ['Bash(npm test*)'] } }, 'yes'],
  [
    'forbidden by a rule',
    { permissions: { allow: ['Bash'], deny: ['Bash(npm*)'] } },
    'no: a rule of the user forbids it',
  ],
  [
    'inside of what a rule allows',
    { permissions: { allow: ['edit(src/*)'] }, asks: edits('src/a.ts', 'src/b/c.ts') },
    'yes',
  ],
  [
    'partly forbidden',
    { permissions: { allow: ['*'], deny: ['edit(src/b/*)'] }, asks: edits('src/a.ts', 'src/b/c.ts') },
    /^no: a rule/,
  ],
  [
    'forbidden under another path',
    { permissions: { allow: ['*'], deny: ['Write(.env)'] }, asks: edits('src/../.env') },
    /^no: a rule/,
  ],
  ['planning', { mode: 'plan', permissions: { allow: ['Bash'] } }, /^no: your plan is not approved yet/],
  ['coordinating', { mode: 'delegate', permissions: { allow: ['Bash'] } }, /^no: you only coordinate/],
] as [string, Wishes, string | RegExp][])(
  'a wish that is %s is answered at once, and nobody is asked',
  async (_what, options, answer) => {
    const house = await startAsker(options);
    await expect.poll(() => result(house)).toMatch(answer);
    expect(await house.call('request.list', { teamId: 'demo' })).toEqual([]);
  },
);

test('a deny rule also holds in the mode full, and everything else is still allowed', () => {
  expect(rightsOf({ kind: 'claude', mode: 'full' })).toMatchObject({ mode: 'full' });
  const { mode, permissions } = rightsOf({ kind: 'claude', mode: 'full', permissions: { deny: ['Bash(rm *)'] } });
  // The agent asks before it acts, and the rules answer: deny rules first, everything else is allowed.
  expect(mode).toBe('edit');
  expect(judgeWish(permissions, { tool: 'Bash', subject: 'rm -r x' })).toBe('deny');
  expect(judgeWish(permissions, { tool: 'Bash', subject: 'ls; pwd' })).toBe('allow');
  expect(judgeWish(permissions, { tool: 'Write', subject: 'a.txt' })).toBe('allow');
});
