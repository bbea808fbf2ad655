import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentProgram } from '../agents/installed.ts';
import { run } from '../daemon/processes.ts';
import { BIN, environmentFor } from '../daemon/serve.ts';
import { rounds } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { until } from '../until.ts';
import { makeRepository, plainGit } from '../workspaces/project.ts';
import { lastPlan, openEditor, toolCalls } from './acp-client.ts';
import { shareDaemon } from './stage.ts';
import type { Stage } from './stage.ts';

const newStage = shareDaemon();

const ACPX = agentProgram('acpx');

const ACP_AGENT = join(import.meta.dirname, '../fixtures/agents/acp.ts');

/** An entry of a team file for a fixture, without a name. */
function fixture(stage: Stage, name: string): object {
  const { name: _name, ...runs } = stage.member('', name) as { name: string };
  return runs;
}

/** A folder with a team whose lead follows the lines of its prompt. */
function makeLed(stage: Stage, more: object = {}): string {
  const lead = { name: 'boss', ...fixture(stage, 'converses') };
  stage.teamFile({ team: stage.team, lead, ...more });
  return stage.folder;
}

test('a whole session: approval, plan, tool calls, permission, landing, answer, next prompt, load', async () => {
  const stage = newStage();
  const repository = join(stage.folder, 'project');
  makeRepository(repository, {
    'greeting.txt': 'one\ntwo\nthree\n',
    'write.sh': '#!/bin/sh\nsed -i s/two/TWO/ greeting.txt\necho wrote it\n',
  });
  chmodSync(join(repository, 'write.sh'), 0o755);
  plainGit(repository, 'commit', '-qam', 'programs');
  const file = {
    team: stage.team,
    lead: { name: 'boss', ...fixture(stage, 'converses') },
    members: [
      { name: 'ann', agent: { exec: ['./write.sh'] } },
      { name: 'bob', agent: { acp: [process.execPath, ACP_AGENT, 'quick'] } },
    ],
  };
  writeFileSync(join(repository, 'troupe.yaml'), JSON.stringify(file));

  const editor = await openEditor(stage.home);
  expect(editor.about).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: 'troupe' },
    agentCapabilities: { loadSession: true, promptCapabilities: { image: false, embeddedContext: true } },
  });
  const session = await editor.newSession(repository);
  expect(session).toMatch(new RegExp(`^${stage.team}-[a-z0-9]{6}$`));
  // Nothing runs before the first prompt, and nothing that the person does not allow.
  editor.answer = () => 'no';
  expect(await editor.prompt(session, 'Hello')).toBe('end_turn');
  expect(editor.text(session)).toContain('you did not allow what troupe.yaml runs');
  expect(editor.asked.at(-1)).toMatchObject({
    toolCall: { title: `troupe.yaml has commands that run as you, in ${repository}` },
  });
  expect(JSON.stringify(editor.asked.at(-1)?.toolCall.content)).toContain('./write.sh');

  // The second task waits for the first one, which waits for this answer.
  editor.answer = async ({ toolCall }) => {
    const isPending = () => lastPlan(editor.updates(session)).includes('pending: #2 Change the greeting (ann)');
    if (toolCall.title?.startsWith('bob')) await until('the plan has both tasks', isPending);
    return 'yes';
  };
  const goal = 'tool npm test\nadd bob ask first\nthen ann Change the greeting';
  expect(await editor.prompt(session, goal)).toBe('end_turn');
  const updates = editor.updates(session);
  expect(lastPlan(updates)).toEqual(['completed: #1 ask first (bob)', 'completed: #2 Change the greeting (ann)']);
  const plans = updates.filter((update) => update.sessionUpdate === 'plan');
  expect(plans.flatMap(({ entries }) => entries.map(({ priority }) => priority))).toContain('medium');
  const calls = toolCalls(updates);
  expect(calls).toContainEqual(
    expect.objectContaining({ title: 'boss: shell npm test', status: 'completed', content: [text('all green')] }),
  );
  expect(calls).toContainEqual(
    expect.objectContaining({ title: 'ann: #2 Change the greeting', status: 'completed', content: [text('wrote it')] }),
  );
  expect(calls).toContainEqual(expect.objectContaining({ title: 'bob: #1 ask first', content: [text('allowed')] }));
  const landed = {
    title: expect.stringMatching(/^ann: landed #2 Change the greeting as [0-9a-f]+$/),
    status: 'completed',
    content: [
      {
        type: 'diff',
        path: join(repository, 'greeting.txt'),
        oldText: 'one\ntwo\nthree\n',
        newText: 'one\nTWO\nthree\n',
      },
    ],
  };
  expect(calls).toContainEqual(landed);
  const permission = editor.asked.at(-1);
  expect(permission).toMatchObject({
    sessionId: session,
    toolCall: { title: expect.stringMatching(/^bob: .*rm -r build/) },
    options: [
      { name: 'Allow it', kind: 'allow_once' },
      { name: 'Deny it', kind: 'reject_once' },
    ],
  });
  expect(editor.text(session)).toContain('heard: then ann Change the greeting');
  expect(editor.text(session)).toContain('news: Tasks: 2 completed');

  expect(await editor.prompt(session, 'What did you do?')).toBe('end_turn');
  expect(editor.text(session)).toMatch(/heard: What did you do\?\s*$/);
  await editor.leave();
  // The editor is gone, so the members stop. The team stays, to be loaded.
  const client = stage.client();
  await until('the members have stopped', async () => {
    const { members, status } = await client.call('team.show', { teamId: session });
    return status === 'active' && members.every((member) => member.agent === undefined || member.status === 'stopped');
  });

  const next = await openEditor(stage.home);
  const { sessions } = await next.agent.request('session/list', { cwd: repository });
  expect(sessions).toContainEqual(expect.objectContaining({ sessionId: session, cwd: repository }));
  await next.agent.request('session/load', { sessionId: session, cwd: repository, mcpServers: [] });
  const history = next.updates(session);
  expect(next.text(session, 'user_message_chunk')).toBe(`${goal}What did you do?`);
  expect(next.text(session)).toContain('news: Tasks: 2 completed');
  expect(next.text(session)).toContain('heard: What did you do?');
  expect(toolCalls(history)).toContainEqual(landed);
  expect(lastPlan(history)).toEqual(lastPlan(updates));
  expect(await next.prompt(session, 'Still there?')).toBe('end_turn');
  expect(next.text(session)).toContain('heard: Still there?');
});

test('cancel stops the members and ends the prompt; the next prompt starts them again', async () => {
  const stage = newStage();
  const cwd = makeLed(stage);
  const editor = await openEditor(stage.home);
  const session = await editor.newSession(cwd);
  const prompt = editor.prompt(session, 'hang');
  await until('the lead works', () => editor.text(session).includes('working'));
  await expect(editor.prompt(session, 'More')).rejects.toThrow('still running');
  await editor.agent.notify('session/cancel', { sessionId: session });
  expect(await prompt).toBe('cancelled');
  const { members } = await stage.client().call('team.show', { teamId: session });
  expect(members.find(({ id }) => id === 'boss')?.status).toBe('stopped');
  expect(await editor.prompt(session, 'Hello')).toBe('end_turn');
  expect(editor.text(session)).toContain('heard: Hello');
  await editor.agent.request('session/close', { sessionId: session });
  await expect(editor.prompt(session, 'Hello')).rejects.toMatchObject({ code: -32_002 });
});

test('questions are permissions with choices; a free text is the next prompt, or a form if the client has forms', async () => {
  const stage = newStage();
  const cwd = makeLed(stage);
  const editor = await openEditor(stage.home);
  const session = await editor.newSession(cwd);
  editor.answer = ({ options }) => options.find(({ name }) => name === 'blue' || name.startsWith('Run them'))?.optionId;
  expect(await editor.prompt(session, 'choose red,blue Which colour?')).toBe('end_turn');
  expect(editor.asked.at(-1)).toMatchObject({
    toolCall: { title: 'boss: Which colour?' },
    options: [{ name: 'red' }, { name: 'blue' }, { name: 'Leave it to the member', kind: 'reject_once' }],
  });
  expect(editor.text(session)).toContain('blue');
  expect(await editor.prompt(session, 'ask How many?')).toBe('end_turn');
  expect(editor.text(session)).toMatch(/boss asks: How many\?\n\nYour next message is the answer\.$/);
  expect(await editor.prompt(session, 'Exactly seven')).toBe('end_turn');
  const [answered] = (await stage.client().call('request.list', { teamId: session })).slice(-1);
  expect(answered).toMatchObject({ status: 'approved', feedback: 'Exactly seven' });

  const withForms = await openEditor(stage.home, { capabilities: { elicitation: { form: {} } } });
  withForms.answerForm = (message) => `${message} Nine.`;
  const other = await withForms.newSession(cwd);
  expect(await withForms.prompt(other, 'ask How many?')).toBe('end_turn');
  const [formed] = await stage.client().call('request.list', { teamId: other });
  expect(formed).toMatchObject({ status: 'approved', feedback: 'boss asks: How many? Nine.' });
});

test('a team without a lead gets each prompt as a task; a killed editor leaves no member behind', async () => {
  const stage = newStage();
  stage.teamFile({ team: stage.team, members: [stage.member('ann', 'quick'), stage.member('bea', 'slow')] });
  const editor = await openEditor(stage.home);
  const session = await editor.newSession(stage.folder);
  const prompt = editor.prompt(session, 'First\nwith care');
  prompt.catch(() => {});
  const client = stage.client();
  await until('somebody works on it', async () => {
    const [task] = await client.call('task.list', { teamId: session }).catch(() => []);
    return task?.status === 'in_progress' || task?.status === 'completed';
  });
  stage.letGo();
  expect(await prompt).toBe('end_turn');
  expect(editor.text(session)).toContain('did First');
  editor.process.kill('SIGKILL');
  await until('the members have stopped', async () => {
    const { members } = await client.call('team.show', { teamId: session });
    return members.every((member) => member.agent === undefined || member.status === 'stopped');
  });
});

test('says what is wrong: team files, agents, images, sessions, folders', async () => {
  const stage = newStage();
  const editor = await openEditor(stage.home);
  const { agent } = editor;
  stage.teamFile({ team: 'Not a name', lead: 'person' });
  await expect(editor.newSession(stage.folder)).rejects.toThrow(/troupe\.yaml.*Not a name/s);
  await expect(editor.newSession('relative')).rejects.toThrow('cwd must be an absolute path');
  await expect(editor.prompt('nobody', 'Hello')).rejects.toMatchObject({ code: -32_002 });
  const load = (sessionId: string) => agent.request('session/load', { sessionId, cwd: stage.folder, mcpServers: [] });
  await expect(load('nobody')).rejects.toMatchObject({ code: -32_002 });
  await expect(load('../../etc')).rejects.toMatchObject({ code: -32_002 });
  await expect(agent.request('session/fork', {})).rejects.toMatchObject({ code: -32_601 });

  const empty = join(stage.folder, 'empty');
  mkdirSync(empty);
  const lacks = await openEditor(stage.home, { args: ['--lead', 'nonesuch'] });
  const session = await lacks.newSession(empty);
  expect(session).toMatch(/^empty-[a-z0-9]{6}$/);
  await expect(lacks.prompt(session, 'Hello')).rejects.toThrow('nonesuch');
  const image = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' };
  await expect(lacks.agent.request('session/prompt', { sessionId: session, prompt: [image] })).rejects.toThrow(
    'cannot pass an image on',
  );
  await expect(lacks.prompt(session, '  ')).rejects.toThrow('empty');
});

test('acpx, a client that others wrote, talks to a team', async (context) => {
  context.skip(ACPX === undefined, 'acpx is not installed');
  const stage = newStage();
  const cwd = makeLed(stage, { members: [stage.member('ann', 'quick')] });
  const command = `${process.execPath} ${BIN} acp`;
  const words = ['--agent', command, '--cwd', cwd, '--approve-all', '--format', 'json', 'exec'];
  const env = environmentFor(stage.home, { HOME: stage.folder });
  const client = run(ACPX ?? '', [...words, 'tool npm test\nadd ann Do it'], { env, cwd });
  expect({ code: await client.ended, stderr: client.output.stderr }).toMatchObject({ code: 0 });
  const frames = client.output.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { method?: string; params?: unknown; result?: unknown });
  const told = JSON.stringify(frames);
  expect(frames.map(({ method }) => method)).toContain('session/request_permission');
  expect(told).toContain('"content":"#1 Do it (ann)","priority":"medium","status":"completed"');
  expect(told).toContain('"title":"ann: #1 Do it"');
  expect(told).toContain('heard: add ann Do it');
  expect(frames.at(-1)).toMatchObject({ result: { stopReason: 'end_turn' } });
});

test('garbage gets an error, and a frame that is too long ends the connection; nothing else is on standard output', async () => {
  const stage = newStage();
  const random = seededRandom();
  const { child, output, ended } = run(BIN, ['acp'], {
    env: environmentFor(stage.home),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const write = (line: string): void => void child.stdin?.write(`${line}\n`);
  const junk = (): string => String.fromCharCode(...Array.from({ length: 40 }, () => 32 + Math.floor(random() * 200)));
  const frames = [
    junk(),
    '[]',
    '[1, {"jsonrpc":"2.0"}]',
    '{}',
    'null',
    '42',
    '{"jsonrpc":"2.0","id":1,"method":"session/prompt"}',
    '{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":7,"prompt":"x"}}',
    '{"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":{}}}',
    '{"jsonrpc":"2.0","id":4,"method":"no/such/method","params":[]}',
    '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"nobody"}}',
    '{"jsonrpc":"2.0","id":99,"result":{}}',
    `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
    ...Array.from({ length: rounds(50, 5_000) }, junk),
  ];
  for (const frame of frames) write(frame);
  write('{"jsonrpc":"2.0","id":"last","method":"initialize","params":{"protocolVersion":1}}');
  await until('it still answers', () => output.stdout.includes('"id":"last"'));
  const answers = linesOfText(output.stdout).map(
    (line) => JSON.parse(line) as { id?: unknown; error?: { code: number } },
  );
  for (const id of [1, 2, 3, 4]) expect(answers.find((one) => one.id === id)?.error?.code).toBeLessThan(-32_000);
  expect(answers.filter((one) => one.error === undefined).map(({ id }) => id)).toEqual(['last']);
  child.stdin?.on('error', () => {});
  write(`{"jsonrpc":"2.0","id":5,"method":"initialize","params":"${'x'.repeat(5 * 1024 * 1024)}"}`);
  expect(await ended).toBe(1);
  expect(output.stderr).toContain('exceeds the configured 4194304 byte limit');
  for (const line of linesOfText(output.stdout)) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});

function linesOfText(said: string): string[] {
  return said.split('\n').filter((line) => line !== '');
}

function text(said: string): object {
  return { type: 'content', content: { type: 'text', text: said } };
}
