import { findUserHome } from '../agents/user-home.ts';

/** The paths in the state directory of one daemon. */
export interface Home {
  readonly directory: string;
  /** Clients of this machine connect here. */
  readonly socket: string;
  /** The admin credential of the running daemon, 0600. */
  readonly tokenFile: string;
  /** The key that signs members' credentials, 0600. */
  readonly secretFile: string;
  /** Hashes of the dashboard's login sessions, 0600. */
  readonly loginsFile: string;
  readonly journal: string;
  /** How far the teams had come that are stored on servers. */
  readonly serversMark: string;
  /** A lock that the running daemon holds. The operating system releases it when the daemon dies. */
  readonly lock: string;
  /** The running daemon: pid, url, version. */
  readonly card: string;
  /** Says that a person stopped everything, until the journal says so too. */
  readonly stopped: string;
  /** How long this daemon may be silent before other machines may run its members. Only with a shared journal. */
  readonly lease: string;
  readonly log: string;
  /** What members did and were told: a folder per team and member, a file per session. */
  readonly transcripts: string;
  /** Work folders of members that have no folder of their own: one per team. */
  readonly folders: string;
  /** Processes of members: a record, a credential and a log each. */
  readonly processes: string;
  /** What a person approved in checkouts. */
  readonly approvals: string;
  /** Which `troupe up` follows a team; a file per team. */
  readonly holders: string;
  /** The command `troupe` for members, in a folder of its own: the last one on their PATH. */
  readonly launcher: string;
  /** Sockets for attaching to the terminals of members; one per member that works in a terminal. */
  readonly terminals: string;
}

/**
 * `TROUPE_HOME`, else `troupe` in the user's state directory. Always an absolute path, because a daemon, a hook and a
 * teammate have different working directories. A relative `XDG_STATE_HOME` is ignored, as its specification demands.
 */
export function findHome(environment: Readonly<Record<string, string | undefined>>): Home {
  const { TROUPE_HOME: own = '', XDG_STATE_HOME: state = '' } = environment;
  if (own !== '') return homeAt(own.startsWith('/') ? own : `${process.cwd()}/${own}`);
  return homeAt(`${state.startsWith('/') ? state : `${findUserHome(environment)}/.local/state`}/troupe`);
}

/** The paths in a given state directory. Every command needs them, and ten calls of `join` would take 1.5 ms. */
export function homeAt(path: string): Home {
  const directory = path.endsWith('/') ? path.slice(0, -1) : path;
  return {
    directory,
    socket: `${directory}/daemon.sock`,
    tokenFile: `${directory}/token`,
    secretFile: `${directory}/secret`,
    loginsFile: `${directory}/logins.json`,
    journal: `${directory}/journal.db`,
    serversMark: `${directory}/nats.mark`,
    lock: `${directory}/lock.db`,
    card: `${directory}/daemon.json`,
    stopped: `${directory}/stopped`,
    lease: `${directory}/lease`,
    log: `${directory}/daemon.log`,
    transcripts: `${directory}/transcripts`,
    folders: `${directory}/folders`,
    processes: `${directory}/processes`,
    approvals: `${directory}/approvals.json`,
    holders: `${directory}/holders`,
    launcher: `${directory}/launcher`,
    terminals: `${directory}/terminals`,
  };
}
