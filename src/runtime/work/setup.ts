import { TeamError } from '../../core/errors.ts';
import type { TeamSetup } from '../../core/team-work.ts';
import type { Variables } from '../../core/variables.ts';
import { hashSetup, nameChanged, nameOfSetup } from '../hooks/approvals.ts';
import type { Approvals } from '../hooks/approvals.ts';
import { filesOfSetup } from '../hooks/hook-files.ts';
import { findObstacle } from '../hooks/obstacle.ts';
import { hookEnvironment, runProgram } from '../hooks/run-program.ts';
import { withSandbox } from '../hooks/with-sandbox.ts';
import type { ProcessRecords } from '../process-records.ts';
import { Semaphore } from '../semaphore.ts';

/** A run of `setup` in one workspace. */
export interface SetupJob {
  readonly teamId: string;
  readonly memberId: string;
  readonly setup: TeamSetup;
  /** The team's folder in the workspace. */
  readonly cwd: string;
  readonly slot: number;
  readonly signal: AbortSignal;
  readonly onStart: (printed: () => string) => void;
}

/** How it ended. */
export interface SetupEnd {
  readonly output: string;
  /** Why it failed, in words; undefined if it went well. */
  readonly why?: string;
  /** It was not run: the hash of the content that nobody has approved. */
  readonly unapproved?: string;
}

/** Runs the setups of workspaces. */
export interface Setups {
  run(job: SetupJob): Promise<SetupEnd>;
  /** Records that a person approved this content. */
  approve(setup: TeamSetup, hash: string): void;
}

/** What running setups needs from the daemon. */
export interface SetupsOptions {
  readonly approvals: Approvals;
  readonly records: Pick<ProcessRecords, 'newId' | 'write' | 'remove'>;
  /** The environment of a team's programs. */
  readonly environmentOf: (teamId: string) => Variables;
}

/** How many run at once: eight members begin together, and each may use a whole machine. */
const AT_ONCE = 4;

/** Opens the runner. What runs is recorded: if it outlives this daemon, the next one ends it. */
export function openSetups({ approvals, records, environmentOf }: SetupsOptions): Setups {
  const places = new Semaphore(AT_ONCE);
  return {
    run: (job) => places.run(() => run(job)),
    approve: (setup, hash) => approvals.add(hash, nameOfSetup(setup), setup.folder),
  };

  async function run({ teamId, memberId, setup, cwd, slot, signal, onStart }: SetupJob): Promise<SetupEnd> {
    const { command, env: wanted, folder, timeout, sandbox } = setup;
    signal.throwIfAborted();
    const obstacle = findObstacle({ ...setup, executor: 'shell' }, cwd);
    if (obstacle !== undefined) return { output: '', why: `cannot be run: ${obstacle}` };
    const content = hashSetup(setup, cwd, folder);
    if (content !== setup.approved && !approvals.has(content)) {
      const which = nameChanged((one) => filesOfSetup(command, one), { cwd, approvedIn: folder });
      const why = `was not run: its files changed since you approved them${which}`;
      return { output: '', why, unapproved: content };
    }
    const about = { TEAM_ID: teamId, MEMBER_ID: memberId, SLOT: String(slot) };
    const env = hookEnvironment(environmentOf(teamId), about, wanted);
    const marker = records.newId('hook');
    try {
      records.write({ id: marker, teamId, startedAt: new Date().toISOString() });
      // One stream: errors stay beside the lines that they belong to.
      const shell = ['/bin/sh', '-c', 'exec /bin/sh -c "$1" 2>&1', 'sh', command] as const;
      const result = await withSandbox(sandbox, { command: shell, cwd, env }, (start) =>
        runProgram({ ...start, timeout, marker, signal, onStart }),
      );
      signal.throwIfAborted();
      const output = `${result.stdout}${result.stderr}`;
      if (result.timedOut) return { output, why: `did not end within ${timeout / 1000} s and was stopped` };
      if (result.exitCode === 0) return { output };
      const { code } = result;
      return { output, why: code === undefined ? 'was ended by a signal' : `failed with exit code ${code}` };
    } catch (error) {
      // Its sandbox was refused.
      if (signal.aborted || !(error instanceof TeamError)) throw error;
      return { output: '', why: `cannot be run: ${error.message}` };
    } finally {
      records.remove(marker);
    }
  }
}
