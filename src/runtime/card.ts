import { readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { replacePrivateFile } from './private-file.ts';

/** Who runs in a state directory, for people and programs that look for it. The lock, not the card, is the truth. */
export const DaemonCard = z.object({
  pid: z.number().int(),
  startTime: z.string().describe('clock ticks from the boot to the start of the process; empty where nobody tells'),
  bootId: z.string(),
  startedAt: z.string(),
  version: z.string(),
  socket: z.string(),
  url: z.string().nullable().describe('null until the daemon is ready'),
  journal: z.string().optional().describe('where its teams are; missing until it is ready'),
});
export type DaemonCard = z.output<typeof DaemonCard>;

/** The card that lies there; undefined if there is none that can be read. */
export function readCard(path: string): DaemonCard | undefined {
  try {
    return DaemonCard.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Puts a card in the place of the one before. */
export function writeCard(path: string, card: DaemonCard): void {
  replacePrivateFile(path, `${JSON.stringify(card, null, 2)}\n`);
}

/** Takes the card away. */
export function removeCard(path: string): void {
  rmSync(path, { force: true });
}
