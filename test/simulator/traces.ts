import { bestReady } from '../../src/core/ready.ts';
import type { Inbox, TeamState } from '../../src/core/state.ts';
import type { Journal } from '../../src/journal/journal.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { TEAM } from './cast.ts';
import type { Checks } from './checks.ts';
import { scheduler } from './scheduler.ts';

/** After a write that failed, a daemon looks as long as this for others that fail, in simulated milliseconds. */
const REFUSED_MS = 300;

/**
 * A journal whose failed writes are followed by a comparison: what a daemon decided for them is not in its memory any
 * more. `ledgerOf` gives the ledger that uses it.
 */
export function withoutTraces(journal: Journal, checks: Checks, ledgerOf: () => Ledger): Journal {
  const { name } = scheduler.owner();
  let isPlanned = false;
  const look = async (): Promise<void> => {
    isPlanned = false;
    await ledgerOf().view(TEAM, (state, seq) => {
      if (seq === checks.counts.batches) requireSame(checks, `After a failed write, the ${name}`, state);
    });
  };
  return {
    ...journal,
    append(...args) {
      const appended = journal.append(...args);
      appended.catch(() => {
        if (isPlanned) return;
        isPlanned = true;
        // What cannot be read now is compared in the end.
        scheduler.plan(REFUSED_MS, () => void look().catch(() => {}));
      });
      return appended;
    },
  };
}

/** What a daemon has in memory is what the stored batches give. */
export function requireSame(checks: Checks, name: string, state: TeamState): void {
  const [theirs, ours] = [picture(state), picture(checks.state)];
  const at = [...theirs.keys(), ...ours.keys()].find((key) => theirs.get(key) !== ours.get(key));
  checks.require(
    at === undefined,
    `${name} has another state than the journal gives, ${at}: ${theirs.get(at ?? '')} instead of ${ours.get(at ?? '')}`,
  );
}

/**
 * A state as text, by place. The heaps of ready tasks and what is parked keep outdated entries on purpose: what they
 * offer counts. Sets have no order, and an empty one is the same as none.
 */
function picture(state: TeamState): ReadonlyMap<string, string> {
  const { index, undo, ...tables } = state;
  const { free: _free, reserved: _reserved, parked: _parked, oldReceipts: _oldReceipts, ...kept } = index;
  const lines = new Map<string, string>([['undo', String(undo?.length ?? 0)]]);
  for (const [name, table] of Object.entries({ ...tables, ...kept })) {
    if (!(table instanceof Map)) lines.set(name, textOf(table));
    else {
      const entries = [...(table as Map<string, unknown>)].filter(([, value]) => !isEmpty(value));
      for (const [key, value] of entries) lines.set(`${name} ${key}`, textOf(value));
      if (name in tables) lines.set(`order of ${name}`, entries.map(([key]) => key).join());
    }
  }
  for (const id of state.members.keys()) lines.set(`best task for ${id}`, String(bestReady(state, id)?.id));
  return lines;
}

function isEmpty(value: unknown): boolean {
  if (value instanceof Set) return value.size === 0;
  // An inbox whose only message was taken back.
  return typeof value === 'object' && value !== null && 'waiting' in value && (value as Inbox).ids.length === 0;
}

function textOf(value: unknown): string {
  return (
    JSON.stringify(value, (_key, part: unknown) => {
      if (part instanceof Set) return [...(part as Set<string>)].toSorted();
      if (part instanceof Map) return [...(part as Map<string, unknown>)];
      if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
      return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    }) ?? ''
  );
}
