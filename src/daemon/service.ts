import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostCard } from '../journal/hosts.ts';
import type { DaemonService } from '../operations/operation.ts';
import { readConfig } from '../runtime/config.ts';
import { defaultAgent } from '../runtime/default-agent.ts';
import { teamFolder } from '../runtime/home.ts';
import { installedNames } from '../runtime/installed-agents.ts';
import { residentBytes } from '../runtime/memory.ts';
import type { TeamWorks } from '../runtime/work/team-works.ts';
import { requireAllRunnable } from '../teammate/runnable.ts';
import { variablesOf } from '../teammate/team-variables.ts';
import type { Ending } from './ending.ts';
import type { TakenHome } from './home.ts';
import type { Storage } from './storage.ts';

/** The parts of a daemon that answer questions about it. */
export interface DaemonParts {
  readonly taken: TakenHome;
  readonly storage: Storage;
  readonly ending: Ending;
}

/** What exists before there are teams. */
export interface Prepared {
  readonly taken: TakenHome;
  readonly storage: Storage;
  readonly daemon: DaemonService;
  readonly works: TeamWorks;
}

/** What operations need from the daemon that runs them. */
export function daemonService({ taken, storage, ending }: DaemonParts): DaemonService {
  const { home, environment, environments, card, log, redactor, reserve } = taken;
  const { credentials, counters, health, hostId, journal, membership, totals } = storage;
  const url = (): string => card.url ?? '';
  const living = (): readonly HostCard[] => membership?.keeper?.list() ?? [];
  return {
    ...(membership && { hostId }),
    async status() {
      await totals.ready();
      reserve.restore();
      return {
        ...card,
        journal,
        connections: counters.connections,
        health: health.report(),
        ...totals.report(),
        home: home.directory,
        url: url(),
        tokenFile: home.tokenFile,
        ...(membership?.keeper && {
          name: hostId,
          hosts: living().map(({ name, labels, agents, load }) => ({ name, labels, agents, load })),
        }),
        uptime: (Date.now() - Date.parse(card.startedAt)) / 1000,
        memory: residentBytes(),
      };
    },
    stop({ keep }) {
      ending.keepsMembers = keep;
      log.info('daemon.stopping', { reason: 'told to', keep });
      setImmediate(() => void ending.close());
    },
    transcriptFolder: (teamId, memberId) => join(home.transcripts, teamId, memberId),
    config: () => readConfig(home.directory),
    // Another machine that shares the journal may have an agent if this one has none.
    defaultAgent: () =>
      defaultAgent(readConfig(home.directory), [
        ...installedNames(environment),
        ...living().flatMap(({ agents }) => agents),
      ]),
    // Another machine that shares the journal may have what this one lacks.
    requireAgents(agents, given) {
      const ours = membership ? undefined : environments.with(given);
      requireAllRunnable(agents, ours, { isCallers: given !== undefined, state: home.directory });
    },
    variablesOf,
    environments,
    redactor,
    async removeTranscripts(teamId) {
      environments.set(teamId, undefined);
      await rm(join(home.transcripts, teamId), { recursive: true, force: true });
      // Files that members created there are for a person to remove.
      await rmdir(teamFolder(home, teamId)).catch(() => {});
    },
    askHost: async (name, question, { timeoutMs }) => {
      const isThere = name !== hostId && living().some((one) => one.name === name);
      return isThere ? membership?.hosts.ask(name, question, { timeoutMs }) : undefined;
    },
    memberToken: (teamId, memberId, scope) => credentials.memberToken(teamId, memberId, scope),
    loginUrl: async () => `${url()}/#code=${credentials.logins.code()}`,
    async rotateTokens() {
      await credentials.rotate();
      storage.hideToken();
      log.info('tokens.rotated');
    },
  };
}
