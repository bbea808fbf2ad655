import { TeamError } from '../core/errors.ts';

/** What a daemon tells the others that share its journal. */
export interface HostCard {
  readonly name: string;
  readonly labels: string[];
  /** The agents that it can run, by name. */
  readonly agents: string[];
  /** How many members it runs. */
  readonly load: number;
  /** The same for all daemons that ever run in one state directory. */
  readonly home: string;
  /** New with each start of a daemon. */
  readonly instance?: string;
  readonly version: string;
  /** Whether it tells people what needs them. */
  readonly notifies?: boolean;
  /** The lease by which it renews its card. Daemons of versions without this field ignore changes of the lease. */
  readonly leaseMs?: number;
}

/**
 * The daemons that share a journal. Each has a lease: a card that lasts `leaseMs` and is renewed earlier. Only the
 * store's clock decides when a card expires, so clocks of different machines are never compared.
 */
export interface Hosts {
  /** As last read. */
  readonly leaseMs: number;

  /** Reads the lease again, because it may have changed. */
  readLease(): Promise<number>;

  /**
   * Publishes or renews the card; it is stored when this resolves. Fails with `exists` if another daemon has a card of
   * this name, unless it is the one that this card `replaces`.
   */
  announce(card: HostCard, options?: { replaces?: HostCard | undefined }): Promise<void>;

  /** The cards that have not expired, sorted by name. */
  list(): Promise<HostCard[]>;

  /** Removes our card. One of another daemon stays. */
  leave(name: string): Promise<void>;

  /** Whether a daemon of this name has a connection. A frozen one has; a killed one has not. */
  isConnected(name: string): Promise<boolean>;

  /** Asks another daemon; fails with `storage` if it does not answer in time. */
  ask(name: string, question: unknown, options: { timeoutMs: number }): Promise<unknown>;

  /** Answers questions to this daemon; returns a function that stops it. A throw answers one question only. */
  answer(name: string, handler: (question: unknown) => Promise<unknown>): () => void;

  /**
   * Sends ourselves a question as others would; returns whether it arrived. After two failures in a row it reconnects
   * to the servers: a server may forget our subscriptions (2.9.10, when its accounts were reloaded), and nothing else
   * would show it.
   */
  checkHearing(name: string): Promise<boolean>;

  /** Calls the listener with new cards. A card may get lost. Returns a function that stops it. */
  onCard(listener: (card: HostCard) => void): () => void;

  /** Calls the listener with new teams. A team may get lost. Returns a function that stops it. */
  onTeam(listener: (team: string) => void): () => void;
}

/** The error for a name that another daemon has. */
export function nameTaken(name: string): TeamError {
  return new TeamError(
    'exists',
    `Another daemon on this journal has the name ${name}: give this one another name (troupe serve --name), ` +
      'or wait until its lease expires',
  );
}
