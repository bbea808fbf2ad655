import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Agent, StartOptions } from '../../src/agents/agent.ts';
import { findMarked } from '../../src/agents/process.ts';
import type { Usage } from '../../src/core/usage.ts';
import { message, turn } from '../contracts/agent.ts';
import type { Heard } from '../contracts/agent.ts';
import type { ModelReply, ModelRequest, ModelServer } from '../models/script.ts';
import { lastUserText } from '../models/script.ts';
import { doTurn, open, SLOW, steps, testPlace } from './real.ts';
import type { Place } from './real.ts';
import { startTeam } from './team.ts';

type Call = NonNullable<ModelReply['calls']>[number];

/** A real agent with a scripted model. */
export interface Rig {
  model(): ModelServer;
  agent(): Agent;
  start(place: Place): StartOptions;
  /** How its model runs a command that it has to ask for in edit mode. */
  shell(command: string): Call;
  /** How its model writes a file. */
  write(path: string): Call;
  /** What it makes of a call to the model that took 500 tokens, 100 more from the cache where they are told apart, and gave 20. */
  readonly used: Partial<Usage>;
  /** In plan mode it has only those tools of its team that change nothing. */
  readonly onlyReadsInPlan?: boolean;
  /** Makes its sessions look as if they had begun a while ago. */
  age?(place: Place): void;
}

/** What every agent does with a real program behind it, besides the contract. */
export function describeDriven(rig: Rig): void {
  const openIn = (place: Place, more: Partial<StartOptions> = {}): Promise<Heard> =>
    open(rig.agent().start({ ...rig.start(place), ...more }));

  test('several turns in one process know each other, and tell what each used', async () => {
    const pids: number[] = [];
    const session = await openIn(testPlace(), { onProcess: (pid) => pids.push(pid) });
    const usage = { input: 500, output: 20, cached: 100 };
    rig.model().use((request) => ({ text: `did ${lastUserText(request)}`, usage }));
    for (const text of ['one', 'two', 'three']) expect((await doTurn(session, text)).text).toBe(`did ${text}`);
    expect(pids).toHaveLength(1);
    expect(userTexts(rig.model())).toEqual(['one', 'two', 'three']);
    expect(everything(rig.model())).toContain('You are worker on the team demo.');
    const used = session.events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
    expect(used).toEqual(Array.from({ length: 3 }, () => expect.objectContaining({ turns: 1, ...rig.used }) as Usage));
  });

  test('uses the tools of its team in its own name, and keeps its credential to itself', async () => {
    const place = testPlace();
    const { client, tools, token } = await startTeam();
    const pids: number[] = [];
    const session = await openIn(place, { tools, mode: 'edit', onProcess: (pid) => pids.push(pid) });
    rig.model().use(steps(createTask, (request) => ({ text: `the tool said ${request.turns.at(-1)?.text}` })));
    const end = await doTurn(session, 'make a task');
    expect(end).toMatchObject({ reason: 'done', text: expect.stringContaining('Made by the model') as string });
    expect(await client.call('task.list', { teamId: 'demo' })).toMatchObject([{ title: 'Made by the model' }]);
    const batches = await client.call('event.list', { teamId: 'demo' });
    expect(JSON.stringify(batches)).toMatch(/"task:created".*"worker"|"worker".*"task:created"/s);
    expect(session.events.some(({ type }) => type === 'permission')).toBe(false);
    expect(readFileSync(`/proc/${pids[0]}/cmdline`, 'latin1')).not.toContain(token);
    await session.close();
    expect(filesWith(place.home, token)).toEqual([]);
  });

  test('has a message in mid-turn, and its model shows it', async (context) => {
    context.skip(!rig.agent().abilities.steer, 'a running turn of it cannot be reached');
    const session = await openIn(testPlace());
    rig.model().use((request) => (lastUserText(request).includes('beside') ? { text: 'seen' } : SHORT));
    await session.send(turn('long'), { when: 'next' });
    await session.heardText('working');
    const beside = { ...turn('beside'), messages: [message('m-7')] };
    expect(await session.send(beside, { when: 'steer' })).toBe('injected');
    expect(await session.end(1)).toMatchObject({ reason: 'done', text: 'seen' });
    expect(session.events).toContainEqual({ type: 'shown', messageIds: ['m-7'] });
    expect(userTexts(rig.model())).toEqual(['long', 'beside']);
  });

  test('does what was allowed, and goes on without what was not', async () => {
    const place = testPlace();
    const session = await openIn(place, { mode: 'edit' });
    for (const allow of [true, false]) {
      const file = allow ? 'allowed.txt' : 'denied.txt';
      const script = steps({ calls: [rig.shell(`touch ${file}`)] }, { text: 'went on' });
      // An agent that ends its turn when it is refused something is told to go on.
      rig
        .model()
        .use((request) => (lastUserText(request).includes('not allowed') ? { text: 'went on' } : script(request)));
      const before = session.ends().length;
      await session.send(turn(`make ${file}`), { when: 'next' });
      const asked = await session.heardPermission();
      expect(asked).toMatchObject({ tool: 'shell' });
      // Rules of people are about the command itself, not about the shell that runs it.
      expect(asked.input).toMatchObject({ command: `touch ${file}` });
      asked.answer({ allow });
      asked.answer({ allow: !allow });
      expect(await session.end(before + 1)).toMatchObject({ reason: 'done', text: 'went on' });
    }
    expect(place.files()).toEqual(['allowed.txt']);
  });

  test('killed in mid-turn, it is resumed where it was', async () => {
    const place = testPlace();
    const pids: number[] = [];
    const marker = crypto.randomUUID();
    const started = rig.start(place);
    const env = { ...started.env, TROUPE_PROCESS: marker };
    const first = await openIn(place, { env, onProcess: (pid) => pids.push(pid) });
    rig.model().use((request) => (lastUserText(request) === 'long' ? SLOW : { text: `did ${lastUserText(request)}` }));
    await doTurn(first, 'remember this');
    await first.send(turn('long'), { when: 'next' });
    await first.heardText('working');
    process.kill(pids[0] as number, 'SIGKILL');
    expect(await first.end(2)).toMatchObject({ reason: 'failed', error: expect.stringContaining('SIGKILL') as string });
    await first.over;
    expect(findMarked(marker)).toEqual([]);
    rig.age?.(place);
    const second = await openIn(place, { resume: first.id });
    expect(second.id).toBe(first.id);
    expect(await doTurn(second, 'go on')).toMatchObject({ reason: 'done', text: 'did go on' });
    expect(userTexts(rig.model())).toEqual(expect.arrayContaining(['remember this', 'go on']));
  });

  test.for(['plan', 'delegate'] as const)('has the tools of its team in %s mode, and changes nothing', async (mode) => {
    const place = testPlace();
    const { client, tools } = await startTeam();
    const session = await openIn(place, { mode, tools });
    const file = join(place.cwd, 'forbidden.txt');
    const calls = [createTask, { calls: [rig.write(file)] }, { calls: [rig.shell(`touch ${file}`)] }];
    const script = steps(...calls, { text: 'gave up' });
    rig
      .model()
      .use((request) => (lastUserText(request).includes('not allowed') ? { text: 'gave up' } : script(request)));
    expect(await doTurn(session, 'change something')).toMatchObject({ reason: 'done', text: 'gave up' });
    expect(place.files()).toEqual([]);
    const only = mode === 'plan' && rig.onlyReadsInPlan;
    const made = only ? [] : [{ title: 'Made by the model' }];
    expect(await client.call('task.list', { teamId: 'demo' })).toMatchObject(made);
    expect(session.events.some(({ type }) => type === 'permission')).toBe(false);
  });
}

/** The model makes a task with the tools of its team, by whatever name it has them. */
function createTask(request: ModelRequest): ModelReply {
  const name = request.tools.find((tool) => tool.endsWith('TaskCreate')) ?? 'no such tool';
  return { calls: [{ name, input: { subject: 'Made by the model', description: 'all of it' } }] };
}

/** Long enough to be reached while it runs, and short enough to be waited for. */
const SHORT: ModelReply = { text: `working\n${'.'.repeat(20)}`, slow: { pieces: 20, everyMs: 100 } };

/** What the user said in the last request of the conversation. */
function userTexts({ requests }: ModelServer): string[] {
  const turns = requests.at(-1)?.turns ?? [];
  return turns.flatMap(({ role, text }) => (role === 'user' && !text.startsWith('You are worker') ? [text] : []));
}

/** All that the model was told in the last request. */
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
