import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openBridge } from './bridge/bridge.ts';
import { homeAt } from './client/home.ts';
import { TeamError } from './core/errors.ts';
import { openJournal } from './journals.ts';
import { Ledger } from './ledger/ledger.ts';
import type { DaemonService } from './operations/operation.ts';
import { createClosers } from './runtime/closers.ts';
import { prepareHome } from './runtime/home.ts';
import { openTeams } from './runtime/teams.ts';
import type { Teams } from './runtime/teams.ts';
import { openInProcess } from './teammate/in-process.ts';
import { findOwn } from './teammate/own-agents.ts';
import type { OwnAgents } from './teammate/own-agents.ts';

/** The agents, and where teams are stored. */
export interface EmbedOptions {
  /** Agents by name. A teammate gets the one that its `agentType` names, else the first. */
  readonly agents: OwnAgents;
  /** A state directory for teams that outlive the process; by default they are kept in memory. */
  readonly home?: string;
  /** Receives errors that the teams survive; by default they become process warnings. */
  readonly onError?: (error: unknown) => void;
}

/** Teams that run in this process. */
export interface EmbeddedTeams extends Pick<Teams, 'coordinator' | 'tasks' | 'mailbox' | 'hooks'> {
  readonly ledger: Ledger;
  /** Stops the members and closes the journal. */
  close(): Promise<void>;
}

/** The host name of this process. */
const HOST = 'local';

/** Runs teams in this process, without a daemon: nothing listens, and only hooks start other processes. */
export async function embedTeams({ agents, home: place, onError = warn }: EmbedOptions): Promise<EmbeddedTeams> {
  const closers = createClosers(onError);
  try {
    const home = homeAt(resolve(place ?? mkdtempSync(join(tmpdir(), 'troupe-'))));
    if (place === undefined) closers.add('folder', () => rm(home.directory, { recursive: true, force: true }));
    prepareHome(home.directory);
    const kind = place === undefined ? 'memory' : 'sqlite';
    const { journal } = await openJournal({ kind }, { file: home.journal, exclusive: true });
    closers.add('journal', () => journal.close());
    const ledger = new Ledger(journal, { exclusive: true, onError });
    closers.add('ledger', () => ledger.close());
    const environment = process.env;
    const teams = openTeams({
      ledger,
      home,
      hostId: HOST,
      environment,
      teammateCommand: [process.execPath],
      memberToken: noDaemon,
      async agentFor(_teamId, { agent, agentType }) {
        if (agent) return findOwn(agents, agent.name ?? '') ?? noDaemon();
        return findOwn(agents, agentType) ?? findOwn(agents, Object.keys(agents)[0] ?? '') ?? noDaemon();
      },
      onError,
    });
    closers.add('teams', () => teams.close());
    const native = openBridge({ ledger, home: home.directory, root: home.directory, trash: home.directory, onError });
    closers.add('native', () => native.close());
    const own = openInProcess({
      services: { ...teams, ledger, native, daemon: daemonOf(home) },
      hostId: HOST,
      agents,
      environment,
      died: (who, how) => teams.supervisor.died(who, how),
      onError,
    });
    await teams.start();
    await own.start();
    closers.add('members', () => own.close());
    const { coordinator, tasks, mailbox, hooks } = teams;
    return { coordinator, tasks, mailbox, hooks, ledger, close: () => closers.close() };
  } catch (error) {
    await closers.close();
    throw error;
  }
}

/** The services that members use in this process. They have no credential and no address. */
function daemonOf({ transcripts }: { transcripts: string }): DaemonService {
  return {
    transcriptFolder: (teamId, memberId) => join(transcripts, teamId, memberId),
    removeTranscripts: (teamId) => rm(join(transcripts, teamId), { recursive: true, force: true }),
    defaultAgent: noDaemon,
    status: noDaemon,
    stop: noDaemon,
    memberToken: noDaemon,
    rotateTokens: noDaemon,
    loginUrl: noDaemon,
  };
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

function noDaemon(): never {
  throw new TeamError(
    'unsupported',
    'Without a daemon, only agents of this process can run: pass them to embedTeams, or use startDaemon',
  );
}
