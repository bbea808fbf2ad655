import type { Cluster, Node } from './cluster.ts';
import type { Kept, Log } from './log.ts';
import { statusHeaders } from './protocol.ts';

export interface ConsumerConfig {
  readonly name: string;
  readonly deliver_policy?: string;
  readonly opt_start_seq?: number;
  readonly filter_subject?: string;
  readonly deliver_subject?: string;
  readonly inactive_threshold?: number;
  readonly idle_heartbeat?: number;
}

/** The stream of a consumer. */
interface Source {
  readonly config: { readonly name: string };
  readonly log: Log;
  readonly consumers: ReadonlyMap<string, Consumer>;
  forget(name: string): void;
}

/** A request for messages. */
interface Pull {
  readonly reply: string;
  left: number;
  /** Something was sent since the last heartbeat. */
  isBusy: boolean;
}

const NS_PER_MS = 1_000_000;
const INACTIVE_MS = 300_000;
const EMPTY = Buffer.alloc(0);

/** A consumer that keeps an order and needs no acknowledgements, in the memory of one server. */
export class Consumer {
  readonly config: ConsumerConfig;
  readonly node: Node;
  readonly #servers: Cluster;
  readonly #stream: Source;
  readonly #pulls: Pull[] = [];
  #next: number;
  #delivered = 0;
  /** The last message of each subject comes first, if that was asked for. */
  #first: Kept[] = [];
  #usedAt: number;

  constructor(servers: Cluster, stream: Source, { config, node }: { config: ConsumerConfig; node: Node }) {
    this.#servers = servers;
    this.#stream = stream;
    this.config = config;
    this.node = node;
    this.#next = config.opt_start_seq ?? 1;
    if (config.deliver_policy === 'new') this.#next = stream.log.lastSeq + 1;
    if (config.deliver_policy === 'last_per_subject') {
      this.#first = stream.log.lasts(config.filter_subject ?? '>');
      this.#next = stream.log.lastSeq + 1;
    }
    this.#usedAt = servers.around.now();
    this.#forgetLater();
    if (config.deliver_subject !== undefined) this.#beat((config.idle_heartbeat ?? 0) / NS_PER_MS);
  }

  get #isThere(): boolean {
    return this.#stream.consumers.get(this.config.name) === this;
  }

  /** The server removes a consumer that nobody uses. */
  #forgetLater(): void {
    const threshold = (this.config.inactive_threshold ?? INACTIVE_MS * NS_PER_MS) / NS_PER_MS;
    const { around } = this.#servers;
    around.plan(threshold, () => {
      if (!this.#isThere) return;
      if (around.now() - this.#usedAt >= threshold) this.#stream.forget(this.config.name);
      else this.#forgetLater();
    });
  }

  /** A push consumer shows that it lives. */
  #beat(ms: number): void {
    if (!(ms > 0)) return;
    this.#servers.around.plan(ms, () => {
      const to = this.config.deliver_subject;
      if (!this.#isThere || to === undefined) return;
      const isHeard = this.#servers.deliver(this.node, { subject: to, headers: this.#idle(), data: EMPTY });
      if (isHeard) this.#usedAt = this.#servers.around.now();
      this.#beat(ms);
    });
  }

  #idle(): Buffer {
    const more = { 'Nats-Last-Consumer': this.#delivered, 'Nats-Last-Stream': this.#next - 1 };
    return statusHeaders('100 Idle Heartbeat', more);
  }

  get info(): object {
    const { name, filter_subject: filter, deliver_subject: to } = this.config;
    return {
      stream_name: this.#stream.config.name,
      name,
      config: this.config,
      created: new Date(0).toISOString(),
      delivered: { consumer_seq: this.#delivered, stream_seq: this.#next - 1 },
      ack_floor: { consumer_seq: 0, stream_seq: 0 },
      num_ack_pending: 0,
      num_redelivered: 0,
      num_waiting: this.#pulls.length,
      num_pending: this.#first.length + this.#stream.log.pending(this.#next, filter),
      push_bound: to !== undefined && this.#servers.isHeard(this.node, to),
    };
  }

  /** A client asks for messages. */
  pull(reply: string, { batch = 1, expires = 0, idle_heartbeat: beat = 0 }: Record<string, number>): void {
    const { around } = this.#servers;
    const pull: Pull = { reply, left: batch, isBusy: false };
    this.#usedAt = around.now();
    this.#pulls.push(pull);
    const isOpen = (): boolean => this.#isThere && this.node.isUp && this.#pulls.includes(pull);
    around.plan(expires / NS_PER_MS, () => {
      if (!isOpen()) return;
      this.#pulls.splice(this.#pulls.indexOf(pull), 1);
      const more = { 'Nats-Pending-Messages': pull.left, 'Nats-Pending-Bytes': 0 };
      this.#servers.deliver(this.node, {
        subject: reply,
        headers: statusHeaders('408 Request Timeout', more),
        data: EMPTY,
      });
    });
    const beatLater = (): void =>
      around.plan(beat / NS_PER_MS, () => {
        if (!isOpen()) return;
        if (!pull.isBusy) this.#servers.deliver(this.node, { subject: reply, headers: this.#idle(), data: EMPTY });
        pull.isBusy = false;
        beatLater();
      });
    if (beat > 0) beatLater();
    this.feed();
  }

  /** Sends what there is to those who wait for it. */
  feed(): void {
    const { filter_subject: filter, deliver_subject: to } = this.config;
    while (this.#isThere && this.node.isUp) {
      const pull = this.#pulls[0];
      // A push consumer waits until somebody listens.
      if (!pull && (to === undefined || !this.#servers.isHeard(this.node, to))) return;
      const message = this.#first[0] ?? this.#stream.log.next(this.#next, filter);
      if (!message) return;
      if (this.#first.length > 0) this.#first.shift();
      else this.#next = message.seq + 1;
      this.#delivered++;
      const pending = this.#first.length + this.#stream.log.pending(this.#next, filter);
      const { seq, subject, headers, data, at } = message;
      const about = [
        this.#stream.config.name,
        this.config.name,
        1,
        seq,
        this.#delivered,
        Math.floor(at) * NS_PER_MS,
        pending,
      ];
      const reply = `$JS.ACK.${about.join('.')}`;
      this.#servers.deliver(this.node, { subject, reply, headers, data }, pull?.reply ?? to);
      this.#usedAt = this.#servers.around.now();
      if (!pull) continue;
      pull.isBusy = true;
      if (--pull.left === 0) this.#pulls.shift();
    }
  }

  /** Tells those who wait that it is gone. */
  end(): void {
    const headers = statusHeaders('409 Consumer Deleted');
    for (const { reply } of this.#pulls.splice(0)) {
      this.#servers.deliver(this.node, { subject: reply, headers, data: EMPTY });
    }
  }
}
