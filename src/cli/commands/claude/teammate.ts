import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { findNativeRoot } from '../../../bridge/layout.ts';
import type { Client } from '../../../client/client.ts';
import type { AgentSpec } from '../../../core/agent.ts';
import { openClient } from '../../reach/connect.ts';
import { reportError, Refusal, UsageError } from '../../show/errors.ts';
import { standardScreen } from '../../show/screen.ts';
import { cleanLines } from '../../show/text.ts';
import { print, warn } from '../../show/write.ts';
import { say } from '../member/attach.ts';
import { printTranscript } from '../member/transcript.ts';
import { hasLead } from './stand-in.ts';
import type { Players } from './stand-in.ts';

/** How long one call holds the seat. */
const HOLD_MS = 20_000;

/** The pause between retries. A lost daemon is back, or restarted, after a few. */
const AGAIN_MS = 300;

/** How long a process that was told to end waits for the answer to its goodbye. */
const FAREWELL_MS = 3_000;

/** How often it checks that its lead still runs: a killed lead tells nobody. */
const LEAD_MS = 1_000;

/** Why it ends before its member does, and the exit code. */
interface Ending {
  readonly code: number;
  readonly why: string;
}

/**
 * Runs in the pane that a native lead opened for a teammate that another agent plays. The daemon runs the agent. This
 * program holds its seat, shows what it does, and sends what is typed. When it ends, the member ends too.
 */
export async function runNativeTeammate([, file = '', ...words]: readonly string[]): Promise<number> {
  const stop = new AbortController();
  const end = (ending: Ending): void => stop.abort(ending);
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.once(signal, () => end({ code, why: 'its pane was closed' }));
  }
  const look = setInterval(() => {
    if (!hasLead(file)) end({ code: 0, why: 'its lead has ended' });
  }, LEAD_MS);
  look.unref();
  try {
    const flags = readFlags(words);
    if (!hasLead(file)) throw new Refusal('not_found', 'The Claude Code that started this teammate has ended');
    const { home, players } = JSON.parse(readFileSync(file, 'utf8')) as Players;
    const player = players.find(({ pattern }) => fits(pattern, flags.name));
    if (!player) throw new Refusal('not_found', `No agent plays the teammate ${JSON.stringify(flags.name)}`);
    const environment = { ...process.env, TROUPE_HOME: home };
    // A lead that skips permission prompts passes that on to its teammates, unless another mode is set for this one.
    const mode = flags.unasked ? { mode: 'full' as const } : {};
    const plan = flags.plan || player.plan === true;
    return await play({ ...flags, plan, agent: { ...mode, ...player.agent } }, environment, stop.signal);
  } catch (error) {
    if (stop.signal.aborted) return (stop.signal.reason as Ending).code;
    return reportError(error, false);
  } finally {
    clearInterval(look);
  }
}

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** A pattern is a name, or a prefix and a star. */
function fits(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

interface Seat {
  readonly teamId: string;
  readonly memberId: string;
}

async function play(
  { name, team, plan, signs, agent }: Flags & { agent: AgentSpec },
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<number> {
  const client = openClient(environment, { patience: Infinity });
  const ticket = crypto.randomUUID();
  const wish = { name: team, member: name, agent, plan, signs, ticket };
  const place = { cwd: process.cwd(), root: findNativeRoot(environment) };
  const sit = (): Promise<Seat> => client.call('native.sit', { ...wish, ...place }, { signal });
  const lines = process.stdin.isTTY ? createInterface({ input: process.stdin }) : undefined;
  let seat: Seat | undefined;
  try {
    print(`${name} is played by ${agent.name ?? agent.kind}. Type a message and Enter; ! in front makes it urgent.\n`);
    const mine = (seat = await sit());
    lines?.on('line', (line) => void say(client, mine, line));
    const over = new AbortController();
    const view = show(client, mine, AbortSignal.any([signal, over.signal]));
    const end = await hold(client, { ...mine, ticket }, { sit, signal }).finally(() => over.abort());
    await view;
    const why = end.reason === undefined ? '' : `: ${cleanLines(end.reason).join(' ')}`;
    warn(`${name} has ended${why}.\n`);
    // If the program failed, versions that support it keep the pane open, and it shows why.
    return end.failed ? 1 : 0;
  } catch (error) {
    if (!signal.aborted) throw error;
    const { code, why } = signal.reason as Ending;
    if (seat) await leave(client, seat, why);
    if (code === 0) warn(`${name} has ended: ${why}.\n`);
    return code;
  } finally {
    lines?.close();
    client.close();
  }
}

/** Holds the seat until the member is gone, and returns why. After the daemon was away, it takes the seat again. */
async function hold(
  client: Client,
  seat: Seat & { ticket: string },
  { sit, signal }: { sit: () => Promise<Seat>; signal: AbortSignal },
): Promise<{ reason?: string | undefined; failed?: boolean | undefined }> {
  for (let isLost = false; ;) {
    try {
      if (isLost) await sit();
      isLost = false;
      const { over, ...end } = await client.call('native.hold', { ...seat, wait: HOLD_MS }, { signal });
      if (over) return end;
    } catch (error) {
      signal.throwIfAborted();
      const { code } = error as { code?: string };
      // A second refusal is final: somebody else has the seat, or nobody can have it.
      if (isLost && code !== 'no_daemon' && code !== 'unauthenticated') throw error;
      isLost = true;
      await sleep(AGAIN_MS, undefined, { signal });
    }
  }
}

/** Shows what the member does. A failed view does not end the member. */
async function show(client: Client, seat: Seat, signal: AbortSignal): Promise<void> {
  const screen = standardScreen(process.env);
  while (!signal.aborted) {
    try {
      await printTranscript(client, { ...seat, follow: true, json: false, screen, signal });
      return;
    } catch {
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
    }
  }
}

/** Tells the daemon why it leaves. If that fails, the daemon notices that nobody holds the seat. */
async function leave(client: Client, { teamId, memberId }: Seat, reason: string): Promise<void> {
  const late = AbortSignal.timeout(FAREWELL_MS);
  await client.call('member.stop', { teamId, memberId, reason }, { signal: late }).catch(() => {});
}

/** What a native lead tells a new teammate. */
interface Flags {
  readonly name: string;
  readonly team: string;
  /** It plans first, and its lead approves the plan. */
  readonly plan: boolean;
  /** The lead signs the messages that it writes. */
  readonly signs: boolean;
  /** Its lead skips permission prompts, and so may it. */
  readonly unasked: boolean;
}

/**
 * Parses the words with which a native lead starts a teammate. They differ between versions; unknown ones are ignored.
 */
function readFlags(words: readonly string[]): Flags {
  const valueOf = (flag: string): string | undefined => {
    const at = words.indexOf(flag);
    return at === -1 ? undefined : words[at + 1];
  };
  const [name, team] = [valueOf('--agent-name'), valueOf('--team-name')];
  if (name === undefined || team === undefined) {
    throw new UsageError('Only Claude Code starts this, with --agent-name and --team-name', 'claude');
  }
  return {
    name,
    team,
    plan: words.includes('--plan-mode-required') || valueOf('--permission-mode') === 'plan',
    signs: valueOf('--lead-verify-key') !== undefined,
    unasked: words.includes('--dangerously-skip-permissions') || valueOf('--permission-mode') === 'bypassPermissions',
  };
}
