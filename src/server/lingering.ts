import type { Duplex } from 'node:stream';
import type { Limits } from './limits.ts';

/** Connections that were cut off and whose last words nobody has read yet. */
export interface Lingering {
  /** Keeps one until its client is gone, for some minutes at most. Nothing more may be written to it. */
  keep(carrier: Duplex): void;
  has(carrier: Duplex): boolean;
  /** Gives up the one that has been there longest, among those that fit. */
  giveUp(fits?: (carrier: Duplex) => boolean): boolean;
}

/**
 * A client that sleeps reads its last words when it wakes up, if the connection is still there. Each holds what the kernel had not
 * taken of the frames under way; all of them together are bounded in number and in bytes.
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
      // Whoever left the most goes, and not those who left little before it.
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
