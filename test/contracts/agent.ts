import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Agent, MessageJson, StartOptions, Turn } from '../../src/agents/agent.ts';
import { isThere } from '../../src/agents/process.ts';
import { hear } from './heard.ts';
import { SharedSession } from './shared-session.ts';
import type { Started } from './shared-session.ts';

export { hear } from './heard.ts';
export type { Heard } from './heard.ts';

/**
 * How a test's agent does its turns. `quick` answers at once with `did ` and the turn's text; `slow` says `working` and
 * works until it is cancelled; `failing` fails with an error that contains `full of cats`.
 */
export type Manner = 'quick' | 'slow' | 'failing';

/** Agents of one kind that behave in a known way. */
export interface AgentKit {
  agent(manner: Manner): Agent;
  /** Changes the manner of running sessions. With it most tests share one session, else each test starts its own. */
  become?(manner: Manner): void;
  /** An agent that cannot be run, if this kind can have one. */
  absent?(): Agent;
  /** The id of a session of an earlier process: for kinds that share no session and do not accept every id. */
  earlier?(): string;
  /** Called before a session of an earlier process is resumed; may return more start options. */
  beforeResume?(): Promise<Partial<StartOptions>>;
  start?: Partial<StartOptions>;
}

/** Sentences of the contract that do not hold for every kind. A kind gives a reason for each exception. */
export type Sentence =
  | 'tells its processes'
  | 'rejects what cannot be run'
  /** The order of turns, early events and similar: code that all agents of a kind share. */
  | 'what its driver does by itself';

const SECRET = 'TROUPE_TEST_SECRET';

/** Checks every sentence of the port's contract on an adapter. Returns the shared session, for use in other tests. */
export function describeAgent(
  name: string,
  makeKit: () => AgentKit,
  { except = {} }: { except?: Partial<Record<Sentence, string>> } = {},
): SharedSession {
  const testUnless = (sentence: Sentence, title: string, run: () => Promise<void>): void => {
    const reason = except[sentence];
    test(title, async (context) => {
      context.skip(reason !== undefined, `${name}: ${reason}`);
      await run();
    });
  };
  const startOptions = (more: Partial<StartOptions> = {}): StartOptions => {
    const options = { ...defaultStart(), ...makeKit().start };
    return { ...options, env: { ...options.env, GIVEN: 'yes' }, ...more };
  };
  const shared = new SharedSession((more) => makeKit().agent('quick').start(startOptions(more)));
  const openAlone = async (manner: Manner, more: Partial<StartOptions> = {}): Promise<Started> => {
    const pids: number[] = [];
    const options = startOptions({ ...more, onProcess: (pid) => pids.push(pid) });
    return { ...hear(await makeKit().agent(manner).start(options)), pids };
  };
  /** A session with this manner: the shared one, if possible. */
  const open = async (manner: Manner): Promise<Started> => {
    const kit = makeKit();
    if (!kit.become) return openAlone(manner);
    const session = await shared.use();
    kit.become(manner);
    return session;
  };
  /** A session that the test may end. */
  const take = async (manner: Manner): Promise<Started> => {
    const kit = makeKit();
    if (!kit.become) return openAlone(manner);
    const session = await shared.take();
    kit.become(manner);
    return session;
  };

  beforeAll(() => void (process.env[SECRET] = 'ours'));
  afterAll(() => void delete process.env[SECRET]);

  describe(`${name}: a turn`, () => {
    test('ends once, with what it produced', async () => {
      const session = await open('quick');
      for (const [at, text] of ['the first', 'the second'].entries()) {
        expect(await session.send(turn(text), { when: 'next' })).toBe('queued');
        expect(await session.end(at + 1)).toMatchObject({ type: 'turnEnd', reason: 'done', text: `did ${text}` });
        // The turn ended only once.
        expect(session.ends()).toHaveLength(at + 1);
      }
    });

    test('that fails is reported as failed with the reason, and the next turn works', async () => {
      const session = await open('failing');
      await session.send(turn('one'), { when: 'next' });
      const end = await session.end(1);
      expect(end).toMatchObject({ type: 'turnEnd', reason: 'failed' });
      expect(end.error).toContain('full of cats');
      const kit = makeKit();
      kit.become?.('quick');
      await session.send(turn('two'), { when: 'next' });
      expect(await session.end(2)).toMatchObject(
        kit.become ? { reason: 'done', text: 'did two' } : { reason: 'failed' },
      );
    });

    test('shows its messages before it ends', async () => {
      const session = await open('quick');
      const messages = ['m-1', 'm-2'].map((id) => message(id));
      await session.send({ ...turn('read'), messages }, { when: 'next' });
      await session.end(1);
      const kinds = session.events.map(({ type }) => type);
      expect(session.events.flatMap((event) => (event.type === 'shown' ? event.messageIds : []))).toEqual([
        'm-1',
        'm-2',
      ]);
      expect(kinds.indexOf('shown')).toBeLessThan(kinds.indexOf('turnEnd'));
    });

    testUnless(
      'what its driver does by itself',
      'that comes while another runs waits; all are done in order, one end each',
      async () => {
        const session = await open('quick');
        const sent = await Promise.all(['a', 'b', 'c'].map((text) => session.send(turn(text), { when: 'next' })));
        expect(sent).toEqual(['queued', 'queued', 'queued']);
        await session.end(3);
        expect(session.ends().map(({ text }) => text)).toEqual(['did a', 'did b', 'did c']);
      },
    );
  });

  describe(`${name}: a running turn`, () => {
    test('is cancelled by cancel, and the session stays usable', async () => {
      const session = await open('slow');
      await session.send(turn('long'), { when: 'next' });
      await session.heardText('working');
      await session.cancel();
      expect(await session.end(1)).toMatchObject({ reason: 'cancelled' });
      await session.send(turn('again'), { when: 'next' });
      await session.heardText('working', 2);
      await session.cancel();
      expect(await session.end(2)).toMatchObject({ reason: 'cancelled' });
    });

    test('is cancelled for an interrupting turn, which runs before the queued ones', async () => {
      const session = await open('slow');
      const kit = makeKit();
      const { abilities } = kit.agent('slow');
      await session.send(turn('long'), { when: 'next' });
      await session.heardText('working');
      await session.send(turn('waits'), { when: 'next' });
      kit.become?.('quick');
      expect(await session.send(turn('now'), { when: 'interrupt' })).toBe(abilities.interrupt ? 'restarted' : 'queued');
      expect(await session.end(1)).toMatchObject({ reason: 'cancelled' });
      if (!kit.become) return;
      await session.end(3);
      expect(session.ends().map(({ text }) => text)).toMatchObject([expect.any(String), 'did now', 'did waits']);
    });

    testUnless(
      'what its driver does by itself',
      'takes what should steer it if the agent can, else that is a turn of its own',
      async () => {
        const session = await open('slow');
        const kit = makeKit();
        const { abilities } = kit.agent('slow');
        await session.send(turn('first'), { when: 'next' });
        await session.heardText('working');
        const sent = await session.send(turn('beside'), { when: 'steer' });
        expect(sent).toBe(abilities.steer ? 'injected' : 'queued');
        kit.become?.('quick');
        await session.cancel();
        expect(await session.end(1)).toMatchObject({ reason: 'cancelled' });
        if (sent === 'injected' || !kit.become) return;
        expect(await session.end(2)).toMatchObject({ text: 'did beside' });
      },
    );

    testUnless('what its driver does by itself', 'does not feel a cancel that comes when nothing runs', async () => {
      const session = await open('quick');
      await session.cancel();
      await session.send(turn('still here'), { when: 'next' });
      expect(await session.end(1)).toMatchObject({ reason: 'done' });
      await session.cancel();
    });
  });

  describe(`${name}: a session`, () => {
    testUnless(
      'tells its processes',
      'tells of each process, which gets the environment it was given and nothing else',
      async () => {
        const session = await open('slow');
        await session.send(turn('long'), { when: 'next' });
        await session.heardText('working');
        expect(session.pids).toHaveLength(1);
        process.kill(session.pids[0] as number, 0);
        const environ = readFileSync(`/proc/${session.pids[0]}/environ`, 'utf8').split('\0');
        expect(environ).toContain('GIVEN=yes');
        expect(environ.join('\n')).not.toContain(SECRET);
        await session.cancel();
      },
    );

    test('cancels running and queued turns on close, ends its events, and leaves no process', async () => {
      const session = await take('slow');
      await session.send(turn('long'), { when: 'next' });
      await session.heardText('working');
      await session.send(turn('waits'), { when: 'next' });
      await session.close();
      await session.over;
      expect(session.ends().map(({ reason }) => reason)).toEqual(['cancelled', 'cancelled']);
      // When a terminal ends, another process reaps what ran in it, which may take a moment.
      for (const pid of session.pids) await expect.poll(() => isThere(pid)).toBe(false);
      await session.close();
    });

    test('resumes under its id if the agent can resume', async () => {
      const kit = makeKit();
      if (!kit.become) {
        const resume = kit.earlier?.() ?? 'session-1';
        const session = await openAlone('quick', { resume });
        if (kit.agent('quick').abilities.resume) expect(session.id).toBe(resume);
        else expect(session.id).not.toBe(resume);
        const other = await openAlone('quick');
        expect(other.id).not.toBe(session.id);
        return;
      }
      if (shared.earlier === undefined) {
        const first = await open('quick');
        await first.send(turn('earlier'), { when: 'next' });
        await first.end(1);
      }
      await shared.close();
      const more = await kit.beforeResume?.();
      const session = await shared.restart({ ...more, resume: shared.earlier });
      expect(session.id).toBe(shared.earlier);
      kit.become('quick');
      await session.send(turn('go on'), { when: 'next' });
      expect(await session.end(1)).toMatchObject({ reason: 'done', text: 'did go on' });
    });

    test('keeps its events until the first listener reads them', async (context) => {
      const kit = makeKit();
      context.skip(kit.become !== undefined, `${name}: its events wait in the same queue as those of a function`);
      const session = await kit.agent('quick').start(startOptions());
      onTestFinished(() => session.close());
      await session.send(turn('early'), { when: 'next' });
      // When this returns the turn has ended, either done or cancelled.
      await session.cancel();
      for await (const event of session.events) if (event.type === 'turnEnd') break;
    });

    testUnless('rejects what cannot be run', 'is refused with what is missing when it cannot be run', async () => {
      const starting = makeKit().absent?.().start(startOptions());
      await expect(starting).rejects.toMatchObject({
        name: 'TeamError',
        message: expect.stringContaining('no-such-program') as string,
      });
    });
  });

  return shared;
}

/** A turn with only a text. */
export function turn(text: string): Turn {
  return { text, messages: [] };
}

/** A message to show. */
export function message(id: string, content = `content of ${id}`): MessageJson {
  return {
    id,
    teamId: 'demo',
    fromId: 'lead',
    toId: 'worker',
    content,
    type: 'direct',
    priority: 'normal',
    timestamp: new Date(0).toISOString(),
    order: 1,
    redeliveries: 0,
  } as unknown as MessageJson;
}

/** Start options for a test's agent: the current folder, and the variables that programs need to be found. */
export function defaultStart(): StartOptions {
  return {
    teamId: 'demo',
    memberId: 'worker',
    cwd: import.meta.dirname,
    env: { PATH: process.env['PATH'] ?? '', TROUPE_TEST_RUN: process.env['TROUPE_TEST_RUN'] ?? '' },
    role: 'teammate',
    mode: 'full',
  };
}
