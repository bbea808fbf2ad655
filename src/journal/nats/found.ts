import type { TeamError } from '../../core/errors.ts';
import type { HostCard } from '../hosts.ts';
import type { Durability } from './durability.ts';

/*
 * What can be found at an address. These types are in the declarations of the library, so they need none of the packages
 * for NATS, which its users may not have.
 */

/** What an inspection of an address finds, as far as it gets. */
export interface NatsInspection {
  readonly place: string;
  /** Which servers accept connections. */
  readonly servers: readonly ServerReach[];
  /** Where the inspection ended, and what to do: no connection, a refused credential, no JetStream, lost batches. */
  readonly failure?: TeamError;
  readonly version?: string;
  /** Missing if there is no journal yet. */
  readonly journal?: FoundJournal;
}

/** A journal, with the state of its streams. */
export interface FoundJournal extends Settings, KeptStreams {
  readonly leaseMs: number | undefined;
  readonly durability: Durability;
  readonly hosts: readonly HostCard[];
  /** Advice on teams that differ from the settings. */
  readonly advice?: string;
}

/** A server, and why it cannot be reached, if so. */
export interface ServerReach {
  readonly server: string;
  readonly failure?: Error;
}

/** Settings for all teams of a journal; stored with its snapshots, so that all daemons see the same. */
export interface Settings {
  /** How many servers keep each team. */
  readonly replicas: number;
  /** The size limit of one team; without it the limits of the account and the disk apply. */
  readonly maxBytes?: number;
}

/** A team whose stream differs from the journal's settings. */
export interface OddTeam {
  readonly team: string;
  readonly replicas: number;
  readonly maxBytes?: number;
}

/** The state of a journal's streams. */
export interface KeptStreams {
  readonly teams: number;
  readonly odd: readonly OddTeam[];
  /** Teams with a replica that is offline or lags behind. */
  readonly lagging: readonly string[];
}
