import { readNatsAddress } from './address.ts';
import { explaining } from './errors.ts';
import { openLink } from './link.ts';
import { changeSettings } from './settings.ts';
import type { Setup, Wanted } from './settings.ts';

/** Servers that have just started elect a leader first. */
const PATIENCE_MS = 20_000;

/** Creates the journal at an address, or changes the existing one with all its teams. */
export async function setUpNatsJournal(url: string, wanted: Wanted, base = process.cwd()): Promise<Setup> {
  const link = await openLink(readNatsAddress(url, base), {
    patienceMs: PATIENCE_MS,
    closing: new AbortController().signal,
  });
  try {
    return await explaining(link.place, 'set up the journal', () => changeSettings(link, wanted));
  } finally {
    await link.nc.close();
  }
}
