import { findHome } from '../../client/home.ts';
import { fileAddress } from '../../journal/file-address.ts';
import { clean } from '../show/text.ts';
import { warnPeople } from '../show/write.ts';

/**
 * Warns once if the running daemon keeps its teams elsewhere than TROUPE_JOURNAL says. A daemon reads that variable
 * when it starts; setting it for one command has no effect. Call it after the daemon answered: then the card is its
 * own.
 */
export async function tellOfOtherJournal(environment: NodeJS.ProcessEnv, say = warnPeople): Promise<void> {
  const wanted = environment['TROUPE_JOURNAL'];
  // A member's program has the variable from its daemon.
  if (!wanted || isTold || environment['TROUPE_TOKEN'] || environment['TROUPE_TOKEN_FILE']) return;
  isTold = true;
  const home = findHome(environment);
  const actual = readLocation(home.card);
  if (actual === undefined || wanted === actual || wanted === fileAddress(actual)) return;
  // Loaded only if the texts differ.
  const { isSamePlace, locate } = await import('./journal-place.ts');
  const place = await locate(wanted, home);
  if (isSamePlace(place, actual)) return;
  say(
    `troupe: The running daemon keeps its teams in ${clean(actual)}, not in ${clean(place)} (TROUPE_JOURNAL), which is read only when a daemon starts. ` +
      'To use the other journal: troupe stop, then the command again; or start a second daemon with another TROUPE_HOME\n',
  );
}

let isTold = false;

function readLocation(card: string): string | undefined {
  try {
    const { journal } = JSON.parse(process.getBuiltinModule('node:fs').readFileSync(card, 'utf8')) as Partial<
      Record<string, unknown>
    >;
    return typeof journal === 'string' ? journal : undefined;
  } catch {
    return undefined;
  }
}
