import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where one daemon keeps its things. */
export interface Home {
  readonly directory: string;
  /** Clients of this machine connect here. */
  readonly socket: string;
  /** The admin credential of the running daemon, 0600. */
  readonly tokenFile: string;
  /** What members' credentials are signed with, 0600. */
  readonly secretFile: string;
  readonly journal: string;
  /** Held by the running daemon; a dead one holds nothing. */
  readonly lock: string;
  /** Who runs: pid, url, version. */
  readonly card: string;
  readonly log: string;
  /** What members did and were told: a folder per team and member, a file per session. */
  readonly transcripts: string;
  /** Processes of members: a record, a credential and a log each. */
  readonly processes: string;
  /** What of checkouts a person approved. */
  readonly approvals: string;
}

/** `TROUPE_HOME`, else `troupe` in the user's state directory. */
export function findHome(environment: Readonly<Record<string, string | undefined>>): Home {
  const state = environment['XDG_STATE_HOME'] || join(homedir(), '.local', 'state');
  return homeAt(environment['TROUPE_HOME'] || join(state, 'troupe'));
}

/** The things in a given state directory. */
export function homeAt(directory: string): Home {
  const at = (name: string): string => join(directory, name);
  return {
    directory,
    socket: at('daemon.sock'),
    tokenFile: at('token'),
    secretFile: at('secret'),
    journal: at('journal.db'),
    lock: at('lock.db'),
    card: at('daemon.json'),
    log: at('daemon.log'),
    transcripts: at('transcripts'),
    processes: at('processes'),
    approvals: at('approvals.json'),
  };
}
