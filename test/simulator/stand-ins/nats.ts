// Stands in for @nats-io/transport-node in the journals: the real library, with connections to simulated servers.
import { errors, NatsConnectionImpl, nuid, setTransportFactory } from '@nats-io/transport-node';
import type { ConnectionOptions, NatsConnection, Transport } from '@nats-io/transport-node';
import type { Client, SimulatedNats } from '../nats/servers.ts';
import type { Network } from '../network.ts';
import { newOwner, scheduler } from '../scheduler.ts';
import type { Owner } from '../scheduler.ts';

export * from '@nats-io/transport-node';

/** How long a part of a connection waits before it is sent again, in milliseconds. */
const AGAIN_MS = 200;

/** The servers of all machines, and who is connected to them. */
export const nats = {
  servers: undefined as SimulatedNats | undefined,
  network: undefined as Network | undefined,
  owner: newOwner('nats servers', 'nats'),
  lines: new Map<Owner, Set<Wire>>(),
  reset(servers?: SimulatedNats, network?: Network): void {
    this.servers = servers;
    this.network = network;
    this.lines.clear();
    // Its numbers follow from those of the run before.
    nuid.reset();
  },
  /** A process has ended: the kernel closes its connections. */
  forget(owner: Owner): void {
    for (const wire of this.lines.get(owner) ?? []) wire.close();
    this.lines.delete(owner);
  },
};

/** One direction of a connection: what is sent arrives in its order, later if the way is closed now. */
class Way {
  readonly #from: Owner;
  readonly #to: Owner;
  #queue: (() => void)[] = [];
  #isUnderWay = false;

  constructor(from: Owner, to: Owner) {
    this.#from = from;
    this.#to = to;
  }

  send(arrive: () => void): void {
    if (!this.#from.isAlive) return;
    this.#queue.push(arrive);
    if (!this.#isUnderWay) this.#move();
  }

  #move(): void {
    this.#isUnderWay = this.#queue.length > 0;
    if (!this.#isUnderWay) return;
    const ms = nats.network?.delay(this.#from, this.#to);
    if (ms === undefined) {
      scheduler.plan(AGAIN_MS, () => this.#move(), nats.owner);
      return;
    }
    const parts = this.#queue;
    this.#queue = [];
    const arrive = (): void => {
      for (const part of parts) part();
      this.#move();
    };
    // Whoever dies meanwhile does not get it; for one that is stopped it waits.
    scheduler.plan(ms, arrive, this.#to);
  }
}

interface WireEnds {
  readonly onOpen: () => void;
  readonly onBytes: (bytes: Uint8Array) => void;
  /** Also if nobody accepts the connection. */
  readonly onEnd: () => void;
}

/** A connection of this process to a server. */
export class Wire {
  readonly #owner = scheduler.owner();
  readonly #up = new Way(this.#owner, nats.owner);
  readonly #down = new Way(nats.owner, this.#owner);
  #client: Client | undefined;
  #isClosed = false;

  constructor(port: number, { onOpen, onBytes, onEnd }: WireEnds) {
    const lines = nats.lines.get(this.#owner) ?? new Set();
    nats.lines.set(this.#owner, lines.add(this));
    const tell = (work: () => void): void => this.#down.send(() => void (this.#isClosed || work()));
    this.#up.send(() => {
      const node = nodeAt(port);
      if (this.#isClosed) return;
      if (!node?.isUp) {
        tell(onEnd);
        return;
      }
      tell(onOpen);
      this.#client = nats.servers?.connect(node, {
        send: (bytes) => tell(() => onBytes(bytes)),
        end: () => tell(onEnd),
      });
    });
  }

  send(bytes: Uint8Array): void {
    const copy = Uint8Array.from(bytes);
    this.#up.send(() => this.#client?.receive(copy));
  }

  close(): void {
    this.#isClosed = true;
    nats.lines.get(this.#owner)?.delete(this);
    // A server notices in a moment, also if the process was killed.
    scheduler.plan(1, () => this.#client?.close(), nats.owner);
  }
}

function nodeAt(port: number): SimulatedNats['nodes'][number] | undefined {
  return nats.servers?.nodes.find((node) => node.port === port);
}

class SimulatedTransport implements Transport {
  readonly lang = 'nats.js';
  readonly version = 'simulated';
  closeError?: Error;
  readonly #closed = Promise.withResolvers<void | Error>();
  #signal = Promise.withResolvers<void>();
  #yields: Uint8Array[] = [];
  #wire: Wire | undefined;
  #isConnected = false;
  #isDone = false;

  get isClosed(): boolean {
    return this.#isDone;
  }

  connect({ port }: { port: number }): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#wire = new Wire(port, {
        onOpen: () => {
          this.#isConnected = true;
          resolve();
        },
        onBytes: (bytes) => {
          this.#yields.push(bytes);
          this.#signal.resolve();
        },
        onEnd: () => {
          reject(new errors.ConnectionError('connection refused'));
          void this.close();
        },
      });
    });
  }

  async *[Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    while (!this.#isDone) {
      if (this.#yields.length === 0) await this.#signal.promise;
      this.#signal = Promise.withResolvers();
      yield* this.#yields.splice(0);
    }
  }

  send(bytes: Uint8Array): void {
    if (!this.#isDone) this.#wire?.send(bytes);
  }

  async close(error?: Error): Promise<void> {
    this.#wire?.close();
    if (!this.#isConnected || this.#isDone) return;
    this.#isDone = true;
    if (error) this.closeError = error;
    this.#signal.resolve();
    this.#closed.resolve(error);
  }

  disconnect(): void {
    void this.close();
  }

  discard(): void {
    this.#isDone = true;
    this.#wire?.close();
    this.#signal.resolve();
  }

  closed(): Promise<void | Error> {
    return this.#closed.promise;
  }

  isEncrypted(): boolean {
    return false;
  }
}

export function connect(options: ConnectionOptions): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new SimulatedTransport() });
  return NatsConnectionImpl.connect(options);
}
