import type { HookType } from './hook.ts';
import type { Metadata } from './json.ts';

/** Under keys that begin so a team keeps which of its hooks failed and let pass what they were to judge. */
const BEGINNING = 'hookTrouble ';

/** Commands may be long, and a team's metadata has its bounds. */
const NAME_CHARS = 200;

/** Under which key a team keeps why a hook of its did not judge. */
export function troubleKey(type: HookType, command: string): string {
  return `${BEGINNING}${type} ${command.slice(0, NAME_CHARS)}`;
}

/** Whether a key of a team's metadata is about a hook that did not judge. */
export function isTroubleKey(key: string): boolean {
  return key.startsWith(BEGINNING);
}

/** The hooks of a team that failed last time and let pass what they were to judge: a text for each. */
export function hookTroubles(metadata: Metadata | undefined): string[] {
  return Object.entries(metadata ?? {}).flatMap(([key, text]) =>
    isTroubleKey(key) && typeof text === 'string' ? text : [],
  );
}

/** What a change of a team's metadata says of its hooks, a text for each; none where it is about something else. */
export function troublesTold(changes: Metadata | undefined): string[] {
  const again = Object.entries(changes ?? {}).flatMap(([key, text]) =>
    isTroubleKey(key) && text === null ? `The hook ${key.slice(BEGINNING.length)} is no trouble any more` : [],
  );
  return [...hookTroubles(changes), ...again];
}
