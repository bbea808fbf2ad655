import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { agentProgram } from '../agents/installed.ts';
import { testPlace } from '../agents/real.ts';
import { setUp } from '../agents/setups.ts';
import type { ModelRequest, ModelScript } from '../models/script.ts';
import { needs } from '../tools.ts';
import { until } from '../until.ts';
import { shareDaemon } from './stage.ts';

const missing = (['claude', 'codex'] as const).filter((name) => agentProgram(name) === undefined);

/** Does every task at once. */
const does: ModelScript = (request) => ({ text: `did ${titleOf(request)}` });

function titleOf({ turns }: ModelRequest): string {
  return /Task #\d+: (.*)/.exec(turns.findLast(({ role }) => role === 'user')?.text ?? '')?.[1] ?? 'nothing';
}

describe('the limit of an account', needs(missing.length === 0, `${missing.join(', ')} is not installed`), () => {
  const newStage = shareDaemon();

  test('stops its members in every team until it is over, also with the next daemon; all tasks are done once', async () => {
    const stage = newStage();
    const asked: { at: number; isRefused: boolean }[] = [];
    // Far away: the test says when the limit is over.
    const resetsAt = Math.ceil(Date.now() / 1_000) + 3_600;
    let isRefused = true;
    const claude = await limitedClaude(resetsAt, () => {
      asked.push({ at: Date.now(), isRefused });
      return isRefused;
    });
    const codex = await setUp('codex', testPlace(), does);
    onTestFinished(() => codex.model.close());
    const { login } = claude;
    const tasks = Array.from({ length: 6 }, (_none, index) => ({ title: `Item ${index + 1}` }));
    const own = (name: string, title: string) => ({ title, assign: name });
    const file = stage.teamFile({
      team: stage.team,
      members: [
        { name: 'ada', ...login },
        { name: 'bob', ...login },
        { name: 'cy', agent: 'codex', ...codex.entry },
      ],
      tasks: [own('ada', 'Hers'), own('bob', 'His'), ...tasks],
    });
    await stage.ask('up', file, '--yes', '--detach');
    const client = stage.client();
    const teamId = stage.team;
    const limits = async () => (await client.call('account.list', { teamId })).flatMap(({ limit }) => limit ?? []);
    await until('the limit is known', async () => (await limits()).length > 0);
    expect((await limits())[0]).toMatchObject({ cause: 'limited', known: true, until: resetsAt * 1_000 });

    // Another team with the same login waits from the start.
    const aside = stage.aside();
    const other = aside.teamFile({
      team: aside.team,
      members: [{ name: 'eve', ...login }],
      tasks: [{ title: 'Aside' }],
    });
    await aside.ask('up', other, '--yes', '--detach');
    await until('ada waits', async () => (await stage.troupe('ps')).stdout.includes('limited until'));
    await stage.troupe('stop', '--keep');
    await stage.troupe('ps');
    // The next daemon knows it from the journal.
    const { url } = JSON.parse(readFileSync(stage.home.card, 'utf8')) as { url: string };
    const headers = { authorization: `Bearer ${readFileSync(stage.home.tokenFile, 'utf8').trim()}` };
    const shown = await (await fetch(`${url}/metrics`, { headers })).text();
    expect(shown).toMatch(/^troupe_account_used\{account="claude@env-[0-9a-f]+",window="five_hour"\} 1$/m);

    const done = async (team: string) => (await client.call('team.status', { teamId: team })).tasks['completed'];
    // The other account does what nobody holds.
    await until('the first tasks are done', async () => (await done(teamId)) === tasks.length);
    isRefused = false;
    const account = (await client.call('account.list', { teamId })).find(({ limit }) => limit !== undefined);
    await client.call('account.clear', { teamId, account: account?.id ?? '' });
    await until('all tasks are done', async () => (await done(teamId)) === tasks.length + 2);
    await until('the other team is done', async () => (await done(aside.team)) === 1);
    // At most the turns that ran when the limit was found were refused.
    expect(asked.filter((one) => one.isRefused).length).toBeLessThanOrEqual(2);
    const batches = await client.call('event.list', { teamId });
    const events = batches.flatMap((batch) => batch.events);
    expect(events.filter(({ type }) => type === 'task:failed')).toEqual([]);
    expect(events.filter(({ type }) => type === 'task:completed')).toHaveLength(tasks.length + 2);
    expect(events.filter(({ type }) => type === 'teammate:stopped')).toEqual([]);
  });

  test('is passed by with a fallback: another agent finishes the task, and the first is back at the next one', async () => {
    const stage = newStage();
    let isRefused = true;
    const claude = await limitedClaude(Math.ceil(Date.now() / 1_000) + 3_600, () => isRefused);
    const prompts: string[] = [];
    const codex = await setUp('codex', testPlace(), (request) => {
      prompts.push(request.turns.map(({ text }) => text).join('\n'));
      return { text: `codex ${titleOf(request)}` };
    });
    onTestFinished(() => codex.model.close());
    const { cwd: _cwd, ...spare } = codex.entry;
    const file = stage.teamFile({
      team: stage.team,
      agents: { spare: { ...spare, agent: 'codex', account: 'spare' } },
      onLimit: { fallback: ['codex@spare'] },
      members: [{ name: 'ada', ...claude.login }],
      tasks: [{ title: 'First' }],
    });
    await stage.ask('up', file, '--yes', '--detach');
    const client = stage.client();
    const teamId = stage.team;
    const resultOf = async (taskId: string) => (await client.call('task.show', { teamId, taskId })).result;
    await until('the first task is done', async () => (await resultOf('1')) !== undefined);
    expect(await client.call('task.show', { teamId, taskId: '1' })).toMatchObject({
      status: 'completed',
      result: 'codex First',
      assigneeId: 'ada',
      epoch: 3,
    });
    expect(prompts[0]).toContain('You take over from claude: the limit of its account is reached.');
    expect((await stage.troupe('ps')).stdout).toContain('codex@spare (for claude)');

    isRefused = false;
    const accounts = await client.call('account.list', { teamId });
    const limited = accounts.find(({ limit }) => limit !== undefined);
    await client.call('account.clear', { teamId, account: limited?.id ?? '' });
    // Members go back spread over some seconds, so the next task may still be the other agent's.
    const doNext = async (): Promise<string | undefined> => {
      const { id } = await client.call('task.create', { teamId, title: 'Next' });
      await until(`task ${id} is done`, async () => (await resultOf(id)) !== undefined);
      return resultOf(id);
    };
    await until('the first agent is back', async () => (await doNext()) === 'did Next');
    expect(claude.prompts.at(-1)).toContain('Meanwhile codex did your work in your name.');
    const events = (await client.call('event.list', { teamId })).flatMap((batch) => batch.events);
    expect(events.filter(({ type }) => type === 'teammate:switched')).toHaveLength(2);
    expect(events.filter(({ type }) => type === 'task:failed' || type === 'teammate:stopped')).toEqual([]);
  });

  test('a login that the model denies asks a person after the second try, and the task waits', async () => {
    const stage = newStage();
    let asked = 0;
    let isDenied = true;
    const { entry, model } = await setUp('claude', testPlace(), (request) => {
      asked++;
      return isDenied ? { error: { status: 401, message: 'invalid x-api-key' } } : does(request);
    });
    onTestFinished(() => model.close());
    const teamId = stage.team;
    const file = stage.teamFile({
      team: teamId,
      members: [{ name: 'ada', ...entry, agent: 'claude' }],
      tasks: [{ title: 'First' }],
    });
    await stage.ask('up', file, '--yes', '--detach');
    const client = stage.client();
    const [request] = await until('a person is asked', async () => {
      const list = await client.call('request.list', { teamId, status: 'pending' });
      return list.length > 0 && list;
    });
    expect(request?.content).toContain('claude');
    // Claude Code itself would try ten times.
    expect(asked).toBeLessThan(6);
    expect(await stage.task(teamId, '1')).toMatchObject({ status: 'in_progress', assigneeId: 'ada' });
    isDenied = false;
    await client.call('request.answer', { teamId, requestId: request?.id ?? '', approve: true });
    await until('it is done', async () => (await stage.task(teamId, '1')).status === 'completed');
  });
});

/** Claude Code with the login of a subscription, whose limit is reached while `isRefused`. */
async function limitedClaude(resetsAt: number, isRefused: () => boolean) {
  const prompts: string[] = [];
  const headers = {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': String(resetsAt),
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
  };
  const { entry, model } = await setUp('claude', testPlace(), (request) => {
    prompts.push(request.turns.map(({ text }) => text).join('\n'));
    return isRefused() ? { error: { status: 429, message: 'used up' }, headers } : does(request);
  });
  onTestFinished(() => model.close());
  const { ANTHROPIC_API_KEY: CLAUDE_CODE_OAUTH_TOKEN = '', ...env } = entry['env'] as Record<string, string>;
  return { prompts, login: { ...entry, agent: 'claude', env: { ...env, CLAUDE_CODE_OAUTH_TOKEN } } };
}
