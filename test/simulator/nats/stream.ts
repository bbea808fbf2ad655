import type { StreamConfig } from '@nats-io/jetstream';
import type { Cluster, Node } from './cluster.ts';
import { Consumer } from './consumer.ts';
import type { ConsumerConfig } from './consumer.ts';
import { Log } from './log.ts';
import type { Kept } from './log.ts';
import { headerOf } from './protocol.ts';
import type { Publication } from './protocol.ts';

export type Config = StreamConfig & { readonly name: string };

/** An error as JetStream answers it. */
export interface ApiError {
  readonly code: number;
  readonly err_code: number;
  readonly description: string;
}

const NS_PER_MS = 1_000_000;

/** A publication that the leader has sent to the replicas. */
interface Proposal {
  readonly publication: Publication;
  readonly leader: Node;
  readonly id: string | undefined;
}

/** How long it takes to elect a leader; after one was killed 4.5 to 7 s were measured, after it stepped down less. */
const ELECTION_MS = { least: 300, most: 7_000 };
const STEP_DOWN_MS = { least: 50, most: 1_500 };

/** A leader that has lost the others notices it within this time, and answers reads until then. */
const STALE_MS = 10_000;

/** How long servers may deny a stream. */
const DENIED_MS = 500;

/** A stream and its replicas: a log that only one leader with a majority adds to. */
export class Stream {
  config: Config;
  readonly log = new Log();
  leader: Node | undefined;
  /** A leader that most servers have left, what it knows, and until when it believes that it leads. */
  stale: { readonly node: Node; readonly log: Log; readonly until: number } | undefined;
  /** When servers may say that it does not exist: 2.9.10 did, after it lost a leader. */
  #denied = { from: 0, to: 0 };
  readonly consumers = new Map<string, Consumer>();
  readonly #servers: Cluster;
  readonly #onStored: (message: Kept) => void;
  #proposals: Proposal[] = [];
  readonly #ids = new Map<string, { seq: number; at: number }>();
  #isElecting = false;
  #commitAt = 0;

  constructor(servers: Cluster, config: Config, onStored: (message: Kept) => void) {
    this.#servers = servers;
    this.config = config;
    this.#onStored = onStored;
    this.leader = this.#pick(this.#candidates());
  }

  #candidates(): Node[] {
    const servers = this.#servers;
    return servers.nodes.filter((node) => servers.reaches(node, node) && servers.hasQuorum(node));
  }

  #pick(nodes: readonly Node[]): Node | undefined {
    return nodes[Math.floor(this.#servers.around.random() * nodes.length)];
  }

  /** Who answers a client of a server for this stream, and what that one knows. */
  seenFrom(node: Node): { readonly node: Node; readonly log: Log } | undefined {
    const servers = this.#servers;
    const { leader, stale, log } = this;
    if (leader && servers.reaches(node, leader)) return { node: leader, log };
    if (stale && servers.reaches(node, stale.node) && servers.around.now() < stale.until) return stale;
    return undefined;
  }

  /** Servers came or went. */
  reconsider(): void {
    const servers = this.#servers;
    const { leader, stale } = this;
    for (const [name, { node }] of this.consumers) if (!node.isUp) this.consumers.delete(name);
    if (leader && servers.hasQuorum(leader)) {
      if (stale && servers.reaches(leader, stale.node)) this.stale = undefined;
      this.feed();
      return;
    }
    if (leader?.isUp) {
      const until = servers.around.now() + servers.around.random() * STALE_MS;
      this.stale = { node: leader, log: this.log.copy(), until };
    }
    this.#loseLeader();
    this.#electLater(ELECTION_MS);
  }

  /** The leader gives up its office. */
  stepDown(): void {
    this.#loseLeader();
    this.#electLater(STEP_DOWN_MS);
  }

  #loseLeader(): void {
    const { around, version } = this.#servers;
    this.leader = undefined;
    if (isFrom(version, 2, 10)) return;
    const from = around.now() + around.random() * ELECTION_MS.most;
    this.#denied = { from, to: from + DENIED_MS * around.random() };
  }

  /** Whether a server says that it does not exist. */
  get isDenied(): boolean {
    const { around } = this.#servers;
    const { from, to } = this.#denied;
    return around.now() >= from && around.now() < to;
  }

  #electLater({ least, most }: { least: number; most: number }): void {
    const { around, isCluster } = this.#servers;
    if (this.#isElecting) return;
    this.#isElecting = true;
    around.plan(isCluster ? least + around.random() * (most - least) : 1, () => {
      this.#isElecting = false;
      if (this.leader) return;
      const candidates = this.#candidates();
      if (candidates.length === 0) this.#electLater({ least, most });
      else this.#elect(this.#pick(candidates));
    });
  }

  /** A new leader has some of what the last one had sent, and finishes it; nobody is told. */
  #elect(leader: Node | undefined): void {
    const left = this.#proposals;
    this.#proposals = [];
    this.leader = leader;
    const known = Math.floor(this.#servers.around.random() * (left.length + 1));
    for (const proposal of left.slice(0, known)) this.#apply(proposal);
    this.reconsider();
  }

  /** A client of a server publishes. */
  propose(from: Node, publication: Publication): void {
    const servers = this.#servers;
    const { headers, reply } = publication;
    const seen = this.seenFrom(from);
    if (!seen) {
      // The subject may have nobody behind it for a moment, or somebody who says nothing.
      if (reply !== undefined && servers.around.random() < 0.3) servers.noResponders(from, reply);
      return;
    }
    if (seen.node !== this.leader) return;
    // What wakes a leader: thousands of messages that it refuses without a word.
    const expected = headerOf(headers, 'Nats-Expected-Last-Sequence');
    if (reply === undefined && Number(expected) > this.log.lastSeq + this.#proposals.length) return;
    const refusal = this.#refusal(publication);
    if (refusal) {
      this.#answer(seen.node, reply, { error: refusal, stream: this.config.name, seq: 0 });
      return;
    }
    const id = headerOf(headers, 'Nats-Msg-Id');
    const before = this.#seqOf(id);
    if (before !== undefined) {
      this.#answer(seen.node, reply, { stream: this.config.name, seq: before, duplicate: true });
      return;
    }
    if (id !== undefined && this.#proposals.some((one) => one.id === id)) {
      const isNew = isFrom(servers.version, 2, 12);
      if (isNew) this.#answer(seen.node, reply, { error: UNDER_WAY, stream: this.config.name, seq: 0 });
      else if (isFrom(servers.version, 2, 10)) {
        this.#answer(seen.node, reply, { stream: this.config.name, seq: 0, duplicate: true });
      }
      if (isNew || isFrom(servers.version, 2, 10)) return;
    }
    const proposal = { publication, leader: seen.node, id };
    if (!servers.isCluster) this.#apply(proposal, seen.node);
    else {
      this.#proposals.push(proposal);
      const { around, storage } = servers;
      this.#commitAt = Math.max(this.#commitAt, around.now() + 0.2 + around.random() * storage.slowest);
      around.plan(this.#commitAt - around.now(), () => this.#commit(proposal));
    }
  }

  #commit(proposal: Proposal): void {
    const { leader } = this;
    const at = this.#proposals.indexOf(proposal);
    if (at < 0 || leader !== proposal.leader || !this.#servers.hasQuorum(leader)) return;
    for (const one of this.#proposals.splice(0, at + 1)) this.#apply(one, leader);
  }

  /** What a leader refuses at once. */
  #refusal({ headers, data }: Publication): ApiError | undefined {
    const { storage, version } = this.#servers;
    const stream = headerOf(headers, 'Nats-Expected-Stream');
    if (stream !== undefined && stream !== this.config.name) {
      return { code: 400, err_code: 10060, description: 'expected stream does not match' };
    }
    const expected = headerOf(headers, 'Nats-Expected-Last-Sequence');
    if (expected !== undefined && isFrom(version, 2, 11)) {
      if (this.#proposals.length > 0) {
        return { code: 400, err_code: 10164, description: 'wrong last sequence' };
      }
      if (Number(expected) !== this.log.lastSeq) return wrongSequence(this.log.lastSeq);
    }
    if (storage.isFull) return { code: 503, err_code: 10077, description: 'no space left on device' };
    const { max_bytes: most } = this.config;
    if (most > 0 && this.log.bytes + data.length > most) {
      return { code: 503, err_code: 10077, description: 'maximum bytes exceeded' };
    }
    return undefined;
  }

  /** Stores what most replicas have, and tells its writer, if its leader is still there. */
  #apply({ publication, id }: Proposal, leader?: Node): void {
    const { around } = this.#servers;
    const { subject, reply, headers, data } = publication;
    const answer = (body: object): void => {
      if (leader) this.#answer(leader, reply, { stream: this.config.name, ...body });
    };
    this.log.expire(this.config, around.now());
    const before = this.#seqOf(id);
    if (before !== undefined) return answer({ seq: before, duplicate: true });
    const expected = headerOf(headers, 'Nats-Expected-Last-Sequence');
    if (expected !== undefined && Number(expected) !== this.log.lastSeq) {
      return answer({ error: wrongSequence(this.log.lastSeq), seq: 0 });
    }
    const last = this.log.last(subject)?.seq ?? 0;
    const expectedOfSubject = headerOf(headers, 'Nats-Expected-Last-Subject-Sequence');
    if (expectedOfSubject !== undefined && Number(expectedOfSubject) !== last) {
      return answer({ error: wrongSequence(last), seq: 0 });
    }
    const kept = this.log.add({ subject, headers, data, at: around.now() }, this.config);
    if (id !== undefined) this.#ids.set(id, { seq: kept.seq, at: around.now() });
    if (headerOf(headers, 'Nats-Rollup') === 'sub') this.log.purge(subject, 1);
    this.#onStored(kept);
    answer({ seq: kept.seq });
    this.feed();
    return undefined;
  }

  #seqOf(id: string | undefined): number | undefined {
    const found = this.#ids.get(id ?? '');
    const isOver = found && this.#servers.around.now() - found.at > this.config.duplicate_window / NS_PER_MS;
    return isOver ? undefined : found?.seq;
  }

  #answer(leader: Node, reply: string | undefined, body: object): void {
    if (reply === undefined) return;
    this.#servers.deliver(leader, { subject: reply, data: Buffer.from(JSON.stringify(body)) });
  }

  /** Gives consumers what is new. */
  feed(): void {
    const servers = this.#servers;
    for (const consumer of this.consumers.values()) {
      const feed = (): void => {
        if (this.leader && servers.reaches(this.leader, consumer.node)) consumer.feed();
      };
      // It may be at another replica than the leader.
      if (consumer.node === this.leader) feed();
      else servers.around.plan(servers.around.random() * servers.storage.slowest, feed);
    }
  }

  forget(consumer: string): boolean {
    return this.consumers.delete(consumer);
  }

  /** A consumer in the memory of one server that the leader reaches. */
  addConsumer(config: ConsumerConfig, leader: Node): Consumer {
    const servers = this.#servers;
    const nodes = servers.nodes.filter((node) => servers.reaches(leader, node));
    const consumer = new Consumer(servers, this, { config, node: this.#pick(nodes) ?? leader });
    this.consumers.set(config.name, consumer);
    return consumer;
  }
}

const UNDER_WAY: ApiError = { code: 409, err_code: 10158, description: 'duplicate message id is in process' };

function wrongSequence(last: number): ApiError {
  return { code: 400, err_code: 10071, description: `wrong last sequence: ${last}` };
}

/** Whether a version such as `2.12.1` is at least this one. */
export function isFrom(version: string, major: number, minor: number): boolean {
  const [own = 0, sub = 0] = version.split('.').map(Number);
  return own > major || (own === major && sub >= minor);
}
