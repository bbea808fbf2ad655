import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { homeAt } from '../../src/client/home.ts';
import type { Home } from '../../src/client/home.ts';
import type { ResultOf } from '../../src/operations/index.ts';
import { openProcessRecords } from '../../src/runtime/process-records.ts';
import type { ProcessRecord } from '../../src/runtime/process-records.ts';
import { answerInPool } from '../cli/answer-pool.ts';
import { canAnswer } from '../cli/answers.ts';
import { run } from '../daemon/processes.ts';
import type { Running } from '../daemon/processes.ts';
import { BIN, connect, environmentFor, temporaryHome } from '../daemon/serve.ts';
import { linesOf } from '../lines-of.ts';
import { COMPILED_CODE } from '../setup/compiled-code.ts';
import { TROUPE_SOURCE } from '../setup/source.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const AGENTS = join(import.meta.dirname, '../fixtures/agents');

/** The output and exit code of a command. */
export interface Answer {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** A state directory and a folder for one test, and functions that run the command line on them. */
export interface Stage {
  readonly home: Home;
  /** The name of the stage's team, unique on its daemon. */
  readonly team: string;
  /** The folder of team files and of files that programs write. */
  readonly folder: string;
  /** The file in which programs of members write a line for each turn. */
  readonly workLog: string;
  /** Runs a command to its end: in a process that answers others, too, if it is not a program of its own. */
  troupe(...words: string[]): Promise<Answer>;
  /** Runs a command that must succeed, and parses its JSON. */
  ask<T>(...words: string[]): Promise<T>;
  /** Starts a command in a process of its own, and does not wait for its end. */
  start(words: readonly string[], env?: Readonly<Record<string, string>>): Running;
  /** Writes a team file and returns its path. */
  teamFile(content: object): string;
  /** A member of a team file that runs a fixture. */
  member(name: string, fixture: string, env?: Readonly<Record<string, string>>): object;
  /** Writes the file `go`, which `slow` programs wait for. */
  letGo(): void;
  /** The lines in the work log. */
  work(): Work[];
  client(): Client;
  /** The daemon's process id. */
  daemonPid(): number;
  records(): ProcessRecord[];
  /** The processes of the stage's team: teammates and their programs. */
  processes(): Left[];
  /** Waits until a member has a process, and returns its id. */
  pidOf(teamId: string, memberId: string): Promise<number>;
  task(teamId: string, taskId: string): Promise<ResultOf<'task.show'>>;
  /** Another stage on the same daemon, for another team: with its own folder, team file and work log. */
  aside(): Stage;
}

/** A line that a program wrote about a turn. */
export interface Work {
  readonly taskId?: string;
  readonly epoch?: number;
  readonly memberId: string;
  readonly pid?: number;
  readonly feedback?: string | null;
  readonly prompt?: string;
  readonly messages: readonly { id: string; content: string; redeliveries: number }[];
}

/** Sets a stage. After the test it stops everything on it; processes that are still alive then fail the test. */
export function setStage(): Stage {
  const home = temporaryHome();
  onTestFinished(() => stopAll(home));
  return stageOn(home);
}

/**
 * One daemon for all tests of a file or a `describe`; each test has a stage with its own team. Starting and stopping a
 * daemon takes most of the time of a short test. Processes that are left at the end fail the file.
 */
export function shareDaemon(): () => Stage {
  let home: Home;
  let count = 0;
  beforeAll(() => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-test-')));
    home = homeAt(join(folder, 'home'));
    mkdirSync(home.directory, { mode: 0o700 });
    return async () => {
      await stopAll(home);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    };
  });
  return () => stageOn(home, `crew-${++count}`);
}

/** Ends everything in a state directory. */
async function stopAll(home: Home): Promise<void> {
  await answerInPool(['stop', '--all'], { env: { TROUPE_HOME: home.directory }, cwd: '/' });
  const left = await settled(home);
  for (const { pid } of left) process.kill(pid, 'SIGKILL');
  expect(left, 'processes that were left behind').toEqual([]);
}

function stageOn(home: Home, team = 'crew'): Stage {
  const folder = temporaryFolder();
  const workLog = join(folder, 'work.log');
  const start: Stage['start'] = (words, env = {}) =>
    run(BIN, words, { env: environmentFor(home, { NO_COLOR: '1', ...env }), cwd: folder });
  const troupe: Stage['troupe'] = async (...words) => {
    if (!canAnswer(words)) {
      const { ended, output } = start(words);
      const code = await ended;
      return { code, ...output };
    }
    const env = { TROUPE_HOME: home.directory, NO_COLOR: '1' };
    const { status: code, ...output } = await answerInPool(words, { env, cwd: folder });
    return { code, ...output };
  };
  let client: Client | undefined;
  let asides = 0;
  return {
    home,
    team,
    folder,
    workLog,
    troupe,
    start,
    async ask<T>(...words: string[]): Promise<T> {
      const { code, stdout, stderr } = await troupe(...words, '--json');
      expect(code, `troupe ${words.join(' ')}: ${stderr}`).toBe(0);
      return JSON.parse(stdout) as T;
    },
    teamFile(content) {
      const path = join(folder, 'troupe.yaml');
      writeFileSync(path, JSON.stringify(content, null, 2));
      return path;
    },
    member: (name, fixture, env = {}) => ({
      name,
      agent: { exec: [join(AGENTS, `${fixture}.js`)] },
      // Programs get a clean environment. Without the cache, each command that they call would compile everything
      // again.
      env: {
        WORK_LOG: workLog,
        WORK_UNTIL: join(folder, 'go'),
        TROUPE_SOURCE,
        NODE_COMPILE_CACHE: COMPILED_CODE,
        ...env,
      },
    }),
    letGo: () => writeFileSync(join(folder, 'go'), ''),
    work: () => linesOf(workLog).map((line) => JSON.parse(line) as Work),
    client: () => (client ??= connect(home)),
    daemonPid: () => (JSON.parse(readFileSync(home.card, 'utf8')) as { pid: number }).pid,
    records: () => openProcessRecords(home.processes).list(),
    processes: () => {
      const programs = new Set(processesOf(home, `WORK_LOG=${workLog}`).map(({ pid }) => pid));
      return processesOf(home).filter(
        ({ pid, command }) => programs.has(pid) || command.includes(` --teammate --team ${team} `),
      );
    },
    pidOf: (teamId, memberId) =>
      until(`${memberId} has a process`, () => {
        const records = openProcessRecords(home.processes).list();
        return records.find((record) => record.teamId === teamId && record.memberId === memberId)?.identity?.pid;
      }),
    async task(teamId, taskId) {
      client ??= connect(home);
      return client.call('task.show', { teamId, taskId });
    },
    aside: () => stageOn(home, `${team}-${++asides}`),
  };
}

/** A process that belongs to a state directory. */
export interface Left {
  readonly pid: number;
  readonly command: string;
}

/**
 * All processes of a state directory: the daemon, teammates, programs, hooks. With `variable`, only those that have
 * this `NAME=value` in their environment.
 */
export function processesOf(home: Home, variable?: string): Left[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .flatMap((pid) => {
      const command = read(`/proc/${pid}/cmdline`).split('\0').join(' ').trim();
      const environment = new Set(read(`/proc/${pid}/environ`).split('\0'));
      const isOf = environment.has(`TROUPE_HOME=${home.directory}`) && (!variable || environment.has(variable));
      return isOf && command !== '' ? [{ pid, command }] : [];
    });
}

/** Waits for all processes to end, and returns those that do not. */
async function settled(home: Home): Promise<Left[]> {
  await until('nothing is left', () => processesOf(home).length === 0).catch(() => {});
  return processesOf(home);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Whether a process exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  return read(`/proc/${pid}/cmdline`) !== '';
}
