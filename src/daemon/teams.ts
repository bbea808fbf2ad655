import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBridge } from '../bridge/bridge.ts';
import type { Bridge } from '../bridge/bridge.ts';
import { findNativeRoot } from '../bridge/layout.ts';
import { feedbackOf } from '../core/hook.ts';
import { isDown } from '../core/state.ts';
import type { TeamState } from '../core/state.ts';
import { openScratch } from '../journals.ts';
import { SharedTaskList } from '../ledger/task-list.ts';
import { ADMIN } from '../operations/caller.ts';
import { agentForTeammate } from '../operations/choose-agent.ts';
import type { Services } from '../operations/operation.ts';
import type { HookRun } from '../runtime/hooks/run-hooks.ts';
import { describeHost } from '../runtime/hosts/identity.ts';
import { writeLeaseFile } from '../runtime/hosts/lease-file.ts';
import { bringHome } from '../runtime/hosts/lost.ts';
import { measureLandings } from '../runtime/landing/measure.ts';
import { writeLauncher } from '../runtime/launcher.ts';
import type { Log } from '../runtime/log.ts';
import { openStopMark, recordStop } from '../runtime/stop-mark.ts';
import { openGates, openTeams } from '../runtime/teams.ts';
import type { GatesOptions, Teams, TeamsOptions } from '../runtime/teams.ts';
import { openNearness } from '../runtime/work/nearness.ts';
import type { InProcessOptions } from '../teammate/in-process.ts';
import { findOwn } from '../teammate/own-agents.ts';
import type { Ending } from './ending.ts';
import type { DaemonOptions } from './home.ts';
import { openDaemonNotices } from './notices.ts';
import type { Prepared } from './service.ts';

/** Everything that makes teams run, including Claude Code's own. */
export interface DaemonTeams {
  readonly teams: Teams;
  readonly native: Bridge;
  /** Lets members work. Call it only when they can reach the daemon. */
  start(faces: { answer: Answer; services: Services }): Promise<void>;
}

/** Answers questions of other daemons. */
type Answer = (question: unknown) => Promise<unknown>;

/** Opens the teams of a storage. Nothing runs before `start()`. */
export function openDaemonTeams(
  { taken, storage, daemon, works }: Prepared,
  { agents }: DaemonOptions,
  ending: Ending,
): DaemonTeams {
  const { home, environment, environments, card, log } = taken;
  const environmentOf: TeamsOptions['environmentOf'] = (teamId) => environments.of(teamId);
  const { ledger, credentials, health, hostId, membership } = storage;
  const { closers } = ending;
  const onError = (error: unknown, about: object): void => log.error('teams.failed', { ...about, error });
  const logRun = logRuns(log);
  const onHook: GatesOptions['onHook'] = (run) => {
    logRun(run);
    storage.gate?.(run);
  };
  const gates = openGates({ ledger, home, environment, environmentOf, works, onError, onHook });
  // It handles no claims, so it needs no bridge.
  const judged = new SharedTaskList(ledger, { gate: gates.hooks, works });
  const native = openBridge({
    ledger,
    home: home.directory,
    root: findNativeRoot(environment),
    trash: join(home.directory, 'trash'),
    complete: async (teamId, taskId, memberId) => void (await judged.completeTask(teamId, taskId, memberId)),
    scratch: openScratch,
    starts: true,
    onError: (error) => log.error('native.failed', { error }),
  });
  closers.add('native', () => native.close().finally(() => judged.close()));
  const program = [process.execPath, fileURLToPath(new URL('../../bin/troupe.js', import.meta.url))] as const;
  try {
    writeLauncher(home.launcher, program);
  } catch (error) {
    // As on a full disk. Members work without it.
    log.error('launcher.failed', { error });
  }
  const teams = openTeams({
    gates,
    works,
    claims: native.claims,
    ledger,
    home,
    hostId,
    ...(membership && { turnFor: (state, memberId) => membership.keeper?.turnFor(state, memberId) }),
    environment,
    environmentOf,
    environments,
    teammateCommand: program,
    memberToken: (teamId, memberId, scope) => credentials.memberToken(teamId, memberId, scope),
    agentFor: async (teamId, teammate) =>
      teammate.agent ??
      (agents && findOwn(agents, teammate.agentType)) ??
      agentForTeammate({ ledger, daemon }, ADMIN, { teamId, ...teammate }),
    onError,
  });
  closers.add('teams', () => teams.close());
  storage.instruments.accounts(() => teams.accounts.list());
  closers.add('landings', measureLandings(ledger, hostId, storage.instruments));
  credentials.onRotate(() => teams.renewTokens());
  const notices = openDaemonNotices(taken, storage, ending);
  const { notifies } = notices;
  const onHostsError = (error: unknown, about: object): void => log.error('hosts.failed', { ...about, error });

  async function joinOthers(answer: Answer): Promise<void> {
    if (!membership) return writeLeaseFile(home.lease, undefined);
    const { labels } = storage;
    const keeper = await membership.join({
      self: describeHost({
        directory: home.directory,
        name: hostId,
        labels,
        version: card.version,
        notifies,
        environment,
      }),
      ledger,
      teams,
      nearness: openNearness({ projects: works.projects, onError: onHostsError }),
      onTeam: (teamId) => notices.look(teamId),
      onQuestion: answer,
      onLease: (leaseMs) => writeLeaseFile(home.lease, leaseMs),
      onOusted(why) {
        health.raise('name', why.message);
        void teams.supervisor.close({ end: true, disowned: true });
      },
      onError: onHostsError,
    });
    closers.add('host', () => keeper.close({ returning: ending.keepsMembers }));
  }

  /** Records what a person stopped before this daemon started, so that nothing of it starts again. */
  async function finishStop(): Promise<void> {
    const mark = openStopMark(home.stopped);
    const stop = mark.read();
    if (!stop) return;
    const host = { ledger, hostId, isAlone: membership === undefined, onError };
    if (await recordStop(host, stop, await ledger.teams())) mark.clear();
  }

  /** A person who gave secrets learns that members which restart from now on do not get them. */
  async function tellLost(): Promise<void> {
    environments.onSet((teamId) => health.clear(`environment ${teamId}`));
    for (const [teamId, names] of environments.lost()) {
      // A team that is stopped gets them with the `troupe up` that it needs anyway.
      const runs = (state: TeamState): boolean => state.team?.status === 'active' && !isDown(state);
      if (!(await ledger.view(teamId, runs).catch(() => false))) continue;
      log.info('environment.own', { teamId, names });
      const missing = names.filter((name) => !environment[name]);
      // What this daemon has is probably the same.
      if (missing.length === 0) continue;
      health.raise(
        `environment ${teamId}`,
        `The members and gates of team ${teamId} that start now lack ${missing.join(', ')}: a secret is not stored, and this daemon was ` +
          'started without it. Give it again with troupe up',
      );
    }
  }

  /** Runs members whose agents are objects of this process. Their code is loaded only if there are any. */
  async function startOwn(services: Services): Promise<void> {
    if (!agents) return;
    const { openInProcess } = await import('../teammate/in-process.ts');
    const { supervisor } = teams;
    const died: InProcessOptions['died'] = (who, how) => supervisor.died(who, how);
    const own = openInProcess({ agents, services, hostId, environment, died, onError });
    closers.add('own members', () => own.close());
    await own.start();
  }

  return {
    teams,
    native,
    async start({ answer, services }) {
      await joinOthers(answer);
      await finishStop();
      await tellLost();
      await teams.start();
      await works.start();
      // Before running calls are awaited: a setup may take minutes.
      closers.add('setups', () => works.close());
      await teams.land();
      closers.add('landings', () => teams.stopLanding());
      await startOwn(services);
      if (!membership) await bringHome({ ledger, mailbox: teams.mailbox }, { self: hostId, onError: onHostsError });
      await native.start();
      await membership?.keeper?.start();
      await notices.start();
    },
  };
}

/** How much output of a failed hook is logged, in characters: enough to fix it without filling the log. */
const SAID_CHARS = 500;

/** Logs the result of each run of a hook. */
function logRuns(log: Log): (run: HookRun) => void {
  return ({ teamId, type, result: { stderr, stdout, ...result } }) => {
    const said = feedbackOf({ stderr, stdout }).slice(0, SAID_CHARS);
    const hasFailed = result.exitCode === 1 || result.unable !== undefined;
    if (hasFailed) log.warn('hook.failed', { teamId, type, ...result, said });
    else log.info('hook.ran', { teamId, type, ...result });
  };
}
