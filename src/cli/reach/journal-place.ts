import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../../client/home.ts';
import { withoutPassword } from '../../core/secret.ts';
import { anchorPlace, OWN_PLACE, readJournalPlace, showPlace } from '../../journals.ts';
import type { JournalPlace } from '../../journals.ts';
import type { DaemonConfig } from '../../runtime/config.ts';

/** The configuration file of a state directory. Its parser is loaded only if the file exists. */
export async function readConfigIn({ directory }: Home): Promise<DaemonConfig> {
  if (!existsSync(join(directory, 'config.yaml'))) return {};
  return (await import('../../runtime/config.ts')).readConfig(directory);
}

/** Where a daemon keeps its teams: the flag overrides the variable, and both override the configuration file. */
export function findJournal(
  { directory }: Home,
  { given, environment, config }: { given?: string | undefined; environment: NodeJS.ProcessEnv; config: DaemonConfig },
): JournalPlace | undefined {
  const said = given ?? (environment['TROUPE_JOURNAL'] || undefined);
  if (said !== undefined) return readJournalPlace(said, process.cwd());
  return config.journal === undefined ? undefined : readJournalPlace(config.journal, directory);
}

/** The journal of the next daemon: the named one, else that of the last daemon. Throws if no daemon could use it. */
export async function findNext(home: Home, environment: NodeJS.ProcessEnv): Promise<JournalPlace> {
  const place = findJournal(home, { environment, config: await readConfigIn(home) });
  if (place) return place;
  const { recallJournal, lastJournalOf } = await import('../../runtime/last-journal.ts');
  const last = recallJournal(lastJournalOf(home.directory));
  return last ? readJournalPlace(last.journal, home.directory) : OWN_PLACE;
}

/** Makes a journal address absolute, for a process with another working directory. */
export function passOn(said: string): Promise<string> {
  return anchorPlace(said, process.cwd());
}

/** A named journal, written as daemons write theirs. If it is no valid address: as it was named, without a password. */
export async function locate(said: string, { journal }: Home): Promise<string> {
  try {
    return await showPlace(readJournalPlace(said, process.cwd()), { file: journal });
  } catch {
    return withoutPassword(said);
  }
}

/** Whether two journal addresses, as daemons write them, are the same: a file may have several paths. */
export function isSamePlace(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
