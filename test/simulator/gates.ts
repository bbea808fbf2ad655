import { mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { ProcessOptions } from '../../src/agents/process.ts';
import { TeamError } from '../../src/core/errors.ts';
import type { HookConfig } from '../../src/core/hook.ts';
import { TeamHooks } from '../../src/runtime/hooks/team-hooks.ts';
import type { Files, Repository } from '../runtime/landing/repository.ts';
import type { Checks } from './checks.ts';
import { leaveBehind } from './processes.ts';
import type { SimulatedProcess } from './processes.ts';
import { later, scheduler } from './scheduler.ts';
import { Killed } from './stand-ins/files.ts';
import type { Folder } from './workspaces.ts';

/** The gate of the simulated team. */
export const GATE: HookConfig = {
  type: 'TaskCompleted',
  command: 'check',
  executor: 'shell',
  enabled: true,
  onFailure: 'block',
  timeout: 60_000,
};

/** Where the folders are that gates judge, below the directory of a machine. */
const MEMBERS = 'members';
const MERGED = 'merged';

type Judge = TeamHooks['executeTaskCompletedHook'];

/** What gates judge, and what is wrong with them. */
export interface GatesOptions {
  readonly repository: Repository;
  readonly checks: () => Checks;
  readonly isFaulty: () => boolean;
}

/** Gates of all machines: the real hooks start simulated programs. */
export class Gates {
  readonly #options: GatesOptions;
  /** What programs accepted, as text. */
  readonly #passed = new Set<string>();
  /** What is judged now, by machine. */
  readonly #judging = new Set<string>();
  /** Until then nothing is judged: before its program is started (`away`), or because it cannot be started. */
  fails = { until: 0, isAway: false };
  /** Until then it rejects also what is good, this often. */
  strict = { until: 0, chance: 0 };

  constructor(options: GatesOptions) {
    this.#options = options;
  }

  /** Whether a program accepted what a commit has. */
  isPassed(commit: string): boolean {
    return this.#passed.has(textOf(this.#options.repository.files(commit)));
  }

  /** Nobody waits any more for the gates of a machine. */
  forget(machine: string): void {
    for (const asked of this.#judging) if (asked.startsWith(`${machine} `)) this.#judging.delete(asked);
  }

  /** Watches a call of a gate. Two at once about the same work would be one too many. */
  async watch(machine: string, taskId: string, folder: string, judge: () => ReturnType<Judge>): ReturnType<Judge> {
    // A process that was killed in the middle of a step does nothing more.
    if (!scheduler.owner().isAlive) throw new Killed();
    const checks = this.#options.checks();
    const { epoch, work } = checks.state.tasks.get(taskId) ?? {};
    const asked = `${machine} ${taskId} ${epoch} ${work?.commit} ${folder}`;
    checks.landing.judged(asked);
    if (this.fails.isAway && this.fails.until > scheduler.now) {
      await later(1);
      throw new TeamError('storage', 'The gate is away');
    }
    checks.require(!this.#judging.has(asked), `Two gates judge the same work at once: ${asked}`);
    this.#judging.add(asked);
    return judge().finally(() => this.#judging.delete(asked));
  }

  /** Whether somebody waits for a gate of a machine. */
  isWaited(machine: string): boolean {
    return [...this.#judging].some((asked) => asked.startsWith(`${machine} `));
  }

  /** Why its program cannot be started now. */
  refusal({ command }: ProcessOptions): string | undefined {
    const isAway = isGate(command) && !this.fails.isAway && this.fails.until > scheduler.now;
    return isAway ? 'EAGAIN' : undefined;
  }

  /** The program: nothing bad may be in the folder. It needs time, and misbehaves now and then. */
  async run(
    { cwd, env }: ProcessOptions,
    { signal, self, directory, folders }: GateProcess,
  ): Promise<number | NodeJS.Signals> {
    const { repository, isFaulty, checks } = this.#options;
    const random = scheduler.random('gate');
    const taskId = env['TROUPE_TASK_ID'] ?? '';
    const judged = checks().landing.judging(taskId);
    const [kind = '', name = ''] = relative(directory, cwd).split('/');
    const way = isFaulty() ? random.below(40) : -1;
    const isDeaf = way === 1;
    const ended = new Promise<NodeJS.Signals>((resolve) => {
      if (isDeaf) return;
      if (signal.aborted) resolve('SIGTERM');
      signal.addEventListener('abort', () => resolve('SIGTERM'), { once: true });
    });
    // Most gates are quick; some run all tests.
    const ms = random.chance(0.2) ? random.between(3_000, 40_000) : random.between(50, 3_000);
    if (way === 2) leaveBehind(self, { leavesGroup: random.chance(0.5) });
    if (way <= 1 && way >= 0) return Promise.race([ended, later(600_000).then(() => 0)]);
    const signalled = await Promise.race([ended, later(ms)]);
    if (signalled) return signalled;
    if (way === 3) return 'SIGSEGV';
    if (way === 4) return 1;
    const files = kind === MERGED ? repository.files(name) : (folders.get(name)?.files ?? {});
    const { until, chance } = this.strict;
    const isTooStrict = until > scheduler.now && random.chance(chance);
    const isBad = isTooStrict || Object.values(files).some((text) => text.includes('bad '));
    if (isBad) self.complain(isTooStrict ? 'It does not like it' : 'Something bad is in it');
    else {
      this.#passed.add(textOf(files));
      checks().landing.passed(judged);
    }
    return isBad ? 2 : 0;
  }
}

/** A gate's program, and where it runs. */
interface GateProcess {
  readonly signal: AbortSignal;
  readonly self: SimulatedProcess;
  /** The directory of its machine. */
  readonly directory: string;
  readonly folders: ReadonlyMap<string, Folder>;
}

/** Whether a command line is that of the gate. */
export function isGate(command: readonly string[]): boolean {
  return command.at(-1) === GATE.command;
}

/** A folder that a gate can judge. */
export function folderToJudge(
  directory: string,
  of: { readonly memberId: string } | { readonly commit: string },
): string {
  const folder = 'commit' in of ? join(directory, MERGED, of.commit) : join(directory, MEMBERS, of.memberId);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The real hooks, watched. */
export class WatchedHooks extends TeamHooks {
  readonly #gates: Gates;

  constructor(gates: Gates, ...rest: ConstructorParameters<typeof TeamHooks>) {
    super(...rest);
    this.#gates = gates;
  }

  override executeTaskCompletedHook(...[context, judged]: Parameters<Judge>): ReturnType<Judge> {
    const { machine } = scheduler.owner();
    const judge = (): ReturnType<Judge> => super.executeTaskCompletedHook(context, judged);
    return this.#gates.watch(machine, context.taskId, judged?.folder ?? '', judge);
  }
}

function textOf(files: Files): string {
  return JSON.stringify(Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
