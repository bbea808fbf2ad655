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
    const limited: ModelScript = (request) => {
      asked.push({ at: Date.now(), isRefused });
      if (!isRefused) return does(request);
      const headers = {
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': String(resetsAt),
        'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      };
      return { error: { status: 429, message: 'used up' }, headers };
    };
    const claude = await setUp('claude', testPlace(), limited);
    const codex = await setUp('codex', testPlace(), does);
    onTestFinished(async () => void (await Promise.all([claude, codex].map(({ model }) => model.close()))));
    const { ANTHROPIC_API_KEY: CLAUDE_CODE_OAUTH_TOKEN = '', ...env } = claude.entry['env'] as Record<string, string>;
    const login = { ...claude.entry, agent: 'claude', env: { ...env, CLAUDE_CODE_OAUTH_TOKEN } };
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
    const [account] = await client.call('account.list', { teamId });
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
});
