import { describe, expect, onTestFinished, test } from 'vitest';
import type {
  Agent,
  AgentEvent,
  AgentSession,
  MessageJson,
  Permission,
  StartOptions,
  Turn,
} from '../../src/agents/agent.ts';
import { isThere } from '../../src/agents/process.ts';

/** Agents of one kind that behave in a known way. */
export interface AgentKit {
  /** Answers each turn at once with `did ` and the turn's text. */
  quick(): Agent;
  /** Says `working`, then works until it is cancelled. */
  slow(): Agent;
  /** Fails each turn; the reason says `full of cats`. */
  failing(): Agent;
  /** One that cannot be run at all, where that can be. */
  absent?(): Agent;
  /** The id of a session of an earlier process, where not every id will do. */
  earlier?(): Promise<string>;
  start?: Partial<StartOptions>;
}

/** Sentences of the contract that do not hold for every kind; a kind that is excepted says why. */
export type Sentence =
  | 'tells its processes'
  | 'gets the whole environment'
  | 'rejects what cannot be run'
  /** The order of turns, early events and the like: code that all agents of a kind share. */
  | 'what its driver does by itself';

/** Real agents on a busy machine take their time; a test that waits in vain is ended by its own limit. */
const TURN_MS = 60_000;

/** Checks every sentence of the port's contract on an adapter. */
export function describeAgent(
  name: string,
  makeKit: () => AgentKit,
  { except = {} }: { except?: Partial<Record<Sentence, string>> } = {},
): void {
  const testUnless = (sentence: Sentence, title: string, run: () => Promise<void>): void => {
    const reason = except[sentence];
    test(title, async (context) => {
      context.skip(reason !== undefined, `${name}: ${reason}`);
      await run();
    });
  };
  const open = async (which: 'quick' | 'slow' | 'failing', more: Partial<StartOptions> = {}): Promise<Heard> => {
    const kit = makeKit();
    return hear(await kit[which]().start({ ...defaultStart(), ...kit.start, ...more }));
  };

  describe(`${name}: a turn`, () => {
    test('ends once, with what it produced', async () => {
      const session = await open('quick');
      expect(await session.send(turn('the first'), { when: 'next' })).toBe('queued');
      expect(await session.end(1)).toMatchObject({ type: 'turnEnd', reason: 'done', text: 'did the first' });
      await session.close();
      expect(session.ends()).toHaveLength(1);
    });

    test('that the agent fails is told as failed with the reason, and the next one is done', async () => {
      const session = await open('failing');
      await session.send(turn('one'), { when: 'next' });
      const end = await session.end(1);
      expect(end).toMatchObject({ type: 'turnEnd', reason: 'failed' });
      expect(end.error).toContain('full of cats');
      await session.send(turn('two'), { when: 'next' });
      expect(await session.end(2)).toMatchObject({ reason: 'failed' });
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
    test('is cancelled by cancel, and the session goes on', async () => {
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

    test('makes way for one that interrupts, which goes before those that wait', async () => {
      const session = await open('slow');
      const { abilities } = makeKit().slow();
      await session.send(turn('long'), { when: 'next' });
      await session.heardText('working');
      await session.send(turn('waits'), { when: 'next' });
      expect(await session.send(turn('now'), { when: 'interrupt' })).toBe(abilities.interrupt ? 'restarted' : 'queued');
      expect(await session.end(1)).toMatchObject({ reason: 'cancelled' });
    });

    testUnless(
      'what its driver does by itself',
      'takes what should steer it if the agent can, else that is a turn of its own',
      async () => {
        const session = await open('quick');
        const { abilities } = makeKit().quick();
        await session.send(turn('first'), { when: 'next' });
        const sent = await session.send(turn('beside'), { when: 'steer' });
        expect(sent).toBe(abilities.steer ? 'injected' : 'queued');
        await session.end(abilities.steer ? 1 : 2);
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
    testUnless('what its driver does by itself', 'keeps what it told before anybody listened', async () => {
      const kit = makeKit();
      const session = await kit.quick().start({ ...defaultStart(), ...kit.start });
      onTestFinished(() => session.close());
      await session.send(turn('early'), { when: 'next' });
      for await (const event of session.events) if (event.type === 'turnEnd') break;
    });

    test('closed in the middle ends what runs and what waits, and then its events', async () => {
      const session = await open('slow');
      await session.send(turn('long'), { when: 'next' });
      await session.heardText('working');
      await session.send(turn('waits'), { when: 'next' });
      await session.close();
      await session.over;
      expect(session.ends().map(({ reason }) => reason)).toEqual(['cancelled', 'cancelled']);
      await session.close();
    });

    test('goes on under its id where the agent can resume', async () => {
      const resume = (await makeKit().earlier?.()) ?? 'session-1';
      const session = await open('quick', { resume });
      if (makeKit().quick().abilities.resume) expect(session.id).toBe(resume);
      else expect(session.id).not.toBe(resume);
      const other = await open('quick');
      expect(other.id).not.toBe(session.id);
    });

    testUnless('tells its processes', 'tells of each process, and leaves none', async () => {
      const pids: number[] = [];
      const session = await open('slow', { onProcess: (pid) => pids.push(pid) });
      await session.send(turn('long'), { when: 'next' });
      await session.heardText('working');
      expect(pids).toHaveLength(1);
      process.kill(pids[0] as number, 0);
      await session.close();
      // A terminal that has just ended leaves it to another to note the end of what ran in it.
      await expect.poll(() => isThere(pids[0] as number)).toBe(false);
    });

    testUnless('rejects what cannot be run', 'is refused with what is missing when it cannot be run', async () => {
      const kit = makeKit();
      const starting = kit.absent?.().start({ ...defaultStart(), ...kit.start });
      await expect(starting).rejects.toMatchObject({
        name: 'TeamError',
        message: expect.stringContaining('no-such-program') as string,
      });
    });

    testUnless('gets the whole environment', 'gets the environment it was given and nothing else', async () => {
      process.env['TROUPE_TEST_SECRET'] = 'ours';
      onTestFinished(() => void delete process.env['TROUPE_TEST_SECRET']);
      const { environ, session } = await environmentOf(makeKit());
      expect(environ).toContain('GIVEN=yes');
      expect(environ.join('\n')).not.toContain('TROUPE_TEST_SECRET');
      await session.close();
    });
  });

  async function environmentOf(kit: AgentKit): Promise<{ environ: string[]; session: Heard }> {
    const { readFileSync } = await import('node:fs');
    const start = { ...defaultStart(), ...kit.start };
    const pids: number[] = [];
    const env = { ...start.env, GIVEN: 'yes' };
    const session = hear(await kit.slow().start({ ...start, env, onProcess: (pid) => pids.push(pid) }));
    await session.send(turn('long'), { when: 'next' });
    await session.heardText('working');
    return { environ: readFileSync(`/proc/${pids[0]}/environ`, 'utf8').split('\0'), session };
  }
}

type TurnEnd = Extract<AgentEvent, { type: 'turnEnd' }>;

/** A session with somebody who listens and remembers. */
export interface Heard extends Omit<AgentSession, 'events'> {
  readonly events: readonly AgentEvent[];
  /** Resolves when the events have ended. */
  readonly over: Promise<void>;
  ends(): TurnEnd[];
  /** Resolves with the n-th end of a turn. */
  end(n: number): Promise<TurnEnd>;
  /** Resolves when it has said this so many times. */
  heardText(text: string, times?: number): Promise<void>;
  /** Resolves with the next permission that it asks for, each once. */
  heardPermission(): Promise<Permission>;
}

/** Listens to a session; it is closed when the test ends. */
export function hear(session: AgentSession): Heard {
  const events: AgentEvent[] = [];
  const ended: TurnEnd[] = [];
  const asked: Permission[] = [];
  let wake = (): void => {};
  const over = (async () => {
    for await (const event of session.events) {
      events.push(event);
      if (event.type === 'turnEnd') ended.push(event);
      if (event.type === 'permission') asked.push(event);
      wake();
    }
  })();
  onTestFinished(async () => {
    await session.close();
    await over;
  });
  const until = async <T>(what: string, find: () => T | undefined): Promise<T> => {
    const timeout = setTimeout(() => wake(), TURN_MS);
    const giveUp = performance.now() + TURN_MS;
    for (;;) {
      const found = find();
      if (found !== undefined) return (clearTimeout(timeout), found);
      if (performance.now() >= giveUp) {
        throw new Error(`Never heard ${what}: ${JSON.stringify(events).slice(0, 2_000)}`);
      }
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return {
    id: session.id,
    events,
    over,
    ends: () => ended,
    end: (n) => until(`end ${n}`, () => ended[n - 1]),
    // A model's words come in pieces, cut anywhere.
    heardText: (text, times = 1) =>
      until(text, () => {
        const said = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
        return said.split(text).length > times ? true : undefined;
      }).then(() => undefined),
    heardPermission: () => until('a permission', () => asked.shift()),
    send: (turn, options) => session.send(turn, options),
    cancel: () => session.cancel(),
    ...(session.askToStop && { askToStop: async (reason) => (await session.askToStop?.(reason)) ?? { agreed: true } }),
    close: () => session.close(),
  };
}

/** A turn that is only a text. */
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

/** Where an agent of a test runs: here, with what programs need to be found. */
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
