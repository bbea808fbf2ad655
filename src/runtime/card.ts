import { readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { replacePrivateFile } from './private-file.ts';

/** The daemon of a state directory, for people and programs that look for it. The lock, not the card, is the truth. */
export const DaemonCard = z.object({
  pid: z.number().int(),
  startTime: z.string().describe('clock ticks from boot to the start of the process; empty if unknown'),
  bootId: z.string(),
  startedAt: z.string(),
  version: z.string(),
  socket: z.string(),
  url: z.string().nullable().describe('null until the daemon is ready'),
  journal: z.string().optional().describe('where its teams are; missing until it is ready'),
});
export type DaemonCard = z.output<typeof DaemonCard>;

/** The existing card; undefined if there is none or it is unreadable. */
export function readCard(path: string): DaemonCard | undefined {
  try {
    return DaemonCard.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Replaces the card. */
export function writeCard(path: string, card: DaemonCard): void {
  replacePrivateFile(path, `${JSON.stringify(card, null, 2)}\n`);
}

/** Removes the card. */
export function removeCard(path: string): void {
  rmSync(path, { force: true });
}
