import type { HookType } from './hook.ts';
import type { Metadata } from './json.ts';

/** The prefix of metadata keys under which a team records hooks that failed and let their task or member pass. */
const BEGINNING = 'hookTrouble ';

/** Commands may be long, and a team's metadata has a limit. */
const NAME_CHARS = 200;

/** The metadata key under which a team records why a hook did not judge. */
export function troubleKey(type: HookType, command: string): string {
  return `${BEGINNING}${type} ${command.slice(0, NAME_CHARS)}`;
}

/** Whether a metadata key is about a hook that did not judge. */
export function isTroubleKey(key: string): boolean {
  return key.startsWith(BEGINNING);
}

/** One text for each hook of a team that failed last time and let pass what it should judge. */
export function hookTroubles(metadata: Metadata | undefined): string[] {
  return Object.entries(metadata ?? {}).flatMap(([key, text]) =>
    isTroubleKey(key) && typeof text === 'string' ? text : [],
  );
}

/** One text for each hook that a change of metadata is about; none if it is about something else. */
export function troublesTold(changes: Metadata | undefined): string[] {
  const again = Object.entries(changes ?? {}).flatMap(([key, text]) =>
    isTroubleKey(key) && text === null ? `The hook ${key.slice(BEGINNING.length)} works again` : [],
  );
  return [...hookTroubles(changes), ...again];
}
