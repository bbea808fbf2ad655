/*
 * A stage for Claude Code's own teams: one version of the real program in a separate tmux server, with a scripted
 * model.
 *
 *   describe.for(TESTED_VERSIONS)('... of Claude Code %s', (version) => {
 *     test('...', async (context) => {
 *       const stage = await setNativeStage(context, version);          // skips if tmux or the version is missing
 *       const { spawn, send } = stage.words;                          // the tool calls of this version
 *       stage.play({
 *         lead: rules([/go/, { calls: [...stage.words.createTeam('crew'), spawn({ name: 'alice', team: 'crew', prompt: as('alice') + 'hi' })] }]),
 *         alice: rules([/hi/, { calls: [send('team-lead', 'hello')] }]),
 *       });
 *       await stage.startLead();                                       // claude --teammate-mode tmux, in the first pane
 *       await stage.type(as('lead') + 'go');                           // the mark names the asking member
 *       await stage.until('the lead heard it', () => stage.heard('lead', 'hello'));
 *
 * The program takes seconds to start, so tests share a lead if they can: `const enter = shareNativeStage(version, ...)`
 * in the describe, then `const stage = await enter(context)` in each test. Their texts must differ, because the lead's
 * conversation continues.
 *
 * `stage.team()` reads the native team from disk, `stage.troupe(...)` runs our command line with the same home,
 * `stage.shows(pane)` returns the text of a pane. When the test ends, the tmux server and all other processes are
 * killed.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, onTestFinished } from 'vitest';
import type { TestContext } from 'vitest';
import { readTeam } from '../../src/bridge/snapshot.ts';
import type { NativeTeam } from '../../src/bridge/snapshot.ts';
import { homeAt } from '../../src/client/home.ts';
import type { Home } from '../../src/client/home.ts';
import { SHORT_RUN } from '../agents/bun.ts';
import { run } from '../daemon/processes.ts';
import { BIN } from '../daemon/serve.ts';
import { anthropicServer } from '../models/anthropic.ts';
import type { ModelRequest, ModelScript, ModelServer } from '../models/script.ts';
import { COMPILED_CODE } from '../setup/compiled-code.ts';
import { TROUPE_SOURCE } from '../setup/source.ts';
import { needTool } from '../tools.ts';
import { until } from '../until.ts';
import { as, askerOf, cast, lastText, rules } from './script.ts';
import { nativeProgram } from './versions.ts';
import type { NativeVersion } from './versions.ts';
import { wordsOf } from './words.ts';
import type { Words } from './words.ts';

/** A model that people can choose, and for which the newest version offers its task tools by default. */
const MODEL = 'claude-sonnet-4-5-20250929';

export const KEY = 'sk-ant-a-dummy-key-for-tests-only';

type Four = [string, string, string, string];

/** The output and exit code of a command. */
export interface Said {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** Which questions to answer, and until when. */
export interface ConfirmOptions<T> {
  readonly question: RegExp;
  readonly until: () => T | undefined | false | Promise<T | undefined | false>;
  readonly pane?: string | undefined;
}

/** A native lead in a terminal, with its surroundings. */
export interface NativeStage {
  readonly version: NativeVersion;
  readonly words: Words;
  readonly model: ModelServer;
  /** The path of the program. */
  readonly program: string;
  /** HOME of everything on the stage; Claude Code's files are in `.claude` there. */
  readonly home: string;
  /** Claude Code's own directory. */
  readonly root: string;
  /** The work folder of all members. */
  readonly cwd: string;
  /** Troupe's state directory. */
  readonly troupeHome: Home;
  /** The complete environment of every process on the stage. */
  readonly environment: Readonly<Record<string, string>>;
  /** The pane of the lead. */
  readonly pane: string;
  /** Gives each member its script, by the mark of its first prompt (`script.ts`). */
  play(scripts: Readonly<Record<string, ModelScript>>): void;
  tmux(...words: string[]): string;
  panes(): string[];
  /** The text of a pane, by default the lead's. */
  shows(pane?: string): string;
  /** Waits until a pane shows something. */
  sees(what: string | RegExp, pane?: string): Promise<string>;
  /** Waits for a condition. The error of a timeout has all screens, the team's files and the daemon's log. */
  until<T>(what: string, condition: () => T | undefined | false | Promise<T | undefined | false>): Promise<T>;
  /** Types a line into a pane and presses Enter. */
  type(text: string, pane?: string): Promise<void>;
  /** Presses keys, by tmux's names for them. */
  press(keys: readonly string[], pane?: string): void;
  /** Says yes to a pane's question, repeatedly if needed: a question is shown a moment before it can be answered. */
  confirm(question: RegExp, pane?: string): Promise<void>;
  /**
   * Presses Enter whenever a pane asks a question, until a condition holds. It answers an unchanged question again only
   * after 1 s, because a second key press would answer the next one, too.
   */
  confirmUntil<T>(what: string, options: ConfirmOptions<T>): Promise<T>;
  /**
   * Starts a native lead in the first pane and waits until it accepts input. With `troupe` it is started by our command
   * line with these words: `troupe claude ... -- ARGS`.
   */
  startLead(options?: {
    args?: readonly string[];
    env?: Readonly<Record<string, string>>;
    troupe?: readonly string[];
  }): Promise<void>;
  /** Waits until a lead that was started in another way accepts input. */
  ready(): Promise<void>;
  /** Registers a function to call when the stage ends. */
  atEnd(end: () => Promise<void>): void;
  /** Writes `config.yaml` of Troupe's state directory. */
  configure(config: object): void;
  /** The only native team, read from disk. */
  team(): NativeTeam | undefined;
  /** All requests to the model from the member with this mark. */
  asked(name: string): ModelRequest[];
  /** Whether a text reached a member's model, from a person, a teammate or a tool. */
  heard(name: string, text: string | RegExp): boolean;
  /** Runs our command line to its end, with the environment of the stage. */
  troupe(...words: string[]): Promise<Said>;
  /** Runs a command that must succeed, and parses its JSON. */
  ask<T>(...words: string[]): Promise<T>;
  /** The processes on the stage except tmux, with their command lines. */
  processes(): { pid: number; command: string }[];
}

/** Sets a stage; skips the test if tmux or the version is missing. */
export async function setNativeStage(context: TestContext, version: NativeVersion): Promise<NativeStage> {
  return openStage(needProgram(context, version), version, onTestFinished);
}

/** One stage for all tests of a `describe`. The first test that enters sets and prepares it; it ends after the last. */
export function shareNativeStage(
  version: NativeVersion,
  prepare: (stage: NativeStage) => Promise<void>,
): (context: TestContext) => Promise<NativeStage> {
  const endings: (() => Promise<void>)[] = [];
  let shared: Promise<NativeStage> | undefined;
  afterAll(async () => {
    for (const end of endings) await end();
  });
  const set = async (program: string): Promise<NativeStage> => {
    const stage = await openStage(program, version, (end) => void endings.push(end));
    await prepare(stage);
    return stage;
  };
  return (context) => {
    const program = needProgram(context, version);
    return (shared ??= set(program));
  };
}

/**
 * Prepares a stage with the lead of a team, started by `troupe claude`, which reads the configured players at its
 * start. So `configure` must configure the players of all tests. The tests decide what the lead does next.
 */
export function withLead(
  team: string,
  configure: (stage: NativeStage) => void | Promise<void>,
): (stage: NativeStage) => Promise<void> {
  return async (stage) => {
    await configure(stage);
    const create = stage.words.createTeam(team);
    stage.play({ lead: rules([/Come in/, create.length > 0 ? { calls: create } : { text: 'Here I am.' }]) });
    await stage.startLead({ troupe: [] });
    await stage.type(`${as('lead')}Come in`);
    await stage.until('it leads a team', () => stage.asked('lead').length > create.length && stage.team()?.config);
  };
}

function needProgram(context: TestContext, version: NativeVersion): string {
  needTool(context, 'tmux');
  const program = nativeProgram(version);
  context.skip(program === undefined, `Claude Code ${version} is not installed`);
  return program as string;
}

async function openStage(
  program: string,
  version: NativeVersion,
  atEnd: (end: () => Promise<void>) => void,
): Promise<NativeStage> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-native-')));
  const [home, cwd, socket, bin] = ['home', 'work', 'tmux', 'bin'].map((name) => join(folder, name)) as Four;
  const root = join(home, '.claude');
  for (const path of [home, cwd, root, bin]) mkdirSync(path);
  symlinkSync(program, join(bin, 'claude'));
  answerDialogs(home, cwd);
  const model = await anthropicServer(cast({}));
  const troupeHome = homeAt(join(folder, 'troupe'));
  const environment = environmentOf({ home, bin, model, troupeHome: troupeHome.directory });

  const tmux = (...words: string[]): string =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...words], {
      encoding: 'utf8',
      env: environment,
      stdio: 'pipe',
    }).trimEnd();
  const processes = (): { pid: number; command: string }[] => findProcesses(home);
  atEnd(async () => {
    // This runs outside of a test, so it cannot use the helpers of tests.
    const stopped = spawn(process.execPath, [BIN, 'stop', '--all'], { env: environment, stdio: 'ignore' });
    await once(stopped, 'exit');
    try {
      tmux('kill-server');
    } catch {
      // The server never started, or the test killed it.
    }
    // The program's helpers end a moment after their terminal. Kill them instead of waiting.
    await until('all on the stage has ended', () => {
      const left = processes();
      for (const { pid } of left) kill(pid);
      return left.length === 0;
    });
    await model.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  tmux('new-session', '-d', '-x', '220', '-y', '60', '-c', cwd, '/bin/sh');
  const pane = tmux('list-panes', '-F', '#{pane_id}');

  const shows = (target = pane): string => tmux('capture-pane', '-p', '-J', '-S', '-200', '-t', target);
  const stage: NativeStage = {
    version,
    words: wordsOf(version),
    model,
    program,
    home,
    root,
    cwd,
    troupeHome,
    environment,
    pane,
    play: (scripts) => model.use(cast(scripts)),
    tmux,
    panes: () => tmux('list-panes', '-t', pane, '-F', '#{pane_id}').split('\n'),
    shows,
    async sees(what, target) {
      const isThere = (): string | false => {
        const text = shows(target);
        return (typeof what === 'string' ? text.includes(what) : what.test(text)) && text;
      };
      return stage.until(`a pane shows ${String(what)}`, isThere);
    },
    until: (what, condition) =>
      until(what, patiently(condition)).catch((error: unknown) => {
        const panes = stage.panes().map((one) => `----- ${one}\n${shows(one).trim()}`);
        const asked = model.requests.map((one) => `${askerOf(one) ?? '?'}: ${shorten(lastText(one))}`);
        const files = [...filesOf(root), ...logOf(troupeHome.log)];
        const all = [...panes, ...screensIn(troupeHome.terminals), ...files, '----- asked', ...asked];
        throw new Error(`${(error as Error).message}\n${all.join('\n')}`);
      }),
    async type(text, target = pane) {
      tmux('send-keys', '-t', target, '-l', '--', text);
      // The program treats an Enter that arrives together with text as part of a paste.
      await stage.sees(text.slice(-20), target);
      tmux('send-keys', '-t', target, 'Enter');
    },
    press: (keys, target = pane) => void tmux('send-keys', '-t', target, ...keys),
    async confirm(question, target = pane) {
      await stage.sees(question, target);
      const isAnswered = (): boolean => !question.test(shows(target));
      await stage.confirmUntil(`${String(question)} is answered`, { question, until: isAnswered, pane: target });
    },
    confirmUntil(what, { question, until: condition, pane: target = pane }) {
      let answered = '';
      let again = 0;
      return stage.until(what, async () => {
        const found = question.exec(shows(target))?.[0];
        if (found !== undefined && (found !== answered || performance.now() > again)) {
          tmux('send-keys', '-t', target, 'Enter');
          again = performance.now() + 1_000;
        }
        answered = found ?? '';
        return condition();
      });
    },
    async startLead({ args = [], env = {}, troupe } = {}) {
      const variables = Object.entries(env).map(([name, value]) => `${name}=${quote(value)}`);
      const begin = troupe ? ['node', BIN, 'claude', ...troupe, '--'] : [program, '--teammate-mode', 'tmux'];
      await stage.type([...variables, ...[...begin, '--model', MODEL, ...args].map(quote)].join(' '));
      await stage.ready();
    },
    async ready() {
      // Wait for its prompt, which comes after its start messages.
      await stage.sees(/[❯>][\s ]/);
      await stage.sees(/\? for shortcuts|⏵⏵|bypass permissions|shift\+tab|auto mode|manual mode/i);
    },
    atEnd,
    configure(config) {
      mkdirSync(troupeHome.directory, { recursive: true, mode: 0o700 });
      writeFileSync(join(troupeHome.directory, 'config.yaml'), JSON.stringify(config));
    },
    team: () => teamIn(root),
    asked: (name) => model.requests.filter((request) => askerOf(request) === name),
    heard: (name, text) =>
      stage
        .asked(name)
        .some(({ turns }) =>
          turns.some(
            (turn) =>
              turn.role !== 'assistant' && (typeof text === 'string' ? turn.text.includes(text) : text.test(turn.text)),
          ),
        ),
    async troupe(...words) {
      const { ended, output } = run(BIN, words, { env: environment, cwd });
      const code = await ended;
      return { code, ...output };
    },
    async ask<T>(...words: string[]): Promise<T> {
      const { code, stdout, stderr } = await stage.troupe(...words, '--json');
      expect(code, `troupe ${words.join(' ')}: ${stderr}`).toBe(0);
      return JSON.parse(stdout) as T;
    },
    processes,
  };
  return stage;
}

/** Answers in advance what the program asks a person at its first start. */
export function answerDialogs(home: string, cwd: string): void {
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true, projectOnboardingSeenCount: 9 };
  const answers = {
    hasCompletedOnboarding: true,
    lastOnboardingVersion: '2.1.325',
    theme: 'dark',
    numStartups: 9,
    bypassPermissionsModeAccepted: true,
    hasSeenTasksHint: true,
    // It identifies a key by its last 20 characters.
    customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
    projects: { [cwd]: project },
  };
  writeFileSync(join(home, '.claude.json'), JSON.stringify(answers));
  // Animations on the screen take half of the processor time of waiting (measured).
  const settings = {
    skipDangerousModePermissionPrompt: true,
    skipAutoPermissionPrompt: true,
    prefersReducedMotion: true,
  };
  writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify(settings));
}

/** A clean environment, with nothing of the machine but a PATH. */
function environmentOf(place: { home: string; bin: string; model: ModelServer; troupeHome: string }) {
  const { home, bin, model, troupeHome } = place;
  const own = Object.entries(process.env).filter(([name]) => name.startsWith('TROUPE_TEST_'));
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    HOME: home,
    // The Node that runs the tests, because the oldest version and our command line are scripts.
    PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
    SHELL: '/bin/sh',
    TERM: 'xterm-256color',
    LC_ALL: 'C.UTF-8',
    PS1: '$ ',
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    ENABLE_TOOL_SEARCH: 'false',
    // Otherwise it clones a repository of plugins, first by HTTPS and then by SSH.
    CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
    ...SHORT_RUN,
    // As root, the program refuses to skip permission questions unless this says that it is in a sandbox.
    IS_SANDBOX: '1',
    TROUPE_HOME: troupeHome,
    TROUPE_SOURCE,
    NODE_COMPILE_CACHE: COMPILED_CODE,
    NO_COLOR: '1',
  };
}

/** Checks a condition every 150 ms. Looking at a pane starts a process, and the agents need the processor time. */
function patiently<T>(condition: () => T | Promise<T>): () => Promise<T> {
  return async () => {
    const value = await condition();
    if (value === undefined || value === false) await sleep(150);
    return value;
  };
}

/** Keeps the two ends of a long text, in which texts differ. */
function shorten(text: string): string {
  return text.length > 600 ? `${text.slice(0, 300)} … ${text.slice(-300)}` : text;
}

function teamIn(root: string): NativeTeam | undefined {
  try {
    const [name] = readdirSync(join(root, 'teams'));
    return name === undefined ? undefined : readTeam(root, name).look();
  } catch {
    return undefined;
  }
}

/** The screens of members that run in Troupe's own terminals. */
function screensIn(folder: string): string[] {
  return list(folder).map((name) => {
    const words = ['-S', join(folder, name), 'capture-pane', '-p', '-J', '-S', '-100'];
    const { stdout, stderr } = spawnSync('tmux', words, { encoding: 'utf8' });
    return `----- terminal ${name}\n${(stdout || stderr).trim()}`;
  });
}

/** The contents of the native team's files. */
function filesOf(root: string): string[] {
  return ['teams', 'tasks'].flatMap((kind) =>
    list(join(root, kind)).flatMap((team) =>
      (readdirSync(join(root, kind, team), { recursive: true }) as string[])
        .filter((name) => name.endsWith('.json'))
        .map((name) => `----- ${kind}/${name}\n${read(join(root, kind, team, name))}`),
    ),
  );
}

function logOf(path: string): string[] {
  const text = read(path);
  return text === '' ? [] : [`----- ${path}\n${text.slice(-4_000)}`];
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** All processes with this HOME except the tmux server and the shells in its panes. */
function findProcesses(home: string): { pid: number; command: string }[] {
  const commands = new Map<number, string>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!(pid > 0) || pid === process.pid) continue;
    const command = read(`/proc/${pid}/cmdline`).split('\0').join(' ').trim();
    const isHere = read(`/proc/${pid}/environ`).split('\0').includes(`HOME=${home}`);
    if (isHere && command !== '' && !/^(tmux|\/bin\/sh)\b/.test(command)) commands.set(pid, command);
  }
  // A process that starts another one is there twice for a moment: the new one still has its command.
  const isTwin = (pid: number, command: string): boolean => commands.get(parentOf(pid)) === command;
  return [...commands].flatMap(([pid, command]) => (isTwin(pid, command) ? [] : [{ pid, command }]));
}

/** The process that started a process; -1 if it is gone. */
export function parentOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? -1);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

/** Quotes a word for a shell. */
function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
