import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { functionAgent } from '../src/agents/function.ts';
import type { AgentFunction } from '../src/agents/function.ts';
import { connect } from '../src/client/connect.ts';
import { JoinInput } from '../src/core/member.ts';
import { CreateTeamInput } from '../src/core/team.ts';
import { startDaemon } from '../src/daemon.ts';
import type { DaemonOptions } from '../src/daemon.ts';
import { embedTeams } from '../src/embed.ts';
import type { EmbeddedTeams, EmbedOptions } from '../src/embed.ts';
import { sqliteJournal } from '../src/journal/sqlite.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { temporaryHome } from './daemon/serve.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { until } from './until.ts';

const ADA = { name: 'ada', role: 'writer', prompt: 'You write parsers.' };

describe('teams in this process', () => {
  test('run a teammate with the agent that its type names, or else with the first', async () => {
    const { coordinator, tasks } = await embed({
      first: ({ task }) => `first: ${task?.title}`,
      second: () => 'second',
    });
    const ada = await coordinator.spawnTeammate('demo', ADA);
    expect(ada).toMatchObject({
      name: 'ada',
      role: 'writer',
      spawnPrompt: ADA.prompt,
      status: 'spawning',
      agent: { kind: 'function', name: 'first' },
    });
    await coordinator.spawnTeammate('demo', { ...ADA, name: 'bob', agentType: 'second' });
    await tasks.createTask('demo', 'lead', { title: 'One', assigneeId: 'ada' });
    await tasks.createTask('demo', 'lead', { title: 'Two', assigneeId: 'bob' });
    await completed(tasks, ['1', '2']);
    expect((await tasks.listTasks('demo')).map(({ result }) => result)).toEqual(['first: One', 'second']);
  });

  test('fail a task whose function throws, and go on', async () => {
    const { coordinator, tasks } = await embed({
      agent({ task }) {
        if (task?.title === 'One') throw new Error('no parser today');
        return 'done';
      },
    });
    await coordinator.spawnTeammate('demo', ADA);
    await tasks.createTask('demo', 'lead', { title: 'One' });
    await tasks.createTask('demo', 'lead', { title: 'Two' });
    await completed(tasks, ['2']);
    expect(await tasks.getTask('demo', '1')).toMatchObject({
      status: 'failed',
      failure: expect.stringContaining('no parser today') as string,
    });
  });

  test('run a member that becomes the lead as a lead, and the former lead as a teammate', async () => {
    const { coordinator, tasks, ledger } = await embed({
      agent: ({ task, digest }, { memberId }) => `${memberId} ${digest === undefined ? 'did' : 'leads'} ${task?.title}`,
    });
    for (const name of ['ada', 'bob']) await coordinator.spawnTeammate('demo', { ...ADA, name });
    const lead = (leadId: string) =>
      ledger.execute('demo', { type: 'team.update', by: '@user', leadId }, () => undefined);
    const lastOf = (id: string) => ledger.view('demo', ({ members }) => members.get(id)?.lastResult ?? '');
    await lead('ada');
    await until('ada leads', async () => (await lastOf('ada')).startsWith('ada leads'));
    // A lead takes no free tasks.
    await tasks.createTask('demo', '@user', { title: 'One' });
    await completed(tasks, ['1']);
    await lead('bob');
    await until('bob leads', async () => (await lastOf('bob')).startsWith('bob leads'));
    await tasks.createTask('demo', '@user', { title: 'Two' });
    await completed(tasks, ['2']);
    expect((await tasks.listTasks('demo')).map(({ result }) => result)).toEqual(['bob did One', 'ada did Two']);
  });

  test('refuse other agents', async () => {
    const { coordinator } = await embed({ agent: () => 'done' });
    const refused = { code: 'unsupported' };
    await expect(coordinator.spawnTeammate('demo', { ...ADA, agent: 'claude' })).rejects.toMatchObject(refused);
    const none = await embed({});
    await expect(none.coordinator.spawnTeammate('demo', ADA)).rejects.toMatchObject(refused);
  });

  test('release a teammate that agrees to stop, or that is ended in the middle of a turn', async () => {
    const begun = Promise.withResolvers<void>();
    const { coordinator, tasks, ledger } = await embed({
      agent: () => 'done',
      slow(_turn, { signal }) {
        begun.resolve();
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('cancelled'))),
        );
      },
    });
    await coordinator.spawnTeammate('demo', ADA);
    await coordinator.spawnTeammate('demo', { ...ADA, name: 'bob', agentType: 'slow' });
    expect(await coordinator.requestShutdown('demo', 'ada')).toBe(true);
    await tasks.createTask('demo', 'lead', { title: 'One', assigneeId: 'bob' });
    await begun.promise;
    await coordinator.shutdownTeammate('demo', 'bob', 'enough');
    const status = (name: string) => ledger.view('demo', ({ members }) => members.get(name)?.status);
    await until(
      'both have stopped',
      async () => (await status('ada')) === 'stopped' && (await status('bob')) === 'stopped',
    );
    expect(await tasks.getTask('demo', '1')).toMatchObject({ status: 'pending' });
    // The name is free again, even while the last turn ends.
    await coordinator.spawnTeammate('demo', { ...ADA, name: 'bob', agentType: 'agent' });
    await completed(tasks, ['1']);
  });

  test('restart a teammate whose agent is gone, and tell the lead', async () => {
    let starts = 0;
    const { abilities, ...inner } = functionAgent(() => 'done');
    const mortal = {
      ...inner,
      abilities,
      async start(options: Parameters<typeof inner.start>[0]) {
        const session = await inner.start(options);
        if (++starts === 1) void session.close();
        return session;
      },
    };
    const { coordinator, tasks, mailbox } = await embed({}, { agents: { mortal } });
    await coordinator.spawnTeammate('demo', ADA);
    await tasks.createTask('demo', 'lead', { title: 'One' });
    await completed(tasks, ['1']);
    expect(starts).toBe(2);
    expect(await mailbox.getInbox('demo', 'lead')).toMatchObject([
      { content: expect.stringContaining('ada crashed') as string },
    ]);
  });

  test('in a state directory survive the process; tasks that its members held are pending again', async () => {
    const home = join(temporaryFolder(), 'home');
    const begun = Promise.withResolvers<void>();
    const hanging: AgentFunction = () => (begun.resolve(), new Promise(() => {}));
    const first = await embed({ hanging }, { home });
    await first.coordinator.spawnTeammate('demo', ADA);
    await first.tasks.createTask('demo', 'lead', { title: 'One' });
    await begun.promise;
    await expect(embedTeams({ agents: {}, home })).rejects.toMatchObject({ code: 'storage' });
    await first.close();
    const { tasks, ledger } = await open({ agents: {}, home });
    expect(await tasks.getTask('demo', '1')).toMatchObject({ status: 'pending' });
    expect(await ledger.view('demo', ({ members }) => members.get('ada'))).toMatchObject({ status: 'stopped' });
  });

  test('continue with a member that a killed process left', async () => {
    const home = join(temporaryFolder(), 'home');
    mkdirSync(home, { mode: 0o700 });
    const journal = sqliteJournal(join(home, 'journal.db'));
    const ledger = new Ledger(journal);
    const member = JoinInput.parse({ ...ADA, agent: { kind: 'function', name: 'agent' } });
    await ledger.execute(
      'demo',
      { type: 'team.create', by: '@user', ...CreateTeamInput.parse({ name: 'demo' }) },
      () => {},
    );
    await ledger.execute('demo', { type: 'member.join', by: '@user', ...member }, () => {});
    await ledger.close();
    await journal.close();
    const { tasks } = await open({ agents: { agent: functionAgent(() => 'done') }, home });
    await tasks.createTask('demo', 'lead', { title: 'One' });
    await completed(tasks, ['1']);
  });
});

describe('a daemon in this process', () => {
  test('runs agents of this process, can be reached by its home and its address, and is the only one in its home', async () => {
    const { directory, tokenFile } = temporaryHome();
    const daemon = await openDaemon({
      home: directory,
      agents: { agent: functionAgent(({ task }) => `did ${task?.title}`) },
    });
    const { coordinator, tasks, hooks } = daemon;
    await coordinator.createTeam('session', { name: 'demo' });
    const judged: string[] = [];
    hooks.registerFunction(
      'demo',
      'TaskCompleted',
      (context) => void judged.push('taskTitle' in context ? context.taskTitle : ''),
    );
    await coordinator.spawnTeammate('demo', { ...ADA, agentType: 'agent' });
    await tasks.createTask('demo', 'lead', { title: 'One' });
    await completed(tasks, ['1']);
    expect(judged).toEqual(['One']);

    const token = readFileSync(tokenFile, 'utf8').trim();
    for (const place of [{ home: directory }, { url: daemon.url, token }]) {
      const client = connect(place);
      onTestFinished(() => client.close());
      expect(await client.call('task.show', { teamId: 'demo', taskId: '1' })).toMatchObject({ result: 'did One' });
    }
    await expect(startDaemon({ home: directory })).rejects.toMatchObject({ code: 'conflict', name: 'LockedError' });
    await daemon.close();
    const again = await openDaemon({ home: directory });
    expect(await again.ledger.view('demo', ({ members }) => members.get('ada')?.status)).toBe('stopped');
  });

  test('says what to do if no agent is named and none is installed', async () => {
    const { directory } = temporaryHome();
    const { coordinator } = await openDaemon({ home: directory, environment: { PATH: temporaryFolder() } });
    await coordinator.createTeam('session', { name: 'demo' });
    await expect(coordinator.spawnTeammate('demo', ADA)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('No agent is installed') as string,
    });
  });
});

/** Opens teams, with one named `demo`. */
async function embed(
  functions: Record<string, AgentFunction>,
  options: Partial<EmbedOptions> = {},
): Promise<EmbeddedTeams> {
  const agents = Object.fromEntries(Object.entries(functions).map(([name, run]) => [name, functionAgent(run)]));
  const teams = await open({ agents, ...options });
  await teams.coordinator.createTeam('session', { name: 'demo' });
  return teams;
}

async function open(options: EmbedOptions): Promise<EmbeddedTeams> {
  const errors: unknown[] = [];
  const teams = await embedTeams({ onError: (error) => errors.push(error), ...options });
  onTestFinished(async () => {
    await teams.close();
    expect(errors).toEqual([]);
  });
  return teams;
}

async function openDaemon(options: DaemonOptions): ReturnType<typeof startDaemon> {
  const daemon = await startDaemon(options);
  onTestFinished(() => daemon.close());
  return daemon;
}

/** Waits until these tasks are completed. */
async function completed(tasks: EmbeddedTeams['tasks'], ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await until(`task ${id} is completed`, async () => (await tasks.getTask('demo', id))?.status === 'completed');
  }
}
