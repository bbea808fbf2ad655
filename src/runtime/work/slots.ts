import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replacePrivateFile } from '../private-file.ts';

/** Small numbers, one per workspace of this machine: projects make ports and names of databases from them. */
export interface Slots {
  /** The number of a workspace; the lowest free one if it has none yet. */
  of(teamId: string, memberId: string): number;
  /** Frees the numbers of a team. */
  free(teamId: string): void;
}

/** Keeps the numbers in a file beside the workspaces. */
export function openSlots(folder: string): Slots {
  const path = join(folder, '.slots.json');
  const slots = read(path);
  const write = (): void => replacePrivateFile(path, JSON.stringify(Object.fromEntries(slots)));
  return {
    of(teamId, memberId) {
      const key = `${teamId}/${memberId}`;
      const known = slots.get(key);
      if (known !== undefined) return known;
      const taken = new Set(slots.values());
      let slot = 0;
      while (taken.has(slot)) slot++;
      slots.set(key, slot);
      write();
      return slot;
    },
    free(teamId) {
      const keys = [...slots.keys()].filter((key) => key.startsWith(`${teamId}/`));
      for (const key of keys) slots.delete(key);
      if (keys.length > 0) write();
    },
  };
}

function read(path: string): Map<string, number> {
  try {
    const entries = Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>);
    return new Map(entries.filter((entry): entry is [string, number] => Number.isInteger(entry[1])));
  } catch {
    // Missing or damaged: workspaces get new numbers.
    return new Map();
  }
}
