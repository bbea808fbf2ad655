import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from './client/home.ts';
import { requireAllRunnable } from './host/runnable.ts';
import type { Hosts } from './journal/hosts.ts';
import type { DaemonStatus } from './operations/daemon-status.ts';
import type { DaemonService } from './operations/operation.ts';
import { readConfig } from './runtime/config.ts';
import { defaultAgent } from './runtime/default-agent.ts';
import type { HostKeeper } from './runtime/hosts/keeper.ts';
import { installedNames } from './runtime/installed-agents.ts';
import { residentBytes } from './runtime/memory.ts';
import type { Credentials } from './server/auth.ts';

/** What a daemon is made of, as far as it can be asked about itself. Some of it comes only after it can be asked. */
export interface DaemonParts {
  readonly home: Home;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The other machines on its journal, where there can be any, and its name among them. */
  readonly hosts: Hosts | undefined;
  readonly hostId: string;
  readonly credentials: Credentials;
  keeper(): HostKeeper | undefined;
  url(): string;
  /** What only it can tell of its state. */
  facts(): Promise<Omit<DaemonStatus, 'home' | 'url' | 'tokenFile' | 'name' | 'hosts' | 'uptime' | 'memory'>>;
  stop(keep: boolean): void;
  rotated(): void;
}

/** What operations ask of the daemon that does them. */
export function daemonService(parts: DaemonParts): DaemonService {
  const { home, environment, hosts, hostId, credentials } = parts;
  return {
    ...(hosts && { hostId }),
    async status() {
      const facts = await parts.facts();
      const keeper = parts.keeper();
      return {
        ...facts,
        home: home.directory,
        url: parts.url(),
        tokenFile: home.tokenFile,
        ...(keeper && {
          name: hostId,
          hosts: keeper.list().map(({ name, labels, agents, load }) => ({ name, labels, agents, load })),
        }),
        uptime: (Date.now() - Date.parse(facts.startedAt)) / 1000,
        memory: residentBytes(),
      };
    },
    stop: ({ keep }) => parts.stop(keep),
    transcriptFolder: (teamId, memberId) => join(home.transcripts, teamId, memberId),
    config: () => readConfig(home.directory),
    // Another machine that shares the journal may have one where this has none.
    defaultAgent: () =>
      defaultAgent(readConfig(home.directory), [
        ...installedNames(environment),
        ...(parts
          .keeper()
          ?.list()
          .flatMap(({ agents }) => agents) ?? []),
      ]),
    // What this machine lacks, another that shares the journal may have.
    requireAgents: (agents) => requireAllRunnable(agents, hosts ? undefined : environment),
    lacking: (names) => (hosts ? [] : names.filter((name) => environment[name] === undefined)),
    async removeTranscripts(teamId) {
      await rm(join(home.transcripts, teamId), { recursive: true, force: true });
      // What its members made there is a person's to remove.
      await rmdir(join(home.folders, teamId)).catch(() => {});
    },
    askHost: async (name, question, { timeoutMs }) => {
      const isThere =
        name !== hostId &&
        parts
          .keeper()
          ?.list()
          .some((one) => one.name === name);
      return isThere ? hosts?.ask(name, question, { timeoutMs }) : undefined;
    },
    memberToken: (teamId, memberId, scope) => credentials.memberToken(teamId, memberId, scope),
    loginUrl: async () => `${parts.url()}/#code=${credentials.logins.code()}`,
    async rotateTokens() {
      await credentials.rotate();
      parts.rotated();
    },
  };
}
