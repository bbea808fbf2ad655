import { describe, expect, onTestFinished, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { agentProgram } from '../agents/installed.ts';
import { testPlace } from '../agents/real.ts';
import { setUp } from '../agents/setups.ts';
import { shows } from '../bridge/requirements.ts';
import { connect } from '../daemon/serve.ts';
import type { ModelReply, ModelRequest } from '../models/script.ts';
import { as, rules } from './script.ts';
import { setNativeStage } from './stage.ts';
import type { NativeStage } from './stage.ts';
import { TESTED_VERSIONS } from './versions.ts';

/** A real Codex whose model greets alice in its first task, and works on its second until `letGo`. */
async function codexMate(): Promise<{ agent: object; heard: (text: string) => boolean; letGo: () => void }> {
  let letGo = (): void => {};
  const free = new Promise<void>((resolve) => (letGo = resolve));
  const send = (request: ModelRequest, to: string, message: string): ModelReply => {
    const name = request.tools.find((one) => one.endsWith('SendMessage')) ?? 'SendMessage';
    return { calls: [{ name, input: { to, message, summary: 'a word' } }] };
  };
  const { entry, model } = await setUp('codex', testPlace(), async (request) => {
    const at = request.turns.findLastIndex(({ role }) => role === 'user');
    const title = /Task #\d+: (.*)/.exec(request.turns[at]?.text ?? '')?.[1];
    const isAnswered = request.turns.slice(at + 1).some(({ role }) => role === 'tool');
    if (title === 'Write the parser' && !isAnswered) return send(request, 'alice', 'hello alice, says codex');
    if (title === 'Write the manual' && !isAnswered) return send(request, 'team-lead', 'I write the manual now');
    if (title === 'Write the manual') await free;
    return { text: title === undefined ? 'thank you' : `did ${title}` };
  });
  onTestFinished(() => model.close());
  const { cwd: _cwd, ...agent } = entry;
  const heard = (text: string): boolean =>
    model.requests.some(({ turns }) => turns.some((turn) => turn.role === 'user' && turn.text.includes(text)));
  return { agent: { kind: 'codex', mode: 'full', ...agent }, heard, letGo };
}

/** A native lead with two teammates and three tasks; alice has claimed the second. */
async function playTeam(stage: NativeStage): Promise<string> {
  const { createTeam, createTask, spawn, send, updateTask, requestShutdown } = stage.words;
  const begin = [
    ...createTeam('lab'),
    ...['Write the parser', 'Test the parser', 'Write the manual'].map((title) => createTask(title)),
    spawn({ name: 'alice', team: 'lab', prompt: `${as('alice')}Take the second task.` }),
    spawn({ name: 'bob', team: 'lab', prompt: `${as('bob')}Wait for orders.` }),
  ];
  stage.play({
    lead: rules(
      [/Begin/, { calls: begin }],
      [/I write the manual now/, { calls: [send('bob', 'Take the third task')] }],
      [/Send codex home/, { calls: [requestShutdown('codex-1')] }],
    ),
    alice: rules(
      [
        /Take the second task/,
        { calls: [updateTask('2', { owner: 'alice', status: 'in_progress' }), send('team-lead', 'good morning')] },
      ],
      [
        /hello alice, says codex/,
        { calls: [updateTask('2', { status: 'completed' }), send('codex-1', 'hello codex, says alice')] },
      ],
    ),
    bob: rules([/Take the third task/, { calls: [updateTask('3', { owner: 'bob', status: 'in_progress' })] }]),
  });
  await stage.startLead();
  await stage.type(`${as('lead')}Begin`);
  await stage.until('the team works', () => {
    const members = stage.team()?.config?.members.map(({ name }) => name);
    return members?.includes('bob') && stage.team()?.tasks.get('2')?.owner === 'alice';
  });
  return stage.team()?.name ?? '';
}

const taskOf = async (client: Client, teamId: string, taskId: string) =>
  (await client.call('task.list', { teamId })).find(({ id }) => id === taskId);

describe.for(TESTED_VERSIONS)('Codex in a team of Claude Code %s', (version) => {
  test('shares tasks and messages, keeps its claimed task, and leaves when the lead asks', async (context) => {
    shows('external-members', 'external-sender', 'external-shutdown', 'idle-notice');
    context.skip(agentProgram('codex') === undefined, 'Codex is not installed');
    const stage = await setNativeStage(context, version);
    const codex = await codexMate();
    // Both take a while to start.
    const isServing = async (): Promise<boolean> => (await stage.troupe('native', 'list')).code === 0;
    const [name] = await Promise.all([playTeam(stage), stage.until('the daemon serves', isServing)]);
    // The native team is visible while it works: a teammate appears, and its message reaches the lead.
    await stage.until('the lead was greeted', () => stage.heard('lead', 'good morning'));
    const shown = await stage.ask<{ members: { name: string }[] }>('native', 'show', name);
    expect(shown.members.map((one) => one.name).sort()).toEqual(['alice', 'bob', 'team-lead']);
    const { teamId } = await stage.ask<{ teamId: string }>('join', name);
    const client = connect(stage.troupeHome);
    // The oldest version rewrites its list without a lock, so alice's claim may be lost until she is idle.
    const isHers = async (): Promise<boolean> => (await taskOf(client, teamId, '2'))?.assigneeId === 'alice';
    await stage.until('the task of alice is hers', isHers);
    expect(await taskOf(client, teamId, '2')).toMatchObject({ status: 'in_progress' });
    await client.call('member.spawn', { teamId, name: 'codex-1', agent: codex.agent, cwd: stage.cwd });

    await stage.until('alice hears Codex', () => stage.heard('alice', 'hello alice, says codex'));
    await stage.until('alice is done', async () => (await taskOf(client, teamId, '2'))?.status === 'completed');
    await stage.until('Codex is done with its first', () => stage.team()?.tasks.get('1')?.status === 'completed');
    expect(stage.team()?.tasks.get('1')).toMatchObject({ owner: 'codex-1' });

    await stage.until('bob is told that he came second', () => stage.heard('bob', 'was put back'));
    expect(await taskOf(client, teamId, '3')).toMatchObject({ status: 'in_progress', assigneeId: 'codex-1', epoch: 1 });
    expect(stage.team()?.tasks.get('3')).toMatchObject({ owner: 'codex-1', status: 'in_progress' });
    codex.letGo();
    await stage.until('Codex hears alice', () => codex.heard('hello codex, says alice'));
    await stage.until('Codex is done', () => stage.team()?.tasks.get('3')?.status === 'completed');
    await stage.until('the lead hears that Codex is idle', () => stage.heard('lead', /thank you|did Write the manual/));

    await stage.type('Send codex home');
    await stage.until('Codex has left', () => !stage.team()?.config?.members.some((one) => one.name === 'codex-1'));
    await stage.until('the lead knows', () => stage.heard('lead', 'shutdown_approved'));
    // A version that rewrites its list may change its order.
    expect(
      stage
        .team()
        ?.config?.members.map((one) => one.name)
        .sort(),
    ).toEqual(['alice', 'bob', 'team-lead']);
  });
});
