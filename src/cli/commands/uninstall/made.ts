import { chmodSync, lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../../../client/home.ts';
import { showBytes } from '../../../core/bytes.ts';
import { OWN_PLACE, showPlace } from '../../../journals.ts';
import { isOwnEntry, ONLY_OURS } from '../../../runtime/home-entries.ts';
import { sizeOf } from '../../../workspaces/sizes.ts';
import { findNext } from '../../reach/journal-place.ts';
import { findCompletions, findLoadingLines } from '../completion/installed.ts';
import { findManager, isInstalled } from '../service/manager.ts';

/** Something that Troupe made on this machine. */
export interface Made {
  readonly kind: 'state' | 'settings' | 'service' | 'completion';
  readonly path: string;
  /** What it is, for people. */
  readonly about: string;
  remove(): void;
}

/** Something that stays, and why. */
export interface Stays {
  readonly path: string;
  readonly why: string;
}

/** Finds what Troupe made on this machine, in the order in which it is removed, and what stays. */
export async function findMade(home: Home, environment: NodeJS.ProcessEnv): Promise<{ made: Made[]; stays: Stays[] }> {
  const state = await findState(home);
  const manager = findManager(home, environment);
  const service: Made[] =
    manager && isInstalled(manager)
      ? [{ kind: 'service', path: manager.file, about: `of ${manager.kind}`, remove: () => manager.remove() }]
      : [];
  const completions = findCompletions(environment).map(({ path, shell }): Made => ({
    kind: 'completion',
    path,
    about: `for ${shell}`,
    remove: () => removeFile(path),
  }));
  const lines = findLoadingLines(environment).map(({ path, line }): Stays => ({
    path,
    why: `line ${line} loads completions: remove it yourself`,
  }));
  return {
    // A service would start the daemon again.
    made: [...service, ...state.made, ...completions],
    stays: [...state.stays, ...(state.made.length > 0 ? await findJournalElsewhere(home, environment) : []), ...lines],
  };
}

async function findState(home: Home): Promise<{ made: Made[]; stays: Stays[] }> {
  const { directory } = home;
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (!found) return { made: [], stays: [] };
  if (!found.isDirectory()) return { made: [], stays: [{ path: directory, why: 'it is no directory' }] };
  const names = readdirSync(directory);
  const isOurs = names.length === 0 || names.some((name) => ONLY_OURS.includes(name));
  if (!isOurs) return { made: [], stays: [{ path: directory, why: 'no daemon ever used it' }] };
  const own = names.filter(isOwnEntry);
  const others = names.filter((name) => !isOwnEntry(name));
  const size = await sizeOf(directory);
  const remove = (): void => {
    // Again: the daemon wrote its last files when it stopped.
    for (const name of readdirSync(directory).filter(isOwnEntry)) removeFile(join(directory, name));
    if (readdirSync(directory).length === 0) rmdirSync(directory);
  };
  const about = `${showBytes(size)}: teams with their history, transcripts, workspaces, approvals`;
  return {
    made: [
      { kind: 'state', path: directory, about, remove },
      ...(own.includes('config.yaml')
        ? [{ kind: 'settings', path: join(directory, 'config.yaml'), about: 'yours', remove: () => {} } as const]
        : []),
    ],
    stays: others.map((name) => ({ path: join(directory, name), why: 'Troupe did not make it' })),
  };
}

/** A journal outside of the state directory may have other users. */
async function findJournalElsewhere(home: Home, environment: NodeJS.ProcessEnv): Promise<Stays[]> {
  try {
    const place = await findNext(home, environment);
    const path = await showPlace(place, { file: home.journal });
    if (place === OWN_PLACE || path === home.journal) return [];
    return [{ path, why: 'a journal outside of the state directory, with its teams' }];
  } catch {
    // Settings that no daemon could use name no journal.
    return [];
  }
}

/** Removes a file or a folder. Programs that members ran may have left folders that not even we may write. */
function removeFile(path: string): void {
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  try {
    remove();
  } catch {
    openFolders(path);
    remove();
  }
}

function openFolders(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) openFolders(join(path, entry.name));
  }
}
