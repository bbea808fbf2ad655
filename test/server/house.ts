import { mkdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openBridge } from '../../src/bridge/bridge.ts';
import { homeAt } from '../../src/client/home.ts';
import type { Home } from '../../src/client/home.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { DaemonService, Services } from '../../src/operations/operation.ts';
import { openTeams } from '../../src/runtime/teams.ts';
import { openTeamWorks } from '../../src/runtime/work/team-works.ts';
import { openCredentials } from '../../src/server/auth.ts';
import type { Credentials } from '../../src/server/auth.ts';
import { listenHttp } from '../../src/server/http.ts';
import type { HttpOptions } from '../../src/server/http.ts';
import { openHub } from '../../src/server/hub.ts';
import type { Hub, HubOptions } from '../../src/server/hub.ts';
import { listenSocket } from '../../src/server/socket.ts';
import { openProjects } from '../../src/workspaces.ts';

/** A server as in a daemon. */
export interface Server {
  readonly home: Home;
  readonly hub: Hub;
  readonly ledger: Ledger;
  readonly url: string;
  readonly port: number;
  /** The admin token. */
  readonly token: string;
  /** The reported errors; tests expect none. */
  readonly errors: unknown[];
  /** Where each of them was reported. */
  readonly places: string[];
  stop(): Promise<void>;
}

/** Options of a server. */
export interface ServerOptions extends Omit<HttpOptions, 'hub'> {
  readonly limits?: HubOptions['limits'];
  /** Serves MCP on connections that carry lines. */
  readonly lines?: HubOptions['mcp'];
}

/** Opens a server on a home and a journal. */
export async function openServer(directory: string, journal: Journal, options: ServerOptions = {}): Promise<Server> {
  const { limits, lines, ...http } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const home = homeAt(directory);
  const errors: unknown[] = [];
  const places: string[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const onServerError = (error: unknown, where: string): void => {
    errors.push(error);
    places.push(where);
  };
  const ledger = new Ledger(journal, { exclusive: true, onError });
  const credentials = await openCredentials({ ...home, ledger });
  const native = openBridge({
    ledger,
    home: directory,
    root: join(directory, 'claude'),
    trash: join(directory, 'trash'),
    scratch: memoryJournal,
    onError,
  });
  const projects = await openProjects({
    root: directory,
    environment: process.env,
    marks: {},
    endLeftovers: async () => undefined,
  });
  const works = openTeamWorks({ ledger, projects, onError });
  const teams = openTeams({
    works,
    claims: native.claims,
    ledger,
    home,
    hostId: 'test',
    environment: process.env,
    // Runs instead of a teammate: it does nothing until it is stopped. The shell takes further arguments as parameters.
    teammateCommand: ['/bin/sh', '-c', 'exec sleep 600'],
    memberToken: (teamId, memberId, scope) => credentials.memberToken(teamId, memberId, scope),
    onError,
  });
  await teams.start();
  await works.start();
  await teams.land();
  const services: Services = {
    ...teams,
    works,
    native,
    ledger,
    daemon: daemonOf(home, credentials, () => listening.url),
  };
  const more = { ...(limits && { limits }), ...(lines && { mcp: lines }) };
  const hub = openHub({ services, credentials, ...more, onError: onServerError });
  const listening = await listenHttp({ hub, ...http });
  const socket = await listenSocket(home.socket, hub);
  let stopping: Promise<void> | undefined;
  return {
    home,
    hub,
    ledger,
    url: listening.url,
    port: listening.port,
    token: readFileSync(home.tokenFile, 'utf8').trim(),
    errors,
    places,
    stop() {
      stopping ??= (async () => {
        await hub.closeAll();
        await Promise.all([listening.close(), socket.close()]);
        await teams.supervisor.close({ end: true });
        await native.close();
        await teams.close();
        await works.close();
        await ledger.close();
      })();
      return stopping;
    },
  };
}

/** What the daemon process would do. */
function daemonOf(home: Home, credentials: Credentials, url: () => string): DaemonService {
  return {
    defaultAgent: () => ({ kind: 'exec', command: ['true'] }),
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
    removeTranscripts: (teamId) => rm(join(home.transcripts, teamId), { recursive: true, force: true }),
    memberToken: (teamId, memberId, scope) => credentials.memberToken(teamId, memberId, scope),
    rotateTokens: () => credentials.rotate(),
    loginUrl: async () => `${url()}/#code=${credentials.logins.code()}`,
  };
}
