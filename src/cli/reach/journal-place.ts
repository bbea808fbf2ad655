import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../../client/home.ts';
import { withoutPassword } from '../../core/secret.ts';
import { anchorPlace, OWN_PLACE, readJournalPlace, showPlace } from '../../journals.ts';
import type { JournalPlace } from '../../journals.ts';
import type { DaemonConfig } from '../../runtime/config.ts';

/** What a person set for the daemon of a state directory. What reads it is loaded for those who have one. */
export async function readConfigIn({ directory }: Home): Promise<DaemonConfig> {
  if (!existsSync(join(directory, 'config.yaml'))) return {};
  return (await import('../../runtime/config.ts')).readConfig(directory);
}

/** Where a daemon keeps its teams: a flag comes before the variable, and both before the configuration file. */
export function findJournal(
  { directory }: Home,
  { given, environment, config }: { given?: string | undefined; environment: NodeJS.ProcessEnv; config: DaemonConfig },
): JournalPlace | undefined {
  const said = given ?? (environment['TROUPE_JOURNAL'] || undefined);
  if (said !== undefined) return readJournalPlace(said, process.cwd());
  return config.journal === undefined ? undefined : readJournalPlace(config.journal, directory);
}

/** Where the next daemon will keep its teams: what somebody named, else where the last one did. Refuses where it could not begin there. */
export async function findNext(home: Home, environment: NodeJS.ProcessEnv): Promise<JournalPlace> {
  const place = findJournal(home, { environment, config: await readConfigIn(home) });
  if (place) return place;
  const { recallJournal, lastJournalOf } = await import('../../runtime/last-journal.ts');
  const last = recallJournal(lastJournalOf(home.directory));
  return last ? readJournalPlace(last.journal, home.directory) : OWN_PLACE;
}

/** What somebody said here, for a process that works in another folder. */
export function passOn(said: string): Promise<string> {
  return anchorPlace(said, process.cwd());
}

/** The place that somebody named, in the words in which a daemon tells its own; as it was named, without a password, where it is none. */
export async function locate(said: string, { journal }: Home): Promise<string> {
  try {
    return await showPlace(readJournalPlace(said, process.cwd()), { file: journal });
  } catch {
    return withoutPassword(said);
  }
}

/** Whether two places, in a daemon's words, are one: a file may be reached on several ways. */
export function isSamePlace(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
