import type { Publication } from './protocol.ts';

/** What the servers need of the world. */
export interface Surroundings {
  /** Milliseconds. */
  now(): number;
  plan(ms: number, work: () => void): void;
  /** From 0 to below 1. */
  random(): number;
}

/** One server. */
export interface Node {
  readonly name: string;
  readonly port: number;
  isUp: boolean;
  /** Its process is stopped: what clients send waits. */
  isPaused: boolean;
  /** Servers on different sides do not reach each other. */
  side: number;
}

/** How storing goes wrong. */
export interface Storage {
  /** The longest time until replicas have what a leader sent them, in milliseconds. */
  slowest: number;
  /** There is no room for anything. */
  isFull: boolean;
}

/** What streams need of the servers. */
export interface Cluster {
  readonly around: Surroundings;
  readonly nodes: readonly Node[];
  readonly version: string;
  readonly isCluster: boolean;
  readonly storage: Storage;
  /** Whether a server answers another one. */
  reaches(from: Node, to: Node): boolean;
  /** Whether a server reaches most of all, itself included. */
  hasQuorum(node: Node): boolean;
  /** Whether somebody listens that a server reaches. */
  isHeard(from: Node, to: string): boolean;
  /** Sends a message to all who listen, from a server. Says whether somebody does. */
  deliver(from: Node, publication: Publication, to?: string): boolean;
  /** Tells who asked that nobody listens. */
  noResponders(node: Node, reply: string): void;
}
