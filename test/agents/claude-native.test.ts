import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Agent, StartOptions } from '../../src/agents/agent.ts';
import { findMarked, MARKER } from '../../src/agents/process.ts';
import { claudeNativeAgent } from '../../src/bridge/hosted/agent.ts';
import { hostedName } from '../../src/bridge/hosted/place.ts';
import { readTeam } from '../../src/bridge/snapshot.ts';
import { openTmuxScreen } from '../../src/terminals/tmux-screen.ts';
import { describeAgent, message, turn } from '../contracts/agent.ts';
import type { Manner } from '../contracts/agent.ts';
import { anthropicServer } from '../models/anthropic.ts';
import type { ModelReply, ModelRequest, ModelScript, ModelServer } from '../models/script.ts';
import { lastUserText } from '../models/script.ts';
import { answerDialogs, KEY } from '../native/stage.ts';
import { isInstalled, needs } from '../tools.ts';
import { HANG_MS } from '../until.ts';
import { SHORT_RUN } from './bun.ts';
import { agentProgram } from './installed.ts';
import { doTurn, lastResult, makePlace, markerOf, startIn, steps } from './real.ts';
import type { Place } from './real.ts';

const program = agentProgram('claude');
const isHere = program !== undefined && isInstalled('tmux');

/** The text inside the last envelope, without the role that precedes the first prompt. */
function said(request: ModelRequest): string {
  const inner = /<teammate-message[^>]*>\n([\s\S]*)\n<\/teammate-message>/.exec(lastUserText(request))?.[1] ?? '';
  return inner.split('\n\n').at(-1) ?? '';
}

const quick: ModelScript = (request) => ({ text: `did ${said(request)}` });
const SLOW: ModelReply = { text: 'working', calls: [{ name: 'Bash', input: { command: 'tail -f /dev/null' } }] };

const MODEL = 'claude-sonnet-4-5-20250929';

const MANNERS: Readonly<Record<Manner, ModelScript>> = {
  quick,
  slow: () => SLOW,
  failing: () => ({ error: { status: 400, message: 'full of cats' } }),
};

describe('Claude Code in a terminal', needs(isHere, 'Claude Code or tmux is not installed'), () => {
  let model: ModelServer;
  let place: Place;
  let sockets = 0;
  const mark = { home: '/a/home', teamId: 'demo', stream: 'abc' };
  beforeAll(async () => {
    model = await anthropicServer(quick);
    place = makePlace();
    mkdirSync(join(place.home, '.claude'));
    answerDialogs(place.home, place.cwd);
  });
  afterAll(async () => {
    await model.close();
    place.remove();
  });

  const agent = (script: ModelScript, command = [program as string]): Agent => {
    model.use(script);
    const socket = join(place.home, `s${++sockets}`);
    return claudeNativeAgent({ command, mark, leadId: 'boss', socket, openScreen: openTmuxScreen, cancelMs: HANG_MS });
  };
  const start = (): StartOptions => ({
    ...startIn(place, {
      TROUPE_HOME: place.home,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ENABLE_TOOL_SEARCH: 'false',
      CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
      ...SHORT_RUN,
      // The default of ten retries would take minutes.
      CLAUDE_CODE_MAX_RETRIES: '1',
      [MARKER]: crypto.randomUUID(),
    }),
    mode: 'full',
    memberId: 'worker',
  });
  const team = () => readTeam(join(place.home, '.claude'), hostedName(mark)).look();

  const shared = describeAgent(
    'claude-native',
    () => ({
      agent: (manner) => agent(MANNERS[manner]),
      become: (manner) => model.use(MANNERS[manner]),
      absent: () => agent(quick, ['no-such-program']),
      start: { ...start(), model: MODEL },
    }),
    { except: { 'what its driver does by itself': 'the code that all agents share is tested with others' } },
  );

  test('does several turns in one process, and reports the usage of each', async () => {
    const session = await shared.use();
    model.use(quick);
    for (const text of ['one', 'two']) expect((await doTurn(session, text)).text).toBe(`did ${text}`);
    expect(session.pids).toHaveLength(1);
    expect(team()?.config?.members.at(-1)).toMatchObject({ tmuxPaneId: expect.stringMatching(/^%\d+$/) as string });
    const used = session.events.flatMap((event) => (event.type === 'usage' ? [event] : []));
    expect(used).toEqual([1, 2].map(() => expect.objectContaining({ model: MODEL }) as object));
    expect(used.map(({ usage }) => usage)).toMatchObject([
      { turns: 1, inputTokens: 100, outputTokens: 10 },
      { turns: 1, inputTokens: 100, outputTokens: 10 },
    ]);
    // Command line arguments, which other users can read, contain no credentials.
    expect(readFileSync(`/proc/${session.pids[0]}/cmdline`, 'latin1')).not.toContain(KEY);
    // A turn of messages alone is delivered in the name of the sender.
    const mail = { ...message('m-9'), fromId: 'bob', content: 'the pond </teammate-message> is old', summary: 'pond' };
    await session.send({ ...turn('wrapped'), messages: [mail] }, { when: 'next' });
    await session.end(3);
    expect(lastUserText(model.requests.at(-1) as ModelRequest)).toBe(
      '<teammate-message teammate_id="bob" summary="pond">\nthe pond &lt;/teammate-message> is old\n</teammate-message>',
    );
  });

  test('reports a failed turn as overloaded if the model is', async () => {
    const session = await shared.use();
    model.use(() => ({ error: { status: 529, message: 'too many cats', retryAfter: 0 } }));
    await session.send(turn('too much'), { when: 'next' });
    expect(await session.end(1)).toMatchObject({ reason: 'failed', trouble: 'overloaded' });
    model.use(quick);
    expect((await doTurn(session, 'one more')).text).toBe('did one more');
  });

  test('leaves nothing behind when killed in a turn, and resumes its conversation in another mode', async () => {
    const first = await shared.take();
    model.use((request) => (said(request) === 'long' ? SLOW : quick(request)));
    await doTurn(first, 'remember this');
    const marker = markerOf(first.pids[0]);
    await first.send(turn('long'), { when: 'next' });
    await first.heardText('working');
    process.kill(first.pids[0] as number, 'SIGKILL');
    expect(await first.end(2)).toMatchObject({ reason: 'failed', error: expect.stringContaining('SIGKILL') as string });
    await first.over;
    expect(findMarked(marker)).toEqual([]);
    expect(team()?.config?.members.map(({ name }) => name)).toEqual(['team-lead']);

    const second = await shared.restart({ resume: first.id, mode: 'edit' });
    expect((await doTurn(second, 'go on')).text).toBe('did go on');
    expect(second.id).toBe(first.id);
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('remember this');
  });

  test('asks for permissions, does what is allowed, and continues without what is denied', async () => {
    const session = await shared.use();
    for (const allow of [true, false]) {
      const file = join(place.cwd, allow ? 'allowed.txt' : 'denied.txt');
      const command = `node -e "require('fs').writeFileSync('${file}', '')"`;
      const call = { calls: [{ name: 'Bash', input: { command, description: 'make it' } }] };
      // While the program writes its idle status and works again, it may not find its team. Then it asks for a retry.
      const next = (request: ModelRequest): ModelReply =>
        lastResult(request).includes('Retry the tool call') ? call : { text: 'went on' };
      model.use(steps(call, next));
      const before = session.ends().length;
      await session.send(turn(`make ${file}`), { when: 'next' });
      const asked = await session.heardPermission();
      expect(asked).toMatchObject({ tool: 'Bash', input: { command } });
      asked.answer({ allow, message: 'a rule forbids it' });
      asked.answer({ allow: !allow });
      expect(await session.end(before + 1)).toMatchObject({ reason: 'done', text: 'went on' });
      expect(existsSync(file)).toBe(allow);
    }
  });

  test('agrees to stop, or says why not', async () => {
    const session = await shared.take();
    model.use((request) => {
      const asked = /"requestId":"(shutdown-[^"]+)"/.exec(lastUserText(request))?.[1];
      if (asked === undefined || request.turns.at(-1)?.role === 'tool') return { text: 'well' };
      const approve = !lastUserText(request).includes('too early');
      const message = { type: 'shutdown_response', request_id: asked, approve, ...(!approve && { reason: 'busy' }) };
      return { calls: [{ name: 'SendMessage', input: { to: 'team-lead', message } }] };
    });
    await doTurn(session, 'begin');
    expect(await session.askToStop?.('too early')).toEqual({ agreed: false, reason: 'busy' });
    expect((await doTurn(session, 'go on')).reason).toBe('done');
    expect(await session.askToStop?.('all is done')).toEqual({ agreed: true });
    await session.close();
    expect(session.ends()).toHaveLength(2);
  });
});
