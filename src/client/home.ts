/** Where one daemon keeps its things. */
export interface Home {
  readonly directory: string;
  /** Clients of this machine connect here. */
  readonly socket: string;
  /** The admin credential of the running daemon, 0600. */
  readonly tokenFile: string;
  /** What members' credentials are signed with, 0600. */
  readonly secretFile: string;
  /** Hashes of the sessions in which a dashboard is open, 0600. */
  readonly loginsFile: string;
  readonly journal: string;
  /** Held by the running daemon; a dead one holds nothing. */
  readonly lock: string;
  /** Who runs: pid, url, version. */
  readonly card: string;
  /** After how long without a daemon its members may run elsewhere; only where its journal is shared. */
  readonly lease: string;
  readonly log: string;
  /** What members did and were told: a folder per team and member, a file per session. */
  readonly transcripts: string;
  /** Where members work for whom nobody said a folder: one per team. */
  readonly folders: string;
  /** Processes of members: a record, a credential and a log each. */
  readonly processes: string;
  /** What of checkouts a person approved. */
  readonly approvals: string;
  /** Which `troupe up` sees a team through; a file per team. */
  readonly holders: string;
  /** Where one attaches to the terminals of members that work in one; a socket each. */
  readonly terminals: string;
}

/**
 * `TROUPE_HOME`, else `troupe` in the user's state directory. Always a whole path: a daemon, a hook and a teammate each
 * work in a folder of their own. `XDG_STATE_HOME` must be one, or it does not count: so its specification says.
 */
export function findHome(environment: Readonly<Record<string, string | undefined>>): Home {
  const { TROUPE_HOME: own = '', XDG_STATE_HOME: state = '' } = environment;
  if (own !== '') return homeAt(own.startsWith('/') ? own : `${process.cwd()}/${own}`);
  return homeAt(`${state.startsWith('/') ? state : stateDirectory()}/troupe`);
}

/** The things in a given state directory. Every command asks, and ten calls of `join` would take it 1.5 ms. */
export function homeAt(path: string): Home {
  const directory = path.endsWith('/') ? path.slice(0, -1) : path;
  return {
    directory,
    socket: `${directory}/daemon.sock`,
    tokenFile: `${directory}/token`,
    secretFile: `${directory}/secret`,
    loginsFile: `${directory}/logins.json`,
    journal: `${directory}/journal.db`,
    lock: `${directory}/lock.db`,
    card: `${directory}/daemon.json`,
    lease: `${directory}/lease`,
    log: `${directory}/daemon.log`,
    transcripts: `${directory}/transcripts`,
    folders: `${directory}/folders`,
    processes: `${directory}/processes`,
    approvals: `${directory}/approvals.json`,
    holders: `${directory}/holders`,
    terminals: `${directory}/terminals`,
  };
}

function stateDirectory(): string {
  return `${process.getBuiltinModule('node:os').homedir()}/.local/state`;
}
