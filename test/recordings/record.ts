import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { acpAgent } from '../../src/agents/acp.ts';
import type { Agent, AgentSession, Mode, TeamTools } from '../../src/agents/agent.ts';
import { claudeAgent } from '../../src/agents/claude.ts';
import { codexAgent } from '../../src/agents/codex.ts';
import { Client } from '../../src/client/client.ts';
import { homeAt } from '../../src/client/home.ts';
import { socketConnect } from '../../src/client/socket.ts';
import { SHORT_RUN } from '../agents/bun.ts';
import type { InstalledAgent } from '../agents/installed.ts';
import { REAL_AGENTS, setUp } from '../agents/setups.ts';
import type { ModelRequest } from '../models/script.ts';
import { random } from '../seed-numbers.ts';
import { newPlayedModel } from './model.ts';
import { newRecorder } from './recording.ts';

/*
 * Records turns of real agents in real time, for the clocks that notice silent turns (test/teammate/normal-turns.test.ts).
 * The agents are the pinned ones, their models are scripts, their commands are real, and they use the tools of real teams.
 *
 *   node test/recordings/record.ts --minutes 60 --claude 2 --codex 2 --gemini 1 --opencode 1
 *
 * It adds a file to test/recordings/turns/ for each agent. A session costs 50 to 400 MB of memory and little processor
 * time. Ctrl-C ends it early and keeps what was recorded.
 */

const MINUTE = 60_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    to: { type: 'string', default: join(import.meta.dirname, 'turns') },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    ...Object.fromEntries(REAL_AGENTS.map((name) => [name, { type: 'string', default: '0' } as const])),
  },
});
const options = values as Readonly<Record<'minutes' | 'to' | 'seed' | InstalledAgent, string>>;

const AGENTS: Readonly<Record<InstalledAgent, (entry: Entry) => Agent>> = {
  claude: (entry) => claudeAgent(entry),
  codex: (entry) => codexAgent(entry),
  gemini: (entry) => acpAgent({ ...entry, name: 'gemini' }),
  opencode: (entry) => acpAgent({ ...entry, name: 'opencode' }),
};

interface Entry {
  readonly command: string[];
  readonly args?: string[];
  readonly env: Record<string, string>;
  readonly model?: string;
}

/** Every second session lets commands run for long; the others have the agents' defaults. */
function letRunLong(name: InstalledAgent, home: string): Record<string, string> {
  if (name === 'claude') {
    const longest = String(60 * MINUTE);
    return {
      BASH_MAX_TIMEOUT_MS: longest,
      BASH_DEFAULT_TIMEOUT_MS: longest,
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    };
  }
  if (name === 'gemini') {
    mkdirSync(join(home, '.gemini'), { recursive: true });
    writeFileSync(
      join(home, '.gemini/settings.json'),
      JSON.stringify({ tools: { shell: { inactivityTimeout: 3_600 } } }),
    );
  }
  return {};
}

const root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-record-')));
const over = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => over.abort());
const teams = await startTeams();
const seats = REAL_AGENTS.flatMap((name) => Array.from({ length: Number(options[name]) }, (_, at) => ({ name, at })));
// One after the other: a start takes seconds of processor time.
const running: Promise<void>[] = [];
for (const { name, at } of seats.toSorted((a, b) => a.at - b.at)) {
  if (over.signal.aborted) break;
  const started = Promise.withResolvers<void>();
  running.push(
    record(name, at, () => started.resolve())
      .catch((error: unknown) => console.error(`${name} ${at}: ${String(error)}`))
      .finally(() => started.resolve()),
  );
  await started.promise;
}
console.log(`${running.length} sessions record`);
const timer = setTimeout(() => over.abort(), Number(options.minutes) * MINUTE);
await Promise.all(running);
clearTimeout(timer);
await teams.end();
rmSync(root, { recursive: true, force: true, maxRetries: 5 });

/** One session, until the recording ends. */
async function record(name: InstalledAgent, at: number, onStart: () => void): Promise<void> {
  const draw = random(Number(options.seed) * 1_000 + at * REAL_AGENTS.length + REAL_AGENTS.indexOf(name));
  const place = { home: join(root, `${name}-${at}`, 'home'), cwd: join(root, `${name}-${at}`, 'work') };
  for (const folder of [place.home, place.cwd]) mkdirSync(folder, { recursive: true });
  const play = newPlayedModel(name, draw);
  const { entry, model } = await setUp(name, { ...place, files: () => [], remove: () => {} }, (request) => {
    // Whole conversations come with each request.
    (model.requests as ModelRequest[]).length = 0;
    return play.answer(request);
  });
  const { env, ...rest } = entry as unknown as Entry;
  const long = at % 2 === 0 ? letRunLong(name, place.home) : {};
  const own = Object.entries({ ...env, ...long }).filter(([key]) => !(key in SHORT_RUN));
  const mode: Mode = at % 4 === 3 ? 'edit' : 'full';
  const session = await AGENTS[name]({ ...rest, env }).start({
    teamId: 'demo',
    memberId: 'worker',
    cwd: place.cwd,
    env: Object.fromEntries(own),
    role: 'You are worker on the team demo.',
    model: rest.model,
    mode,
    tools: await teams.make(`${name}-${at}`),
  });
  onStart();
  const file = join(options.to, `${name}-${options.seed}.txt`);
  const recorder = newRecorder((line) => appendFileSync(file, `${line}\n`));
  const ends = follow(session, recorder, draw);
  over.signal.addEventListener('abort', () => {
    recorder.stop();
    void session.close();
  });
  for (let turn = 1; !over.signal.aborted; turn++) {
    const ended = ends.next();
    play.begin(2 + Math.floor(draw() * 40));
    recorder.begin();
    await session.send({ text: `Do part ${turn} of the work`, messages: [] }, { when: 'next' });
    if ((await ended).done) {
      recorder.drop();
      break;
    }
    await sleep(draw() * 10_000, undefined, { signal: over.signal }).catch(() => {});
  }
  await session.close();
  await model.close();
}

/** Records the events of a session, answers its questions after a while, and yields at the end of each turn. */
async function* follow(
  session: AgentSession,
  recorder: ReturnType<typeof newRecorder>,
  draw: () => number,
): AsyncGenerator<void, void> {
  for await (const event of session.events) {
    recorder.hear(event);
    if (event.type === 'permission') {
      const ms = draw() < 0.9 ? draw() * 30_000 : draw() * 30 * MINUTE;
      void sleep(ms, undefined, { ref: false }).then(() => {
        recorder.answered();
        event.answer({ allow: true });
      });
    }
    if (event.type === 'turnEnd') yield;
  }
}

/** A daemon with a team for each session. */
async function startTeams(): Promise<{ make(id: string): Promise<TeamTools>; end(): Promise<void> }> {
  const home = homeAt(join(root, 'troupe'));
  mkdirSync(home.directory, { mode: 0o700 });
  const bin = join(import.meta.dirname, '../../bin/troupe.js');
  const env = { PATH: process.env['PATH'] ?? '', HOME: root, TROUPE_HOME: home.directory };
  const child = spawn(process.execPath, [bin, 'serve', '--json'], { stdio: ['ignore', 'pipe', 'inherit'], env });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url } = JSON.parse(line) as { url: string };
  const client = new Client(socketConnect({ path: home.socket, token: { file: home.tokenFile } }));
  return {
    async make(id) {
      await client.call('team.create', { name: id, leadName: 'lead' });
      await client.call('member.add', { teamId: id, name: 'worker', role: 'worker' });
      const { token } = await client.call('member.token', { teamId: id, memberId: 'worker' });
      return {
        name: 'troupe',
        http: { url: `${url}/mcp`, headers: { authorization: `Bearer ${token}` } },
        stdio: { command: process.execPath, args: [bin, 'mcp'], env: { TROUPE_HOME: home.directory } },
      };
    },
    async end() {
      client.close();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
