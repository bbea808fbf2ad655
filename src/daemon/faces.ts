import { join } from 'node:path';
import { mcpFace } from '../mcp/face.ts';
import { answerGateRuns } from '../operations/gate-runs.ts';
import type { Services } from '../operations/operation.ts';
import { answerTranscript } from '../operations/transcript.ts';
import { readConfig } from '../runtime/config.ts';
import { listenOnLastPort } from '../runtime/last-port.ts';
import { factsOf } from '../runtime/watched-calls.ts';
import { listenHttp } from '../server/http.ts';
import type { HttpListening } from '../server/http.ts';
import { openHub } from '../server/hub.ts';
import { findBuiltPages } from '../server/pages.ts';
import { listenSocket } from '../server/socket.ts';
import type { Ending } from './ending.ts';
import type { DaemonOptions } from './home.ts';
import type { Prepared } from './service.ts';
import type { DaemonTeams } from './teams.ts';

/** The ways in: operations over the socket, HTTP and WebSocket, and the tools over MCP. */
export interface Faces {
  readonly http: HttpListening;
  readonly services: Services;
  /** Answers questions of other daemons. */
  answer(question: unknown): Promise<unknown>;
}

/** What the faces show. */
export interface Shown extends Prepared {
  readonly teams: DaemonTeams;
}

const DRAIN_MS = 3_000;

/** Makes the operations reachable. From then on clients call. */
export async function openFaces(
  { taken, storage, daemon, works, teams: { teams, native } }: Shown,
  options: DaemonOptions,
  ending: Ending,
): Promise<Faces> {
  const { home, card, log } = taken;
  const { ledger, credentials, counters, calls, instruments, health } = storage;
  const { closers } = ending;
  const services: Services = {
    ledger,
    native,
    ...teams,
    works,
    daemon,
    watch: (operation, call, work) => calls.run(factsOf(operation, call), work),
  };
  const onError = (error: unknown, where: string): void => log.error('server.failed', { where, error });
  const mcp = mcpFace(services, { version: card.version, onError: (error) => onError(error, 'mcp') });
  closers.add('mcp', () => mcp.close());
  const hub = openHub({ services, credentials, counters, mcp: mcp.lines, onError });
  const listen = (port: number) =>
    listenHttp({
      ...options,
      port,
      hub,
      ui: findBuiltPages(),
      answers: readConfig(home.directory).notify?.answers?.url,
      mcp: (request, visiting) => mcp.http(request, visiting),
      metrics: () => instruments.expose(),
      health: () => health.report().status,
    });
  const http = await (options.port === undefined
    ? listenOnLastPort(join(home.directory, 'port'), listen)
    : listen(options.port));
  // Before the first call is answered: killed after it, the next daemon must find what it was told. Not earlier, since a
  // daemon that could not listen has kept no teams in this journal.
  storage.remember();
  card.url = http.url;
  closers.add('http', () => http.close());
  const socket = await listenSocket(home.socket, hub);
  closers.add('socket', () => socket.close());
  closers.add('sessions', () => hub.closeAll());
  closers.add('calls', () => calls.drain(options.drainMs ?? DRAIN_MS));
  return {
    http,
    services,
    answer: async (question) =>
      works.answer(question) ?? answerGateRuns(daemon, question) ?? answerTranscript(daemon, question),
  };
}
