import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Agent, StartOptions } from '../../src/agents/agent.ts';
import { findMarked } from '../../src/agents/process.ts';
import type { Trouble } from '../../src/core/trouble.ts';
import type { Usage } from '../../src/core/usage.ts';
import { describeAgent, message, turn } from '../contracts/agent.ts';
import type { Heard } from '../contracts/agent.ts';
import type { SharedSession } from '../contracts/shared-session.ts';
import type { ModelReply, ModelRequest, ModelServer } from '../models/script.ts';
import { lastUserText } from '../models/script.ts';
import { expectExtras, WHISPERS } from './extras.ts';
import type { Extras } from './extras.ts';
import { doTurn, MANNERS, markerOf, open, SLOW, steps, workUntil } from './real.ts';
import type { Place } from './real.ts';
import { shareDaemon } from './team.ts';
import type { Team } from './team.ts';

type Call = NonNullable<ModelReply['calls']>[number];

/** A real agent with a scripted model. */
export interface Rig {
  readonly name: string;
  model(): ModelServer;
  agent(): Agent;
  /** An agent whose program does not exist. */
  absent(): Agent;
  /** The place of all sessions of the suite. */
  place(): Place;
  start(): StartOptions;
  /** The tool call for a command that needs permission in edit mode. */
  shell(command: string): Call;
  /** The tool call that writes a file. */
  write(path: string): Call;
  /** Its usage for 500 input tokens, 100 more from the cache if it reports them apart, and 20 output tokens. */
  readonly used: Partial<Usage>;
  /** It tells what a turn has used before it ends. */
  readonly spends?: boolean;
  /** The model's answers for each trouble, in a form that the agent does not retry for long. */
  readonly troubles: Partial<Readonly<Record<Trouble, ModelReply>>>;
  /** Whether it has only read-only tools of its team in plan mode. */
  readonly onlyReadsInPlan?: boolean;
  /** What it is given in edit mode, beside a server of tools of its own. */
  readonly extras: Extras;
  /** Makes its sessions look older. */
  age?(): void;
  /** Tests of this agent alone. They share the session in edit mode: after the last test each would start one of its own. */
  more?(shared: SharedSession): void;
}

/**
 * The contract for an agent with a real program, and more tests of such agents. The program starts four times: in full
 * mode; in edit mode and in plan mode, which resume that session; in delegate mode, with a new session.
 */
export function describeDriven(rig: Rig): void {
  const teams = shareDaemon();
  let team: Team | undefined;
  const shared = describeAgent(rig.name, () => ({
    agent: () => rig.agent(),
    become: (manner) => rig.model().use(MANNERS[manner]),
    absent: () => rig.absent(),
    start: rig.start(),
    async beforeResume() {
      rig.age?.();
      team = await teams.make();
      return { mode: 'edit', tools: team.tools, ...WHISPERS, ...rig.extras.start };
    },
  }));
  /** Returns a function that lists the files made since. */
  const newFiles = (): (() => string[]) => {
    const before = new Set(rig.place().files());
    return () =>
      rig
        .place()
        .files()
        .filter((file) => !before.has(file));
  };

  test('does several turns in one process, and reports the usage of each', async () => {
    const session = await shared.use();
    const usage = { input: 500, output: 20, cached: 100 };
    rig.model().use((request) => ({ text: `did ${lastUserText(request)}`, usage }));
    for (const text of ['one', 'two', 'three']) expect((await doTurn(session, text)).text).toBe(`did ${text}`);
    expect(session.pids).toHaveLength(1);
    expect(userTexts(rig.model()).slice(-3)).toEqual(['one', 'two', 'three']);
    expect(everything(rig.model())).toContain('You are worker on the team demo.');
    const used = session.events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
    expect(used).toEqual(Array.from({ length: 3 }, () => expect.objectContaining({ turns: 1, ...rig.used }) as Usage));
    const spent = session.events.flatMap((event) => (event.type === 'spending' ? [event.usage] : []));
    expect(spent).toMatchObject(rig.spends ? used.map((each) => ({ ...each, turns: 0 })) : []);
  });

  test('says why a turn failed that its model refused, and does the next', async () => {
    const session = await shared.use();
    const ends: Record<string, unknown> = {};
    for (const [trouble, reply] of Object.entries(rig.troubles)) {
      rig.model().use(() => reply);
      ends[trouble] = await doTurn(session, `too much: ${trouble}`);
    }
    const expected = Object.keys(rig.troubles).map((trouble) => [trouble, { reason: 'failed', trouble }]);
    expect(ends).toMatchObject(Object.fromEntries(expected));
    rig.model().use((request) => ({ text: `did ${lastUserText(request)}` }));
    expect(await doTurn(session, 'one more')).toMatchObject({ reason: 'done', text: 'did one more' });
  });

  test('gets a message during a turn, and its model sees it', async (context) => {
    context.skip(!rig.agent().abilities.steer, 'a running turn of it cannot be reached');
    const session = await shared.use();
    const reached = Promise.withResolvers<void>();
    // The model works until the message has been sent.
    rig.model().use(({ turns }) => {
      const sinceThen = turns.slice(turns.findLastIndex(({ text }) => text === 'long'));
      return sinceThen.some(({ text }) => text.includes('beside')) ? { text: 'seen' } : workUntil(reached.promise);
    });
    await session.send(turn('long'), { when: 'next' });
    await session.heardText('working');
    const beside = { ...turn('beside'), messages: [message('m-7')] };
    expect(await session.send(beside, { when: 'steer' })).toBe('injected');
    reached.resolve();
    expect(await session.end(1)).toMatchObject({ reason: 'done', text: 'seen' });
    expect(session.events).toContainEqual({ type: 'shown', messageIds: ['m-7'] });
    // An agent that ended its turn just before the message gets a prompt to read it.
    const texts = userTexts(rig.model());
    expect(texts.slice(texts.lastIndexOf('long')).slice(0, 2)).toEqual(['long', 'beside']);
  });

  test('does what is allowed, and continues without what is denied', async () => {
    const session = await shared.use();
    const made = newFiles();
    for (const allow of [true, false]) {
      const file = allow ? 'allowed.txt' : 'denied.txt';
      const script = steps({ calls: [rig.shell(`touch ${file}`)] }, { text: 'went on' });
      // An agent that ends its turn after a refusal gets a prompt to continue.
      rig
        .model()
        .use((request) => (lastUserText(request).includes('not allowed') ? { text: 'went on' } : script(request)));
      const before = session.ends().length;
      await session.send(turn(`make ${file}`), { when: 'next' });
      const asked = await session.heardPermission();
      expect(asked).toMatchObject({ tool: 'shell' });
      // Permission rules match the command itself, not the shell that runs it.
      expect(asked.input).toMatchObject({ command: `touch ${file}` });
      asked.answer({ allow });
      asked.answer({ allow: !allow });
      expect(await session.end(before + 1)).toMatchObject({ reason: 'done', text: 'went on' });
    }
    expect(made()).toEqual(['allowed.txt']);
  });

  test('uses the tools of its team in its own name, with no credential on its command line', async () => {
    const session = await shared.use();
    const { id: teamId, client, token } = team as Team;
    rig.model().use(steps(createTask, (request) => ({ text: `the tool said ${request.turns.at(-1)?.text}` })));
    const end = await doTurn(session, 'make a task');
    expect(end).toMatchObject({ reason: 'done', text: expect.stringContaining('Made by the model') as string });
    expect(await client.call('task.list', { teamId })).toMatchObject([{ title: 'Made by the model' }]);
    const batches = await client.call('event.list', { teamId });
    expect(JSON.stringify(batches)).toMatch(/"task:created".*"worker"|"worker".*"task:created"/s);
    expect(session.events.some(({ type }) => type === 'permission')).toBe(false);
    expect(readFileSync(`/proc/${session.pids[0]}/cmdline`, 'latin1')).not.toContain(token);
  });

  test('has the server of tools that it was given, the effort, and not the tools that were taken away', async () => {
    await expectExtras(await shared.use(), rig.model(), rig.extras);
  });

  rig.more?.(shared);

  /** Makes it try all kinds of changes, in a mode in which only team tools can change something. */
  const changesNothing = async (session: Heard, mode: 'plan' | 'delegate', { id: teamId, client }: Team) => {
    const made = newFiles();
    const before = session.events.length;
    const file = join(rig.place().cwd, `${mode}.txt`);
    const calls = [createTask, { calls: [rig.write(file)] }, { calls: [rig.shell(`touch ${file}`)] }];
    const script = steps(...calls, { text: 'gave up' });
    rig
      .model()
      .use((request) => (lastUserText(request).includes('not allowed') ? { text: 'gave up' } : script(request)));
    expect(await doTurn(session, 'change something')).toMatchObject({ reason: 'done', text: 'gave up' });
    expect(made()).toEqual([]);
    const only = mode === 'plan' && rig.onlyReadsInPlan;
    const tasks = only ? [] : [{ title: 'Made by the model' }];
    expect(await client.call('task.list', { teamId })).toMatchObject(tasks);
    expect(session.events.slice(before).some(({ type }) => type === 'permission')).toBe(false);
  };

  test('killed in a turn, resumes its conversation in plan mode, and changes nothing except through team tools', async () => {
    const first = await shared.take();
    const marker = markerOf(first.pids[0]);
    rig.model().use((request) => (lastUserText(request) === 'long' ? SLOW : { text: `did ${lastUserText(request)}` }));
    await doTurn(first, 'remember this');
    await first.send(turn('long'), { when: 'next' });
    await first.heardText('working');
    process.kill(first.pids[0] as number, 'SIGKILL');
    expect(await first.end(2)).toMatchObject({ reason: 'failed', error: expect.stringContaining('SIGKILL') as string });
    await first.over;
    expect(findMarked(marker)).toEqual([]);
    rig.age?.();
    const next = await teams.make();
    const second = await shared.restart({ resume: first.id, mode: 'plan', tools: next.tools });
    expect(second.id).toBe(first.id);
    await second.send({ ...turn('go on'), messages: [message('m-8')] }, { when: 'next' });
    expect(await second.end(1)).toMatchObject({ reason: 'done', text: 'did go on' });
    expect(second.events).toContainEqual({ type: 'shown', messageIds: ['m-8'] });
    expect(userTexts(rig.model())).toEqual(expect.arrayContaining(['remember this', 'go on']));
    await changesNothing(second, 'plan', next);
    await shared.close();
    // It stored no credential in its home.
    expect([team, next].flatMap((one) => filesWith(rig.place().home, (one as Team).token))).toEqual([]);
  });

  test('has the tools of its team in delegate mode, and changes nothing else', async () => {
    const other = await teams.make();
    const session = await open(rig.agent().start({ ...rig.start(), mode: 'delegate', tools: other.tools }));
    // Without a session to resume it starts a new one.
    expect(session.id).not.toBe(shared.earlier);
    await changesNothing(session, 'delegate', other);
  });
}

/** Creates a task with the team's tool, whatever its prefix. */
function createTask(request: ModelRequest): ModelReply {
  const name = request.tools.find((tool) => tool.endsWith('TaskCreate')) ?? 'no such tool';
  return { calls: [{ name, input: { subject: 'Made by the model', description: 'all of it' } }] };
}

/** The user's texts in the last request of the conversation. */
function userTexts({ requests }: ModelServer): string[] {
  const turns = requests.at(-1)?.turns ?? [];
  return turns.flatMap(({ role, text }) => (role === 'user' && !text.startsWith('You are worker') ? [text] : []));
}

/** All text of the last request to the model. */
function everything({ requests }: ModelServer): string {
  const last = requests.at(-1);
  return [last?.system, ...(last?.turns ?? []).map(({ text }) => text)].join('\n');
}

function filesWith(folder: string, secret: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(secret));
}
