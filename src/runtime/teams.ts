import { SYSTEM } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import type { TeamState } from '../core/state.ts';
import type { Variables } from '../core/variables.ts';
import type { ClaimKeeper } from '../ledger/claim-keeper.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Mailbox } from '../ledger/mailbox.ts';
import { SharedTaskList } from '../ledger/task-list.ts';
import { keepAccounts } from './account-keeper.ts';
import type { Accounts } from './account-keeper.ts';
import { openAttendance } from './attendance.ts';
import type { Attendance } from './attendance.ts';
import { keepBudgets } from './budget-keeper.ts';
import { TeamCoordinator } from './coordinator.ts';
import type { AgentFor } from './coordinator.ts';
import { keepDeadlines } from './deadlines.ts';
import { teamFolder } from './home.ts';
import { openApprovals } from './hooks/approvals.ts';
import { keepRuns } from './hooks/keep-runs.ts';
import { keepTrouble } from './hooks/keep-trouble.ts';
import type { HookRun } from './hooks/run-hooks.ts';
import { TeamHooks } from './hooks/team-hooks.ts';
import { keepInnerTeams } from './inner/inner-teams.ts';
import type { InnerTeams } from './inner/inner-teams.ts';
import { keepQueues } from './landing/queue-keeper.ts';
import type { Queues } from './landing/queue-keeper.ts';
import { giveToken, launchOptions } from './launch-member.ts';
import type { LaunchSettings } from './launch-member.ts';
import { keepLeads } from './lead-keeper.ts';
import { keepLeases } from './lease-keeper.ts';
import type { Leases } from './lease-keeper.ts';
import { keepNewTasks } from './new-task-keeper.ts';
import { openProcessRecords } from './process-records.ts';
import type { ProcessRecords } from './process-records.ts';
import { keepPulses } from './pulse-keeper.ts';
import { SessionManager } from './sessions.ts';
import { Supervisor } from './supervisor.ts';
import type { TeamEnvironments } from './team-environments.ts';
import { TeamMemory } from './team-memory.ts';
import type { TeamWorks } from './work/team-works.ts';

/** What gates need from their process. */
export interface GatesOptions {
  readonly ledger: Ledger;
  /** Paths; see the client's `Home`. */
  readonly home: {
    readonly directory: string;
    readonly processes: string;
    readonly approvals: string;
    readonly folders: string;
    readonly transcripts: string;
  };
  readonly environment: Variables;
  /** The environment of a team's members and gates; without it, `environment`. */
  readonly environmentOf?: (teamId: string) => Variables;
  /** The members' own workspaces; without them, all members share folders. */
  readonly works?: TeamWorks;
  readonly onError: (error: unknown, about: { teamId?: string; memberId?: string }) => void;
  /** Called after every run of a hook. */
  readonly onHook?: (run: HookRun) => void;
}

/** The hooks of all teams, and the records of the hooks' and members' processes. */
export interface Gates {
  readonly hooks: TeamHooks;
  readonly records: ProcessRecords;
}

/** What running teams needs from its process. */
export interface TeamsOptions extends GatesOptions, Pick<LaunchSettings, 'teammateCommand' | 'memberToken'> {
  /** For callers that need the gates before the teams; otherwise they are opened here. */
  readonly gates?: Gates;
  readonly hostId: string;
  /**
   * If several daemons share the journal: how long to wait before taking a member; undefined if others should take it.
   */
  readonly turnFor?: (state: TeamState, memberId: string) => number | undefined;
  /** The environments that commands gave to teams. */
  readonly environments?: TeamEnvironments;
  /** Chooses the agent of a new teammate; without it none is chosen. */
  readonly agentFor?: AgentFor;
  /** Confirms claims of tasks that another program shares. */
  readonly claims?: ClaimKeeper;
}

/** Everything that makes teams run. */
export interface Teams {
  readonly tasks: SharedTaskList;
  readonly mailbox: Mailbox;
  readonly hooks: TeamHooks;
  readonly memory: TeamMemory;
  readonly sessions: SessionManager;
  readonly coordinator: TeamCoordinator;
  readonly supervisor: Supervisor;
  readonly accounts: Accounts;
  readonly attendance: Attendance;
  readonly leases: Leases;
  /** The teams inside members. */
  readonly inner: InnerTeams;
  /** Gives the processes of members tokens that are valid now. They read their token whenever they connect. */
  renewTokens(): Promise<void>;
  /** Takes over what an earlier daemon left: members, processes, pending requests. */
  start(): Promise<void>;
  /** The merge queues; none without workspaces. */
  readonly queues: Pick<Queues, 'aloneOf'> | undefined;
  /** Lands what waits in the merge queues, once the workspaces have started. */
  land(): Promise<void>;
  /** Ends landings, gates and the calls that wait for them. The next daemon goes on with what is in the queues. */
  stopLanding(): Promise<void>;
  /** Stops watching. The members go on unless the supervisor was told to end them. */
  close(): Promise<void>;
}

/** Opens the hooks. */
export function openGates(options: GatesOptions): Gates {
  const { ledger, home, environment, environmentOf = () => environment, onError, onHook, works } = options;
  const approvals = openApprovals(home.approvals);
  const records = openProcessRecords(home.processes, (path) => onError(new Error(`${path} cannot be read`), {}));
  const tellTrouble = keepTrouble(ledger, (error, teamId) => onError(error, { teamId }));
  const keepRun = keepRuns(home.transcripts, (error, teamId) => onError(error, { teamId }));
  const hooks = new TeamHooks(ledger, {
    approvals,
    records,
    environmentOf: (teamId) => ({ ...environmentOf(teamId), TROUPE_HOME: home.directory }),
    cwd: home.directory,
    folders: home.folders,
    ...(works && { works }),
    onRun(run) {
      onHook?.(run);
      keepRun(run);
      tellTrouble(run);
    },
  });
  return { hooks, records };
}

/** Puts the runtime together. Nothing starts before `start()`. */
export function openTeams(options: TeamsOptions): Teams {
  const { ledger, environment, onError } = options;
  const { hooks, records } = options.gates ?? openGates(options);
  const { claims, works } = options;
  const tasks = new SharedTaskList(ledger, { gate: hooks, ...(claims && { claims }), ...(works && { works }) });
  const mailbox = new Mailbox(ledger, { gate: hooks });
  const memory = new TeamMemory(ledger);
  const supervisor = new Supervisor({
    ledger,
    mailbox,
    records,
    hostId: options.hostId,
    ...(options.turnFor && { turnFor: options.turnFor }),
    launch: (member) => launchOptions(options, member),
    onError,
  });
  const sessions = new SessionManager(ledger, mailbox, supervisor);
  const coordinator = new TeamCoordinator({ ledger, mailbox, sessions, agentFor: options.agentFor }, environment);
  const budgets = keepBudgets({ ledger, mailbox }, (error, teamId) => onError(error, { teamId }));
  const attendance = openAttendance({
    rest: (teamId) => coordinator.restTeam(teamId, { by: SYSTEM, reason: 'its client is gone' }),
    onError,
  });
  const accounts = keepAccounts(ledger, (error, teamId) => onError(error, { teamId }));
  const leads = keepLeads({ ledger, mailbox, supervisor }, (error, teamId) => onError(error, { teamId }));
  const deadlines = keepDeadlines(
    ledger,
    (teamId, memberId, reason) => sessions.stopSession(teamId, memberId, reason),
    (error, teamId) => onError(error, { teamId }),
  );
  const inner = keepInnerTeams({
    ledger,
    hooks,
    works,
    mailbox,
    sessions,
    coordinator,
    attendance,
    environments: options.environments,
    folderOf: (teamId) => teamFolder(options.home, teamId),
    onError: (error, teamId) => onError(error, { teamId }),
  });
  const leases = keepLeases(ledger, (error, teamId) => onError(error, { teamId }));
  const newTasks = keepNewTasks({ ledger, tasks, alone: options.turnFor === undefined }, (error, teamId) =>
    onError(error, { teamId }),
  );
  const pulses = keepPulses({ ledger, processes: supervisor, folder: options.home.processes, onError });
  const { hostId } = options;
  const isAlive = (other: string): boolean => works?.isAlive(other) ?? false;
  const isNear = (state: TeamState): boolean => works?.isNear(state) ?? false;
  const queues = works && keepQueues({ ledger, gate: hooks, git: works, hostId, isAlive, isNear, onError });
  return {
    async renewTokens() {
      for (const { id: processId, teamId, memberId } of records.list()) {
        if (memberId === undefined) continue;
        await giveToken(options, { teamId, memberId, processId }).catch((error: unknown) => {
          // Its process ends with the member.
          const isGone = error instanceof TeamError && ['not_found', 'member_stopped'].includes(error.code);
          if (!isGone) onError(error, { teamId, memberId });
        });
      }
    },
    async start() {
      // Before members run: no turn may begin on an account that cannot be used.
      await accounts.start();
      await supervisor.start();
      await leads.start();
      await newTasks.start();
      await deadlines.start();
      await leases.start();
      await budgets.start();
      await inner.start();
      pulses.start();
    },
    land: async () => queues?.start(),
    async stopLanding() {
      queues?.close();
      tasks.stopWaiting();
      await hooks.close();
    },
    queues,
    tasks,
    mailbox,
    hooks,
    memory,
    sessions,
    coordinator,
    supervisor,
    accounts,
    attendance,
    leases,
    inner,
    async close() {
      attendance.close();
      inner.close();
      leases.close();
      pulses.close();
      await this.stopLanding();
      await supervisor.close({ end: false });
      deadlines.close();
      newTasks.close();
      budgets.close();
      accounts.close();
      leads.close();
      coordinator.close();
      memory.close();
      mailbox.close();
      tasks.close();
    },
  };
}
