import { afterAll, onTestFailed, onTestFinished } from 'vitest';
import type { AgentSession, StartOptions } from '../../src/agents/agent.ts';
import { listen } from './heard.ts';
import type { Heard } from './heard.ts';

/** A session, and the processes that it reported. */
export type Started = Heard & { readonly pids: readonly number[] };

/**
 * One session for all tests of a suite that only need a started session. Starting a real agent takes up to 5 s of
 * processor time. The first test that uses the session starts it. After a failed test the next one gets a new session
 * of this kind.
 */
export class SharedSession {
  readonly #start: (more: Partial<StartOptions>) => Promise<AgentSession>;
  #current: Promise<Started> | undefined;
  #earlier: string | undefined;
  #more: Partial<StartOptions> = {};

  /** Construct it inside `describe`: the session is closed after the last test of that suite. */
  constructor(start: (more: Partial<StartOptions>) => Promise<AgentSession>) {
    this.#start = start;
    afterAll(() => this.close());
  }

  /** The id of the session that was closed last, to be resumed. */
  get earlier(): string | undefined {
    return this.#earlier;
  }

  /** The session, without the events of earlier tests. */
  async use(): Promise<Started> {
    onTestFailed(() => this.close());
    const session = await (this.#current ??= this.#open(this.#more));
    return { ...session.fromNow(), pids: session.pids };
  }

  /** The session, which now belongs to this test alone. The test may end it. */
  async take(): Promise<Started> {
    const session = await this.use();
    this.#current = undefined;
    this.#earlier = session.id;
    onTestFinished(() => end(session));
    return session;
  }

  /** Ends the session and starts another with additional options. */
  async restart(more: Partial<StartOptions>): Promise<Started> {
    await this.close();
    const { resume: _resume, ...kind } = more;
    this.#more = kind;
    this.#current = this.#open(more);
    return this.use();
  }

  async close(): Promise<void> {
    const session = await this.#current?.catch(() => undefined);
    this.#current = undefined;
    if (session) this.#earlier = session.id;
    if (session) await end(session);
  }

  async #open(more: Partial<StartOptions>): Promise<Started> {
    const pids: number[] = [];
    const session = await this.#start({ ...more, onProcess: (pid) => pids.push(pid) });
    return { ...listen(session), pids };
  }
}

async function end(session: Heard): Promise<void> {
  await session.close();
  await session.over;
}
