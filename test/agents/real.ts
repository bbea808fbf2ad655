import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AgentSession, StartOptions } from '../../src/agents/agent.ts';
import { MARKER } from '../../src/agents/process.ts';
import { defaultStart, hear, turn } from '../contracts/agent.ts';
import type { Heard, Manner } from '../contracts/agent.ts';
import type { ModelReply, ModelRequest, ModelScript } from '../models/script.ts';
import { lastUserText } from '../models/script.ts';

/** An agent's own home and work folder; both are removed when the tests of the file are done. */
export interface Place {
  readonly home: string;
  readonly cwd: string;
  /** The files in its work folder. */
  files(): string[];
  remove(): void;
}

/** Makes a place in which an agent finds nothing of ours or of another test. */
export function makePlace(): Place {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-agent-')));
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')];
  for (const path of [home, cwd]) mkdirSync(path);
  return {
    home,
    cwd,
    files: () => readdirSync(cwd),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}

/** Start options for an agent in a place: a clean environment, with the Node that runs the tests. */
export function startIn({ home, cwd }: Place, env: Record<string, string> = {}): StartOptions {
  const base = defaultStart();
  const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
  return { ...base, cwd, role: 'You are worker on the team demo.', env: { ...base.env, PATH, HOME: home, ...env } };
}

/** A reply that says `working`, and ends when the promise resolves. */
export function workUntil(held: Promise<unknown>): ModelReply {
  return { text: 'working\nand done', held };
}

/** A reply that says `working`, and lasts until the agent closes the connection. */
export const SLOW: ModelReply = workUntil(new Promise(() => {}));

/** The manners of the contract, as scripts for a model. */
export const MANNERS: Readonly<Record<Manner, ModelScript>> = {
  quick: (request) => ({ text: `did ${lastUserText(request)}` }),
  slow: () => SLOW,
  failing: () => ({ error: { status: 400, message: 'full of cats' } }),
};

/** A script in steps: the n-th reply since the user's last text, counted by the turns after it. */
export function steps(...replies: readonly (ModelReply | ((request: ModelRequest) => ModelReply))[]): ModelScript {
  return (request) => {
    const at = request.turns.findLastIndex(({ role }) => role === 'user');
    const done = request.turns.slice(at + 1).filter(({ role }) => role === 'tool').length;
    const reply = replies[Math.min(done, replies.length - 1)] ?? {};
    return typeof reply === 'function' ? reply(request) : reply;
  };
}

/** The result of the last tool, as the model got it. */
export function lastResult({ turns }: ModelRequest): string {
  return turns.findLast(({ role }) => role === 'tool')?.text ?? '';
}

/** Runs a turn to its end. */
export async function doTurn(session: Heard, text: string) {
  const before = session.ends().length;
  await session.send(turn(text), { when: 'next' });
  return session.end(before + 1);
}

/** Starts a session that is recorded, and closed when the test ends. */
export async function open(starting: Promise<AgentSession>): Promise<Heard> {
  return hear(await starting);
}

/** The marker that identifies the descendants of a process. */
export function markerOf(pid: number | undefined): string {
  const found = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  return found.find((entry) => entry.startsWith(`${MARKER}=`))?.slice(MARKER.length + 1) ?? 'none';
}

/** A place for the running test alone. */
export function testPlace(): Place {
  const place = makePlace();
  onTestFinished(() => place.remove());
  return place;
}
