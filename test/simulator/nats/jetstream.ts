import type { Cluster, Node } from './cluster.ts';
import type { ConsumerConfig } from './consumer.ts';
import type { Kept } from './log.ts';
import { isMatch } from './protocol.ts';
import type { Publication } from './protocol.ts';
import { Stream } from './stream.ts';
import type { ApiError, Config } from './stream.ts';

/** Sees every message when it is stored. */
export type Watch = (stream: string, message: Kept) => void;

/** What a request is answered with: a body, an error, or nothing at all. */
type Answer = { readonly error: ApiError } | object | undefined;

const API = '$JS.API.';

const STREAM_NOT_FOUND = { code: 404, err_code: 10059, description: 'stream not found' };
const CONSUMER_NOT_FOUND = { code: 404, err_code: 10014, description: 'consumer not found' };
const NO_MESSAGE = { code: 404, err_code: 10037, description: 'no message found' };
const NAME_IN_USE = {
  code: 400,
  err_code: 10058,
  description: 'stream name already in use with a different configuration',
};
const NO_PEERS = { code: 400, err_code: 10005, description: 'no suitable peers for placement' };
const UNAVAILABLE = { code: 503, err_code: 10008, description: 'JetStream system temporarily unavailable' };

/** What a stream has if nobody says otherwise. */
const DEFAULTS = { max_age: 0, max_bytes: -1, duplicate_window: 120_000_000_000, num_replicas: 1 };

/** What no stream's leader can answer alone. */
const TOGETHER: ReadonlySet<string> = new Set([
  'INFO',
  'STREAM.NAMES',
  'STREAM.CREATE',
  'STREAM.DELETE',
  'STREAM.UPDATE',
]);

/** JetStream: the streams of all servers, and the requests that manage them. */
export class JetStream {
  readonly streams = new Map<string, Stream>();
  /** What is answered instead of the truth, for tests of single answers. `silence` is none, `nobody` is "no responders". */
  odd: (subject: string, publication: Publication) => object | 'silence' | 'nobody' | undefined = () => undefined;
  readonly #servers: Cluster;
  readonly #onStored: Watch | undefined;

  constructor(servers: Cluster, onStored: Watch | undefined) {
    this.#servers = servers;
    this.#onStored = onStored;
  }

  get isCalm(): boolean {
    const haveLeaders = [...this.streams.values()].every(({ leader, stale }) => leader && !stale);
    return haveLeaders && !this.#servers.storage.isFull && this.#servers.storage.slowest <= 5;
  }

  /** Servers came or went. */
  reconsider(): void {
    for (const stream of this.streams.values()) stream.reconsider();
  }

  /** Somebody listens: perhaps to a consumer that waits for it. */
  subscribed(subject: string): void {
    for (const { consumers } of this.streams.values()) {
      for (const consumer of consumers.values()) if (consumer.config.deliver_subject === subject) consumer.feed();
    }
  }

  /** Whether a publication is for JetStream; then it is done. */
  handle(node: Node, publication: Publication): boolean {
    const { subject, reply } = publication;
    const odd = reply === undefined ? undefined : this.odd(subject, publication);
    if (odd !== undefined && reply !== undefined) {
      if (odd === 'nobody') this.#servers.noResponders(node, reply);
      else if (odd !== 'silence') {
        this.#servers.deliver(node, { subject: reply, data: Buffer.from(JSON.stringify(odd)) });
      }
      return true;
    }
    if (subject.startsWith('$JS.ACK.') || subject.startsWith('$JS.FC.')) return true;
    if (!subject.startsWith(API)) {
      const stream = [...this.streams.values()].find(({ config }) =>
        config.subjects.some((one) => isMatch(one, subject)),
      );
      stream?.propose(node, publication);
      return stream !== undefined;
    }
    if (reply === undefined) return true;
    const words = subject.slice(API.length).split('.');
    const body =
      publication.data.length > 0 ? (JSON.parse(publication.data.toString()) as Record<string, unknown>) : {};
    const answer = this.#answer(node, words, { body, reply });
    if (answer) {
      const { by = node, ...rest } = answer as { by?: Node };
      this.#servers.deliver(by, { subject: reply, data: Buffer.from(JSON.stringify(rest)) });
    }
    return true;
  }

  #answer(
    node: Node,
    words: readonly string[],
    { body, reply }: { body: Record<string, unknown>; reply: string },
  ): Answer {
    const verb = words.slice(0, 2).join('.');
    const name = words[words[1] === 'MSG' ? 3 : 2] ?? '';
    const stream = this.streams.get(name);
    // The servers have to agree on which streams there are.
    if (!this.#servers.hasQuorum(node) && (!stream || TOGETHER.has(verb))) {
      return this.#servers.around.random() < 0.5 ? { error: UNAVAILABLE } : undefined;
    }
    if (words[0] === 'INFO') {
      return {
        type: 'io.nats.jetstream.api.v1.account_info_response',
        streams: this.streams.size,
        limits: {},
        api: {},
      };
    }
    if (verb === 'STREAM.NAMES') return this.#names(body['subject'] as string | undefined, Number(body['offset'] ?? 0));
    if (verb === 'STREAM.CREATE') return this.#create({ ...body, name } as Config);
    if (!stream) return { error: STREAM_NOT_FOUND };
    if (verb === 'STREAM.DELETE') return this.#delete(stream);
    if (verb === 'STREAM.UPDATE') return this.#update(stream, body);
    if (stream.isDenied) return { error: STREAM_NOT_FOUND };
    const seen = stream.seenFrom(node);
    if (!seen) return undefined;
    const answer = this.#ofLeader(stream, seen, { verb, words, body, reply });
    return answer && { by: seen.node, ...answer };
  }

  /** What the leader of a stream answers. */
  #ofLeader(
    stream: Stream,
    { node, log }: NonNullable<ReturnType<Stream['seenFrom']>>,
    {
      verb,
      words,
      body,
      reply,
    }: { verb: string; words: readonly string[]; body: Record<string, unknown>; reply: string },
  ): Answer {
    log.expire(stream.config, this.#servers.around.now());
    const consumerName = (verb === 'CONSUMER.MSG' ? words[4] : words[3]) ?? '';
    const consumer = stream.consumers.get(consumerName);
    switch (verb) {
      case 'STREAM.INFO': {
        const filter = body['subjects_filter'] as string | undefined;
        const subjects = filter === undefined ? {} : { subjects: subjectsIn(log.lasts(filter)) };
        return this.#info(stream, { log, subjects });
      }
      case 'STREAM.MSG':
        return messageOf(log, body);
      case 'STREAM.PURGE':
        return { success: true, purged: log.purge((body['filter'] as string | undefined) ?? '>') };
      case 'CONSUMER.CREATE':
        return stream.addConsumer(body['config'] as ConsumerConfig, node).info;
      case 'CONSUMER.INFO':
        return consumer ? consumer.info : { error: CONSUMER_NOT_FOUND };
      case 'CONSUMER.DELETE':
        return stream.forget(consumerName) ? { success: true } : { error: CONSUMER_NOT_FOUND };
      case 'CONSUMER.MSG':
        consumer?.pull(reply, body as Record<string, number>);
        if (!consumer) this.#servers.noResponders(node, reply);
    }
    return undefined;
  }

  #info(stream: Stream, { log = stream.log, subjects = {} }: { log?: Stream['log']; subjects?: object } = {}): object {
    const { nodes, isCluster } = this.#servers;
    const replicas = nodes
      .filter((node) => node !== stream.leader)
      .map(({ name, isUp }) => ({ name, current: isUp, offline: !isUp, active: 0 }));
    return {
      type: 'io.nats.jetstream.api.v1.stream_info_response',
      config: stream.config,
      created: new Date(0).toISOString(),
      state: {
        messages: log.size,
        bytes: log.bytes,
        first_seq: log.firstSeq,
        last_seq: log.lastSeq,
        consumer_count: stream.consumers.size,
        ...subjects,
      },
      ...(isCluster && { cluster: { name: 'simulated', leader: stream.leader?.name, replicas } }),
    };
  }

  #names(subject: string | undefined, offset: number): object {
    const isOf = (one: string): boolean => subject === undefined || isMatch(subject, one) || isMatch(one, subject);
    const names = [...this.streams.values()]
      .filter(({ config }) => config.subjects.some(isOf))
      .map(({ config }) => config.name);
    const streams = names.sort().slice(offset);
    return {
      type: 'io.nats.jetstream.api.v1.stream_names_response',
      total: names.length,
      offset,
      limit: 1_024,
      streams,
    };
  }

  #create(wanted: Config): Answer {
    const { nodes } = this.#servers;
    const config: Config = { ...DEFAULTS, ...wanted };
    if (config.num_replicas > nodes.length) return { error: NO_PEERS };
    const before = this.streams.get(config.name);
    if (before) {
      return JSON.stringify(before.config) === JSON.stringify(config) ? this.#info(before) : { error: NAME_IN_USE };
    }
    const stream = new Stream(this.#servers, config, (message) => this.#onStored?.(config.name, message));
    this.streams.set(config.name, stream);
    return this.#info(stream);
  }

  #update(stream: Stream, change: Partial<Config>): Answer {
    if ((change.num_replicas ?? 1) > this.#servers.nodes.length) return { error: NO_PEERS };
    stream.config = { ...stream.config, ...change };
    return this.#info(stream);
  }

  #delete(stream: Stream): Answer {
    this.streams.delete(stream.config.name);
    for (const consumer of stream.consumers.values()) consumer.end();
    stream.consumers.clear();
    return { success: true };
  }
}

function subjectsIn(messages: readonly Kept[]): Record<string, number> {
  return Object.fromEntries(messages.map(({ subject }) => [subject, 1]));
}

function messageOf(
  log: Stream['log'],
  { seq, last_by_subj: subject }: { seq?: number; last_by_subj?: string },
): Answer {
  const found = subject === undefined ? log.get(seq ?? 0) : log.last(subject);
  if (!found) return { error: NO_MESSAGE };
  const { headers, data, at } = found;
  const message = {
    subject: found.subject,
    seq: found.seq,
    ...(headers && { hdrs: headers.toString('base64') }),
    data: data.toString('base64'),
    time: new Date(at).toISOString(),
  };
  return { type: 'io.nats.jetstream.api.v1.stream_msg_get_response', message };
}
