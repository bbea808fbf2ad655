import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { homeAt } from '../../src/client/home.ts';
import type { Home } from '../../src/client/home.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { DaemonService, Services } from '../../src/operations/operation.ts';
import { openTeams } from '../../src/runtime/teams.ts';
import { openCredentials } from '../../src/server/auth.ts';
import type { Credentials } from '../../src/server/auth.ts';
import { listenHttp } from '../../src/server/http.ts';
import type { HttpListening, HttpOptions } from '../../src/server/http.ts';
import { openHub } from '../../src/server/hub.ts';
import type { Hub, HubOptions } from '../../src/server/hub.ts';
import { listenSocket } from '../../src/server/socket.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A server as a daemon puts it together, in this process. */
export interface Server {
  readonly home: Home;
  readonly hub: Hub;
  readonly ledger: Ledger;
  readonly credentials: Credentials;
  readonly http: HttpListening;
  readonly url: string;
  readonly port: number;
  /** The admin token. */
  readonly token: string;
  /** Errors that were reported, which a test expects to be none. */
  readonly errors: unknown[];
  stop(): Promise<void>;
}

/** How a server is started. */
export interface StartOptions extends Pick<
  HttpOptions,
  'host' | 'tls' | 'origins' | 'ui' | 'mcp' | 'metrics' | 'port'
> {
  readonly directory?: string;
  readonly journal?: Journal;
  readonly limits?: HubOptions['limits'];
}

/** Starts a server on a home of its own; it stops with the test. */
export async function startServer(options: StartOptions = {}): Promise<Server> {
  const { directory = join(temporaryFolder(), 'home'), journal = memoryJournal(), limits, ...http } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const home = homeAt(directory);
  const errors: unknown[] = [];
  const ledger = new Ledger(journal, { exclusive: true, onError: (error) => errors.push(error) });
  const credentials = await openCredentials({ ...home, ledger });
  const teams = openTeams({
    ledger,
    home,
    hostId: 'test',
    environment: process.env,
    // In place of a teammate: it does nothing and ends when it is told to. What comes after it are names for a shell.
    teammateCommand: ['/bin/sh', '-c', 'exec sleep 600'],
    memberToken: (teamId, memberId, scope) => credentials.memberToken(teamId, memberId, scope),
    onError: (error) => errors.push(error),
  });
  await teams.supervisor.start();
  const services: Services = {
    ...teams,
    ledger,
    daemon: fakeDaemon(home, credentials, () => listening.url),
  };
  const hub = openHub({ services, credentials, ...(limits && { limits }), onError: (error) => errors.push(error) });
  const socket = await listenSocket(home.socket, hub);
  const listening = await listenHttp({ hub, ...http });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (stopping ??= (async () => {
      await hub.closeAll();
      await Promise.all([listening.close(), socket.close()]);
      await teams.close({ end: true });
      await ledger.close();
    })());
  onTestFinished(stop);
  return {
    home,
    hub,
    ledger,
    credentials,
    http: listening,
    url: listening.url,
    port: listening.port,
    token: readFileSync(home.tokenFile, 'utf8').trim(),
    errors,
    stop,
  };
}

/** What the process around the server would do. */
function fakeDaemon(home: Home, credentials: Credentials, url: () => string): DaemonService {
  return {
    async status() {
      return {
        version: '0',
        pid: process.pid,
        home: home.directory,
        socket: home.socket,
        url: url(),
        tokenFile: home.tokenFile,
        journal: { kind: 'memory', location: '', durability: 'memory' },
        startedAt: new Date(0).toISOString(),
        uptime: 0,
        memory: 0,
        connections: 0,
        health: { status: 'ok', problems: [] },
        activeTeams: 0,
        teamMetrics: {
          totalTeamsCreated: 0,
          totalTeammatesSpawned: 0,
          totalTeamTasksCompleted: 0,
          totalTeamMessages: 0,
        },
        counting: false,
      };
    },
    stop() {},
    transcriptFolder: (teamId, memberId) => join(home.transcripts, teamId, memberId),
    memberToken: (teamId, memberId, scope) => credentials.memberToken(teamId, memberId, scope),
    rotateTokens: () => credentials.rotate(),
    loginUrl: async () => `${url()}/#code=${credentials.logins.code()}`,
  };
}
