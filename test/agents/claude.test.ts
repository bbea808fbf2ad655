import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Agent, AgentEvent, StartOptions, TeamTools } from '../../src/agents/agent.ts';
import { claudeAgent } from '../../src/agents/claude.ts';
import { findMarked, MARKER } from '../../src/agents/process.ts';
import type { Trouble } from '../../src/core/trouble.ts';
import { describeAgent, hear, message, turn } from '../contracts/agent.ts';
import type { Heard, Manner } from '../contracts/agent.ts';
import { SharedSession } from '../contracts/shared-session.ts';
import type { Started } from '../contracts/shared-session.ts';
import { BIN, connect, serve, temporaryHome } from '../daemon/serve.ts';
import { anthropicServer } from '../models/anthropic.ts';
import type { ModelReply, ModelRequest, ModelScript, ModelServer } from '../models/script.ts';
import { TROUPE_SOURCE } from '../setup/source.ts';
import { needs } from '../tools.ts';
import { HANG_MS, until } from '../until.ts';
import { SHORT_RUN } from './bun.ts';
import { expectExtras, WHISPERS } from './extras.ts';
import type { Extras } from './extras.ts';
import { agentProgram } from './installed.ts';
import { doTurn, makePlace, startIn } from './real.ts';
import type { Place } from './real.ts';

const program = agentProgram('claude');

/** Makes the tool call that a text asks for, `call NAME {...}`, and reports the result. */
const obeys: ModelScript = ({ turns }) => {
  const last = turns.at(-1);
  const [, name, input = '{}'] = /^call (\S+) (.*)$/m.exec(last?.role === 'user' ? last.text : '') ?? [];
  if (name !== undefined) return { calls: [{ name, input: JSON.parse(input) as Record<string, unknown> }] };
  return { text: `did ${last?.text.trim()}` };
};

/** What its session in edit mode is given. */
const EXTRAS: Extras = {
  start: { effort: 'high', ownTools: { deny: ['Skill'] } },
  asks: true,
  lacks: 'Skill',
  effort: (body) => (body as { output_config?: { effort?: string } }).output_config?.effort,
};

const LONG_WORK: ModelReply = { text: 'working', calls: [{ name: 'Bash', input: { command: 'tail -f /dev/null' } }] };

const MANNERS: Readonly<Record<Manner, ModelScript>> = {
  quick: obeys,
  slow: () => LONG_WORK,
  failing: () => ({ error: { status: 400, message: 'full of cats' } }),
};

describe('Claude Code', needs(program !== undefined, 'Claude Code is not installed'), () => {
  let model: ModelServer;
  let place: Place;
  let home: string;
  let cwd: string;
  beforeAll(async () => {
    model = await anthropicServer(obeys);
    place = makePlace();
    ({ home, cwd } = place);
  });
  afterAll(async () => {
    await model.close();
    place.remove();
  });

  const agent = (script: ModelScript = obeys, args: readonly string[] = []): Agent => {
    model.use(script);
    return claudeAgent({ command: [program as string], args, cancelMs: HANG_MS, usageMs: 1 });
  };
  const start = (): StartOptions => ({
    ...startIn(place, {
      TROUPE_HOME: home,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ...SHORT_RUN,
      // The default of ten retries would take minutes.
      CLAUDE_CODE_MAX_RETRIES: '1',
      [MARKER]: crypto.randomUUID(),
    }),
    role: 'You are known as the Walrus.',
  });
  const open = async (which: Agent, more: Partial<StartOptions> = {}): Promise<Started> => {
    const pids: number[] = [];
    const session = await which.start({ ...start(), onProcess: (pid) => pids.push(pid), ...more });
    return { ...hear(session), pids };
  };

  const shared = describeAgent('claude', () => ({
    agent: (manner) => agent(MANNERS[manner]),
    become: (manner) => model.use(MANNERS[manner]),
    absent: () => claudeAgent({ command: ['no-such-program'] }),
    start: start(),
  }));
  /** The session of the contract, with this script for its model. */
  const use = async (script: ModelScript = obeys): Promise<Started> => {
    const session = await shared.use();
    model.use(script);
    return session;
  };

  /** A session in edit mode, with additional arguments, which tries again as often as Claude Code does by default. */
  const edits = new SharedSession((more) => {
    const env = { ...start().env, CLAUDE_CODE_MAX_RETRIES: '10' };
    const given = { ...start(), env, mode: 'edit', ...WHISPERS, ...EXTRAS.start, ...more } as const;
    return agent(obeys, ['--add-dir', home]).start(given);
  });

  test('does several turns in one process, knows its role, and reports usage and cost of each turn', async () => {
    const session = await edits.use();
    // Without a session to resume it starts a new one.
    expect(session.id).not.toBe(shared.earlier);
    for (const text of ['one', 'two', 'three']) {
      await session.send({ ...turn(text), messages: [message(`m-${text}`)] }, { when: 'next' });
    }
    await session.end(3);
    expect(session.ends().map(({ text }) => text)).toEqual(['did one', 'did two', 'did three']);
    expect(session.pids).toHaveLength(1);
    const last = model.requests.at(-1) as ModelRequest;
    expect(userTexts(last)).toEqual(['one', 'two', 'three']);
    expect(last.system).toContain('You are known as the Walrus.');
    const used = eventsOf(session, 'usage');
    expect(used).toHaveLength(3);
    for (const { usage, context } of used) {
      expect(usage).toMatchObject({ inputTokens: 100, outputTokens: 10, turns: 1, estimated: false });
      expect(usage.costUsd).toBeGreaterThan(0);
      expect(usage.costUsd).toBeCloseTo(used[0]?.usage.costUsd ?? 0, 10);
      expect(context?.used).toBeGreaterThan(100);
      expect(context?.size).toBeGreaterThan(100_000);
    }
    expect(eventsOf(session, 'shown').flatMap(({ messageIds }) => messageIds)).toEqual(['m-one', 'm-two', 'm-three']);
    const [pid] = session.pids;
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    expect(words).toEqual(expect.arrayContaining(['--add-dir', home]));
    expect(words.join(' ')).not.toContain('Walrus');
  });

  test('asks before it runs a program, and follows the answer', async () => {
    const session = await edits.use();
    model.use(obeys);
    const run = (path: string) =>
      turn(
        `call Bash ${JSON.stringify({ command: `node -e 'fs.writeFileSync("${path}","")'`, description: 'write' })}`,
      );
    await session.send(run('allowed'), { when: 'next' });
    const first = await asked(session, 1);
    expect(first).toMatchObject({ tool: 'Bash', input: { description: 'write' } });
    first.answer({ allow: true });
    first.answer({ allow: false });
    expect(await session.end(1)).toMatchObject({ reason: 'done' });
    expect(existsSync(join(cwd, 'allowed'))).toBe(true);

    await session.send(run('denied'), { when: 'next' });
    (await asked(session, 2)).answer({ allow: false, message: 'the lead says no' });
    expect(await session.end(2)).toMatchObject({ reason: 'done', text: 'did the lead says no' });
    expect(existsSync(join(cwd, 'denied'))).toBe(false);

    await session.send(run('withdrawn'), { when: 'next' });
    const third = await asked(session, 3);
    await session.cancel();
    third.answer({ allow: true });
    expect(await session.end(3)).toMatchObject({ reason: 'cancelled' });
    await session.send(turn(`call Write ${JSON.stringify({ file_path: join(cwd, 'edited'), content: 'x' })}`), {
      when: 'next',
    });
    expect(await session.end(4)).toMatchObject({ reason: 'done' });
    expect(existsSync(join(cwd, 'edited'))).toBe(true);
    expect(existsSync(join(cwd, 'withdrawn'))).toBe(false);
    expect(eventsOf(session, 'tool').map(({ name, status }) => `${name} ${status}`)).toEqual([
      'Bash running',
      'Bash done',
      'Bash running',
      'Bash failed',
      'Bash running',
      'Bash failed',
      'Write running',
      'Write done',
    ]);
  });

  test('has the server of tools that it was given, the effort, and not the tools that were taken away', async () => {
    await expectExtras(await edits.use(), model, EXTRAS);
  });

  test('takes a steering message beside a tool, or after a text, in the same turn', async () => {
    const told = Promise.withResolvers<void>();
    const session = await use(({ turns }) => {
      const said = turns.findLast(({ role }) => role === 'user')?.text.trim();
      if (turns.at(-1)?.role === 'user' && said === 'tool') {
        return {
          text: 'working',
          calls: [{ name: 'Bash', input: { command: `while [ ! -e go ]; do sleep 0.05; done` } }],
        };
      }
      if (said === 'talk') return { text: 'a long\nstory', held: told.promise };
      return { text: `did ${said}` };
    });
    await session.send(turn('tool'), { when: 'next' });
    await session.heardText('working');
    const beside = { ...turn('beside the tool'), messages: [message('m-beside')] };
    expect(await session.send(beside, { when: 'steer' })).toBe('injected');
    writeFileSync(join(cwd, 'go'), '');
    expect(await session.end(1)).toMatchObject({ reason: 'done', text: 'did beside the tool' });
    expect(eventsOf(session, 'shown')).toMatchObject([{ messageIds: ['m-beside'] }]);

    const asked = model.requests.length;
    await session.send(turn('talk'), { when: 'next' });
    await expect.poll(() => model.requests.length).toBe(asked + 1);
    expect(await session.send(turn('after the text'), { when: 'steer' })).toBe('injected');
    told.resolve();
    expect(await session.end(2)).toMatchObject({ reason: 'done', text: 'a long\nstory\n\ndid after the text' });
    await session.send(turn('last'), { when: 'next' });
    expect(await session.end(3)).toMatchObject({ text: 'did last' });
    expect(eventsOf(session, 'usage').reduce((sum, { usage }) => sum + usage.turns, 0)).toBe(3);
  });

  test('tells what a turn has used before it ends', async () => {
    const told = Promise.withResolvers<void>();
    const session = await use(async (request) => {
      const isFirst = request.turns.at(-1)?.role === 'user' && request.turns.at(-1)?.text.includes('call Bash');
      if (!isFirst) await told.promise;
      return obeys(request);
    });
    await session.send(turn('call Bash {"command":"true"}'), { when: 'next' });
    const [spending] = await until('it tells', () => {
      const found = eventsOf(session, 'spending');
      return found.length > 0 && found;
    });
    expect(spending?.usage).toMatchObject({ inputTokens: 100, outputTokens: 10, turns: 0 });
    expect(spending?.usage.costUsd).toBeGreaterThan(0);
    told.resolve();
    await session.end(1);
    const [used] = eventsOf(session, 'usage');
    expect(used?.usage).toMatchObject({ inputTokens: 200, outputTokens: 20, turns: 1 });
    expect(used?.usage.costUsd).toBeGreaterThan(spending?.usage.costUsd ?? 0);
  });

  test('handles a turn that the program begins by itself, and counts its usage', async () => {
    const session = await use();
    const asked = model.requests.length;
    const call = { command: 'sleep 0.3', description: 'wait', run_in_background: true };
    await doTurn(session, `call Bash ${JSON.stringify(call)}`);
    // The program reports the end of the command to its model in an extra turn.
    await expect.poll(() => model.requests.length).toBe(asked + 3);
    expect(await doTurn(session, 'and now')).toMatchObject({ reason: 'done', text: 'did and now' });
    expect(session.ends()).toHaveLength(2);
    const used = eventsOf(session, 'usage').map(({ usage }) => usage.inputTokens);
    expect(used.reduce((sum, tokens) => sum + tokens, 0)).toBe((model.requests.length - asked) * 100);
  });

  test('drops waiting steering messages on cancel', async () => {
    const session = await use((request) => (request.turns.at(-1)?.text.trim() === 'long' ? LONG_WORK : obeys(request)));
    await session.send(turn('long'), { when: 'next' });
    await session.heardText('working');
    await session.send({ ...turn('too late'), messages: [message('m-late')] }, { when: 'steer' });
    await session.cancel();
    expect(await session.end(1)).toMatchObject({ reason: 'cancelled' });
    await session.send(turn('next'), { when: 'next' });
    expect(await session.end(2)).toMatchObject({ text: 'did next' });
    expect(JSON.stringify(model.requests.at(-1)?.body)).not.toContain('too late');
    expect(eventsOf(session, 'shown')).toEqual([]);
  });

  test('is killed if it does not react when its turn is cancelled', async () => {
    model.use(() => LONG_WORK);
    const session = await open(claudeAgent({ command: [program as string], cancelMs: 1 }));
    await session.send(turn('long'), { when: 'next' });
    await session.heardText('working');
    process.kill(session.pids[0] as number, 'SIGSTOP');
    await session.cancel();
    await session.over;
    expect(session.ends()).toMatchObject([{ reason: 'cancelled' }]);
  });

  describe('in a team', () => {
    test.for(['http', 'stdio'] as const)('uses the team tools over %s, and no others in delegate mode', async (way) => {
      const { tools, tasks, token } = await team(way);
      const session = await open(agent(), { mode: 'delegate', tools });
      await session.send(turn(`call mcp__troupe__TaskCreate {"subject":"From Claude","description":"by ${way}"}`), {
        when: 'next',
      });
      expect(await session.end(1)).toMatchObject({
        reason: 'done',
        text: expect.stringContaining('From Claude') as string,
      });
      expect(await tasks()).toMatchObject([{ title: 'From Claude', createdBy: 'worker' }]);
      await session.send(turn(`call Write ${JSON.stringify({ file_path: join(cwd, way), content: 'x' })}`), {
        when: 'next',
      });
      expect((await session.end(2)).text).toContain('No such tool available');
      expect(existsSync(join(cwd, way))).toBe(false);
      // The placeholder stands for searchable tools; there are none.
      const offered = (model.requests.at(-1)?.tools ?? []).filter((name) => name !== 'DeferredToolPlaceholder');
      expect(offered.length).toBeGreaterThan(5);
      expect(offered.filter((name) => !name.startsWith('mcp__troupe__'))).toEqual([]);
      expect(readFileSync(`/proc/${session.pids[0]}/cmdline`, 'utf8')).not.toContain(token);
      expect(readdirSync(home).filter((name) => name.startsWith('start-'))).toEqual([]);
      await session.close();
    });
  });

  test('reports that it waits for an overloaded model, and continues by itself', async () => {
    let refused = 0;
    const session = await use((request) => {
      if (refused++ > 0) return obeys(request);
      return { error: { status: 529, message: 'too many cats', retryAfter: 1 } };
    });
    const began = Date.now();
    await session.send(turn('patience'), { when: 'next' });
    expect(await session.end(1)).toMatchObject({ reason: 'done', text: 'did patience' });
    const [waiting] = eventsOf(session, 'waiting');
    expect(waiting?.reason).toContain('529');
    expect(waiting?.until).toBeGreaterThan(began);
  });

  test('reports a failed turn as overloaded if the model is', async () => {
    const session = await use(() => ({ error: { status: 529, message: 'too many cats', retryAfter: 0 } }));
    await session.send(turn('patience'), { when: 'next' });
    expect(await session.end(1)).toMatchObject({ reason: 'failed', trouble: 'overloaded' });
  });

  test('says why a turn failed that its model refused', async () => {
    const replies = {
      unauthorised: { error: { status: 401, message: 'invalid x-api-key' } },
      context: { error: { status: 400, message: 'prompt is too long: 200001 tokens > 200000 maximum' } },
      refused: { text: 'I will not do that', refuses: true },
    } as const satisfies Partial<Record<Trouble, ModelReply>>;
    const session = await use();
    const ends: Record<string, unknown> = {};
    for (const [trouble, reply] of Object.entries(replies)) {
      model.use(() => reply);
      ends[trouble] = await doTurn(session, `too much: ${trouble}`);
    }
    const expected = Object.keys(replies).map((trouble) => [trouble, { reason: 'failed', trouble }]);
    expect(ends).toMatchObject(Object.fromEntries(expected));
  });

  test('says at once that its login is not accepted, and does not try ten times', async () => {
    const session = await edits.use();
    const before = model.requests.length;
    model.use(() => ({ error: { status: 401, message: 'invalid x-api-key' } }));
    expect(await doTurn(session, 'denied')).toMatchObject({ reason: 'failed', trouble: 'unauthorised' });
    // Its first call, a second one with another token if it could get one, and what it sent before it was stopped.
    expect(model.requests.length - before).toBeLessThan(8);
    model.use(obeys);
    expect(await doTurn(session, 'logged in')).toMatchObject({ reason: 'done', text: 'did logged in' });
  });

  test('reports the windows of its account, and until when it is limited', async () => {
    const { ANTHROPIC_API_KEY: _key, ...env } = start().env;
    const session = await open(agent(), { env: { ...env, CLAUDE_CODE_OAUTH_TOKEN: 'dummy' } });
    const resetsAt = Math.ceil(Date.now() / 1_000) + 3_600;
    const windows = (status: string, fiveHour: number) => ({
      'anthropic-ratelimit-unified-status': status,
      'anthropic-ratelimit-unified-reset': String(resetsAt),
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      'anthropic-ratelimit-unified-5h-status': status,
      'anthropic-ratelimit-unified-5h-reset': String(resetsAt),
      'anthropic-ratelimit-unified-5h-utilization': String(fiveHour),
      'anthropic-ratelimit-unified-7d-status': 'allowed',
      'anthropic-ratelimit-unified-7d-reset': String(resetsAt + 86_400),
      'anthropic-ratelimit-unified-7d-utilization': '0.4',
    });
    model.use((request) => ({ ...(obeys(request) as ModelReply), headers: windows('allowed', 0.85) }));
    expect(await doTurn(session, 'a bit')).toMatchObject({ reason: 'done' });
    const before = model.requests.length;
    model.use(() => ({ error: { status: 429, message: 'used up' }, headers: windows('rejected', 1) }));
    expect(await doTurn(session, 'more')).toMatchObject({
      reason: 'failed',
      trouble: 'limited',
      resetsAt: resetsAt * 1_000,
    });
    expect(model.requests.length - before).toBe(1);
    expect(eventsOf(session, 'limits').map(({ windows: told }) => told[0]?.used)).toEqual([0.85, 1]);
    expect(eventsOf(session, 'limits').at(-1)?.windows).toEqual([
      { name: 'five_hour', used: 1, resetsAt: resetsAt * 1_000 },
      { name: 'seven_day', used: 0.4, resetsAt: (resetsAt + 86_400) * 1_000 },
    ]);
    await session.close();
  });

  test('fails its turn when it is killed, and resumes its conversation', async () => {
    const session = await shared.take();
    model.use((request) => (request.turns.at(-1)?.text.trim() === 'long' ? LONG_WORK : obeys(request)));
    await doTurn(session, 'remember the walrus');
    await session.send(turn('long'), { when: 'next' });
    await session.heardText('working');
    process.kill(session.pids[0] as number, 'SIGKILL');
    const end = await session.end(2);
    expect(end).toMatchObject({ reason: 'failed' });
    expect(end.error).toContain('SIGKILL');
    await session.over;

    const again = await shared.restart({ resume: session.id });
    expect(again.id).toBe(session.id);
    await again.send(turn('go on'), { when: 'next' });
    expect(await again.end(1)).toMatchObject({ reason: 'done', text: 'did go on' });
    expect(userTexts(model.requests.at(-1) as ModelRequest)).toContain('remember the walrus');
    expect(eventsOf(again, 'usage')).toMatchObject([{ usage: { inputTokens: 100, turns: 1 } }]);
  });

  test('resumed in plan mode, counts only new usage, and changes nothing although its user allows all', async () => {
    const before = await shared.take();
    model.use(obeys);
    await doTurn(before, 'go on');
    await before.close();
    const settings = { permissions: { allow: ['Bash', 'Write', 'Edit'], defaultMode: 'acceptEdits' } };
    mkdirSync(join(cwd, '.claude'), { recursive: true });
    writeFileSync(join(cwd, '.claude', 'settings.local.json'), JSON.stringify(settings));
    writeFileSync(join(cwd, 'readable.txt'), 'a secret of the sea');
    const session = await open(agent(), { resume: before.id, mode: 'plan' });
    // After a clean exit it resumes with its old sums. Earlier usage must not be counted twice.
    expect(await doTurn(session, 'once more')).toMatchObject({ text: 'did once more' });
    const [used] = eventsOf(session, 'usage');
    expect(used).toMatchObject({ usage: { inputTokens: 100, turns: 1 } });
    expect(eventsOf(session, 'usage')).toHaveLength(1);
    expect(Math.max(0, ...eventsOf(session, 'spending').map(({ usage }) => usage.inputTokens))).toBeLessThan(101);
    expect(used?.usage.costUsd).toBeCloseTo(eventsOf(before, 'usage')[0]?.usage.costUsd ?? 0, 10);
    const { system, turns: known } = model.requests.at(-1) as ModelRequest;
    expect(system.split('known as the Walrus')).toHaveLength(2);

    const tries = [
      `call Write ${JSON.stringify({ file_path: join(cwd, 'planned'), content: 'x' })}`,
      `call Bash ${JSON.stringify({ command: 'touch planned', description: 'x' })}`,
      `call Task ${JSON.stringify({ description: 'x', prompt: 'x', subagent_type: 'general-purpose' })}`,
    ];
    for (const [index, text] of tries.entries()) {
      await session.send(turn(text), { when: 'next' });
      expect((await session.end(index + 2)).text).toContain('No such tool available');
    }
    expect(existsSync(join(cwd, 'planned'))).toBe(false);
    // Prompts stay plain text: they run no slash command, and fetch no file that they mention.
    expect(await doTurn(session, '/clear @readable.txt')).toMatchObject({ text: 'did /clear @readable.txt' });
    const told = known.filter(({ role }) => role === 'user').length;
    expect(userTexts(model.requests.at(-1) as ModelRequest)).toHaveLength(told + 4);
    expect(JSON.stringify(model.requests.at(-1)?.body)).not.toContain('a secret of the sea');
    await session.send(turn(`call Read ${JSON.stringify({ file_path: join(cwd, 'readable.txt') })}`), { when: 'next' });
    expect((await session.end(6)).text).toContain('a secret of the sea');
    rmSync(join(cwd, '.claude'), { recursive: true });
  });

  test('starts over under the id of a session without turns; leaves no process and writes no settings', async () => {
    const id = crypto.randomUUID();
    const marker = crypto.randomUUID();
    const session = await open(agent(), { resume: id, env: { ...start().env, [MARKER]: marker }, mode: 'full' });
    expect(session.id).toBe(id);
    expect(await doTurn(session, 'first')).toMatchObject({ text: 'did first' });
    model.use(() => LONG_WORK);
    await session.send(turn('long'), { when: 'next' });
    await session.heardText('working');
    await expect.poll(() => findMarked(marker).length).toBeGreaterThan(1);
    await session.close();
    expect(findMarked(marker)).toEqual([]);
    expect(existsSync(join(home, '.claude', 'settings.json'))).toBe(false);
    expect(readFileSync(join(home, '.claude.json'), 'utf8')).not.toContain('troupe');
  });

  test('fails to start with the output of the program', async () => {
    await expect(agent(obeys, ['--no-such-option']).start(start())).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('--no-such-option') as string,
    });
  });

  /** A daemon with a team, and the way for its member to reach it. */
  async function team(way: 'http' | 'stdio') {
    const troupe = temporaryHome();
    const { url } = await serve(troupe);
    const client = connect(troupe);
    await client.call('team.create', { name: 'demo' });
    await client.call('member.add', { teamId: 'demo', name: 'worker' });
    const token = readFileSync(troupe.tokenFile, 'utf8').trim();
    const who = { TROUPE_HOME: troupe.directory, TROUPE_TEAM_ID: 'demo', TROUPE_MEMBER_NAME: 'worker' };
    const headers = {
      authorization: `Bearer ${token}`,
      'x-troupe-teams': '1',
      'x-troupe-team': 'demo',
      'x-troupe-as': 'worker',
    };
    const tools: TeamTools = {
      name: 'troupe',
      ...(way === 'http' && { http: { url: `${url}/mcp`, headers } }),
      stdio: {
        command: process.execPath,
        args: [BIN, 'mcp'],
        env: { ...who, TROUPE_SOURCE, CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' },
      },
    };
    return { tools, token, tasks: () => client.call('task.list', { teamId: 'demo' }) };
  }
});

function userTexts({ turns }: ModelRequest): string[] {
  return turns.filter(({ role }) => role === 'user').map(({ text }) => text.trim());
}

function eventsOf<T extends AgentEvent['type']>(session: Heard, type: T): Extract<AgentEvent, { type: T }>[] {
  return session.events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
}

async function asked(session: Heard, count: number): Promise<Extract<AgentEvent, { type: 'permission' }>> {
  await expect.poll(() => eventsOf(session, 'permission').length).toBe(count);
  return eventsOf(session, 'permission').at(-1) as Extract<AgentEvent, { type: 'permission' }>;
}
