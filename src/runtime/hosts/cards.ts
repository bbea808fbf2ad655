import type { HostCard } from '../../journal/hosts.ts';
import { since } from './lease.ts';
import type { Clocks } from './lease.ts';

interface Known {
  readonly card: HostCard;
  /** When it was last known to be alive. */
  readonly at: Clocks;
  /** When it was last heard to renew. One that is silent for a whole lease may be gone. */
  readonly renewed: Clocks;
}

/** The cards of all daemons, as far as this one knows. */
export function keepCards(pace: () => number) {
  const known = new Map<string, Known>();
  const leaseOf = ({ leaseMs = pace() }: HostCard): number => leaseMs;
  return {
    /** A daemon renewed its lease. */
    hear(card: HostCard, at: Clocks): void {
      known.set(card.name, { card, at, renewed: at });
    },

    /** What a list says that was asked for at that time. Keeps those heard meanwhile: the list may be older. */
    replace(cards: readonly HostCard[], at: Clocks): void {
      const before = new Map(known);
      for (const [name, one] of before) if (one.at.steady < at.steady) known.delete(name);
      for (const card of cards) {
        if (!known.has(card.name)) known.set(card.name, { card, at, renewed: before.get(card.name)?.renewed ?? at });
      }
    },

    /** The daemons known to be alive, by name. After a pause of ours, or while no server answers, there are none. */
    living(): HostCard[] {
      return [...known.values()]
        .flatMap(({ card, at }) => (since(at) <= leaseOf(card) ? [card] : []))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    /** In how many ms the leases of the other daemons end, unless they are renewed. */
    ends(self: string): number[] {
      const others = [...known.values()].filter(({ card }) => card.name !== self);
      return others.map(({ card, renewed }) => leaseOf(card) - since(renewed));
    },
  };
}
