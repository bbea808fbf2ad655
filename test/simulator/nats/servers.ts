import type { Cluster, Node, Storage, Surroundings } from './cluster.ts';
import { JetStream } from './jetstream.ts';
import type { Watch } from './jetstream.ts';
import { isMatch, RequestReader, statusHeaders, toMessage } from './protocol.ts';
import type { Publication, Request } from './protocol.ts';

/** A server with its connections. */
interface Server extends Node {
  readonly clients: Set<Connection>;
  /** What it was to do while it was stopped. */
  readonly missed: (() => void)[];
}

/** The servers' end of a connection. */
export interface Client {
  receive(bytes: Uint8Array): void;
  /** The client is gone. */
  close(): void;
}

/** The client's end of a connection. */
export interface Line {
  send(bytes: Uint8Array): void;
  /** The server is gone. */
  end(): void;
}

/** How answers go wrong between servers. */
export interface RouteTrouble {
  /** The longest time that one takes, in milliseconds. */
  slowest: number;
  /** The probability that one is lost, or comes twice. */
  loss: number;
  repeats: number;
}

export interface ServersOptions {
  /** 1, or more for a cluster. */
  readonly size?: number;
  readonly version?: string;
  readonly ports?: readonly number[];
  readonly onStored?: Watch;
}

const PAYLOAD_BYTES = 8 * 1024 * 1024;

/** A model of nats-server: subjects, connections and JetStream, for one server or a cluster. */
export class SimulatedNats implements Cluster {
  readonly nodes: readonly Server[];
  readonly storage: Storage = { slowest: 5, isFull: false };
  readonly version: string;
  readonly around: Surroundings;
  readonly jetstream: JetStream;
  readonly routes: RouteTrouble = { slowest: 1, loss: 0, repeats: 0 };
  /** Who may not listen to what. */
  isForbidden: (subject: string) => boolean = () => false;
  readonly #arrivals = new Map<string, number>();
  #connected = 0;

  constructor(around: Surroundings, { size = 1, version = '2.12.1', ports = [], onStored }: ServersOptions = {}) {
    this.around = around;
    this.version = version;
    this.nodes = Array.from({ length: size }, (_, at) => ({
      name: `n${at + 1}`,
      port: ports[at] ?? 4222 + at,
      isUp: true,
      isPaused: false,
      side: 0,
      clients: new Set<Connection>(),
      missed: [],
    }));
    this.jetstream = new JetStream(this, onStored);
  }

  get isCluster(): boolean {
    return this.nodes.length > 1;
  }

  /** Nothing is wrong with them, and every stream has its leader. */
  get isCalm(): boolean {
    const { slowest, loss } = this.routes;
    const areTogether = this.nodes.every((node) => node.isUp && !node.isPaused && node.side === 0);
    return areTogether && loss === 0 && slowest <= 1 && this.jetstream.isCalm;
  }

  reaches(from: Node, to: Node): boolean {
    return from.isUp && to.isUp && !from.isPaused && !to.isPaused && from.side === to.side;
  }

  hasQuorum(node: Node): boolean {
    return this.nodes.filter((other) => this.reaches(node, other)).length > this.nodes.length / 2;
  }

  /** A client connects. */
  connect(node: Server, line: Line): Client {
    const connection = new Connection(line);
    const client: Client = {
      receive: (bytes) =>
        this.#whenRunning(node, () => {
          for (const request of connection.reader.read(bytes)) {
            if (node.clients.has(connection)) this.#handle(node, request, connection);
          }
        }),
      close: () => void node.clients.delete(connection),
    };
    node.clients.add(connection);
    const info = {
      server_id: node.name,
      server_name: node.name,
      version: this.version,
      proto: 1,
      host: '127.0.0.1',
      port: node.port,
      headers: true,
      jetstream: true,
      max_payload: PAYLOAD_BYTES,
      client_id: ++this.#connected,
      ...(this.isCluster && { cluster: 'simulated' }),
    };
    this.#whenRunning(node, () => line.send(Buffer.from(`INFO ${JSON.stringify(info)} \r\n`)));
    return client;
  }

  #handle(node: Server, request: Request, { line, subscriptions }: Connection): void {
    switch (request.op) {
      case 'PING':
        line.send(Buffer.from('PONG\r\n'));
        break;
      case 'SUB':
        if (this.isForbidden(request.subject)) {
          line.send(Buffer.from(`-ERR 'Permissions Violation for Subscription to "${request.subject}"'\r\n`));
          break;
        }
        subscriptions.set(request.sid, { subject: request.subject, left: Infinity });
        this.jetstream.subscribed(request.subject);
        break;
      case 'UNSUB': {
        const one = subscriptions.get(request.sid);
        if (one && request.max > 0) one.left = request.max;
        else subscriptions.delete(request.sid);
        break;
      }
      case 'PUB':
        this.#publish(node, request);
        break;
      case 'CONNECT':
      case 'PONG':
    }
  }

  #publish(node: Node, publication: Publication): void {
    const isTaken = this.jetstream.handle(node, publication);
    // What a stream keeps is also heard by those who listen.
    const isHeard = this.deliver(node, publication);
    if (!isTaken && !isHeard && publication.reply !== undefined) this.noResponders(node, publication.reply);
  }

  noResponders(node: Node, reply: string): void {
    this.deliver(node, { subject: reply, headers: statusHeaders('503'), data: Buffer.alloc(0) });
  }

  deliver(from: Node, publication: Publication, to = publication.subject): boolean {
    let isHeard = false;
    for (const node of this.nodes) {
      if (!this.reaches(from, node)) continue;
      for (const client of node.clients) {
        if (!client.listens(to)) continue;
        isHeard = true;
        if (node === from) client.take(publication, to);
        else this.#pass(from, node, () => void (node.clients.has(client) && client.take(publication, to)));
      }
    }
    return isHeard;
  }

  isHeard(from: Node, to: string): boolean {
    return this.nodes.some((node) => this.reaches(from, node) && [...node.clients].some((one) => one.listens(to)));
  }

  /** Passes something on to another server, in order. */
  #pass(from: Node, to: Server, arrive: () => void): void {
    const { around, routes } = this;
    if (around.random() < routes.loss) return;
    const key = `${from.name} ${to.name}`;
    const at = Math.max(this.#arrivals.get(key) ?? 0, around.now() + 0.05 + around.random() * routes.slowest);
    this.#arrivals.set(key, at);
    const pass = (): void => around.plan(at - around.now(), () => this.#whenRunning(to, arrive));
    pass();
    if (around.random() < routes.repeats) pass();
  }

  #whenRunning(node: Server, work: () => void): void {
    if (node.isPaused) node.missed.push(work);
    else if (node.isUp) work();
  }

  /** Ends the connections of a server. */
  disconnect(node: Server): void {
    const clients = [...node.clients];
    node.clients.clear();
    for (const { line } of clients) line.end();
  }

  kill(node: Server): void {
    node.isUp = false;
    node.missed.length = 0;
    this.disconnect(node);
    this.jetstream.reconsider();
  }

  start(node: Server): void {
    node.isUp = true;
    this.jetstream.reconsider();
  }

  pause(node: Server): void {
    node.isPaused = true;
    this.jetstream.reconsider();
  }

  resume(node: Server): void {
    node.isPaused = false;
    for (const work of node.missed.splice(0)) if (node.isUp) work();
    this.jetstream.reconsider();
  }

  /** Cuts some servers off from the others; none if all reach each other again. */
  part(apart: readonly Node[]): void {
    for (const node of this.nodes) node.side = apart.includes(node) ? 1 : 0;
    this.jetstream.reconsider();
  }
}

class Connection {
  readonly line: Line;
  readonly reader = new RequestReader();
  readonly subscriptions = new Map<string, { readonly subject: string; left: number }>();

  constructor(line: Line) {
    this.line = line;
  }

  listens(to: string): boolean {
    return [...this.subscriptions.values()].some(({ subject }) => isMatch(subject, to));
  }

  take(publication: Publication, to: string): void {
    for (const [sid, one] of this.subscriptions) {
      if (!isMatch(one.subject, to)) continue;
      this.line.send(toMessage(sid, publication));
      if (--one.left === 0) this.subscriptions.delete(sid);
    }
  }
}
