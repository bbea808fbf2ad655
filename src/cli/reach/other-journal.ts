import { findHome } from '../../client/home.ts';
import { clean } from '../show/text.ts';
import { warnPeople } from '../show/write.ts';

/**
 * Says once that the daemon which runs keeps its teams elsewhere than TROUPE_JOURNAL says: it is read when a daemon starts, and who sets
 * it for a single command would take one journal for another. Called when the daemon has answered, so that its card is its own.
 */
export async function tellOfOtherJournal(environment: NodeJS.ProcessEnv, say = warnPeople): Promise<void> {
  const wanted = environment['TROUPE_JOURNAL'];
  // A member's program has it from its daemon, and chooses nothing.
  if (!wanted || isTold || environment['TROUPE_TOKEN'] || environment['TROUPE_TOKEN_FILE']) return;
  isTold = true;
  const home = findHome(environment);
  const actual = readLocation(home.card);
  if (actual === undefined || wanted === actual || wanted === `sqlite:${actual}`) return;
  // What reads addresses is loaded for those whose words differ.
  const { isSamePlace, locate } = await import('./journal-place.ts');
  const place = await locate(wanted, home);
  if (isSamePlace(place, actual)) return;
  say(
    `troupe: The daemon that runs keeps its teams in ${clean(actual)}, not in ${clean(place)}, which TROUPE_JOURNAL names: that is read when a daemon starts. ` +
      'For the other journal: troupe stop, then the command again; or give it a daemon of its own with another TROUPE_HOME\n',
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
