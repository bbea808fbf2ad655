// Stands in for node:net in the journals: to see whether a server greets.
import { EventEmitter } from 'node:events';
import { Wire } from './nats.ts';

export { isIP } from 'node:net';

class Socket extends EventEmitter {
  readonly #wire: Wire;

  constructor(port: number) {
    super();
    this.#wire = new Wire(port, {
      onOpen: () => this.emit('connect'),
      onBytes: (bytes) => this.emit('data', bytes),
      onEnd: () => this.emit('error', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })),
    });
  }

  destroy(): this {
    this.#wire.close();
    return this;
  }
}

export function connect({ port }: { port: number }): Socket {
  return new Socket(port);
}
