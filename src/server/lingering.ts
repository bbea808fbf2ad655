import type { Duplex } from 'node:stream';
import type { Limits } from './limits.ts';

/** Connections that were cut off and whose last frame the client has not read yet. */
export interface Lingering {
  /** Keeps a connection until its client is gone, for some minutes at most. Nothing more may be written to it. */
  keep(carrier: Duplex): void;
  has(carrier: Duplex): boolean;
  /** Closes the connection that has been kept longest, among those that fit. */
  giveUp(fits?: (carrier: Duplex) => boolean): boolean;
}

/**
 * A client that sleeps reads its last frame when it wakes up, if the connection is still open. Each connection holds
 * what the kernel had not taken of its frames. Their number and their bytes together are limited.
 */
export function openLingering(limits: Limits): Lingering {
  const kept = new Set<Duplex>();
  const lingering: Lingering = {
    keep(carrier) {
      if (carrier.destroyed) return;
      kept.add(carrier);
      const timer = setTimeout(() => carrier.destroy(), limits.lingerMs).unref();
      carrier.once('close', () => {
        clearTimeout(timer);
        kept.delete(carrier);
      });
      if (kept.size > limits.lingering) lingering.giveUp();
      // The largest goes first, not the small ones that came before it.
      while (bytes() > limits.lingerBytes) giveUpLargest();
    },
    has: (carrier) => kept.has(carrier),
    giveUp(fits = () => true) {
      for (const carrier of kept) {
        if (!fits(carrier)) continue;
        kept.delete(carrier);
        carrier.destroy();
        return true;
      }
      return false;
    },
  };
  return lingering;

  function giveUpLargest(): void {
    const most = Math.max(...[...kept].map(({ writableLength }) => writableLength));
    lingering.giveUp(({ writableLength }) => writableLength === most);
  }

  function bytes(): number {
    let sum = 0;
    for (const { writableLength } of kept) sum += writableLength;
    return sum;
  }
}
