/** What a daemon says of itself to the others that share its journal. */
export interface HostCard {
  readonly name: string;
  readonly labels: string[];
  /** The agents that it can run, by name. */
  readonly agents: string[];
  /** How many members it runs. */
  readonly load: number;
  /** The same for all daemons of one state directory, one after the other. */
  readonly home: string;
  /** Another one each time that a daemon starts. */
  readonly instance?: string;
  readonly version: string;
  /** The lease that it renews itself by; those before it was said follow no change. */
  readonly leaseMs?: number;
}

/**
 * The daemons that share a journal. Each has a lease: a card that lasts `leaseMs` and is renewed before. The clock of the
 * store alone decides when a card is over, so no two machines' clocks are compared.
 */
export interface Hosts {
  /** As it was when it was last read. */
  readonly leaseMs: number;

  /** Reads the lease again: somebody may have changed it. */
  readLease(): Promise<number>;

  /** Puts the card up, or up again; it is there when this resolves. */
  announce(card: HostCard): Promise<void>;

  /** The cards that are not over, by name. */
  list(): Promise<HostCard[]>;

  /** Takes the card down. */
  leave(name: string): Promise<void>;

  /** Whether a daemon of this name has a connection, alive or frozen; one that was killed has none. */
  isConnected(name: string): Promise<boolean>;

  /** Asks another daemon something; `storage` if it does not answer in time. */
  ask(name: string, question: unknown, options: { timeoutMs: number }): Promise<unknown>;

  /** Answers what others ask the daemon of this name; returns the way to stop. A throw is the answer to one question. */
  answer(name: string, handler: (question: unknown) => Promise<unknown>): () => void;

  /**
   * Asks ourselves as others would, and says whether that arrived. Where it does not, twice in a row, the way to the servers is made anew:
   * a server may forget what we listen to (2.9.10, when its accounts were read anew), and nobody else would tell us.
   */
  checkHearing(name: string): Promise<boolean>;

  /** Hears the cards that are put up; one may get lost. Returns the way to stop. */
  onCard(listener: (card: HostCard) => void): () => void;

  /** Hears of teams that were made; a name may get lost. Returns the way to stop. */
  onTeam(listener: (team: string) => void): () => void;
}
