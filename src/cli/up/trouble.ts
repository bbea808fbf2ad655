import { existsSync } from 'node:fs';
import type { ConnectionState } from '../../client/client.ts';
import { findHome } from '../../client/home.ts';

/** What keeps a command from asking its daemon, for the one who wants to say so. */
export interface Trouble {
  readonly onState: (state: ConnectionState) => void;
  readonly onTrouble: (hear: (what: string | undefined) => void) => void;
}

/** Puts into words that the daemon is lost, and that it is back. */
export function watchTrouble(environment: NodeJS.ProcessEnv): Trouble {
  let hear: (what: string | undefined) => void = () => {};
  let wasOpen = false;
  return {
    onState(state) {
      if (state === 'open') {
        wasOpen = true;
        hear(undefined);
      } else if (state === 'waiting' && wasOpen) hear(describeLoss(environment));
    },
    onTrouble(next) {
      hear = next;
    },
  };
}

/** One that was stopped took its card along, and stays so; one that died left it, and is started again by whoever misses it. */
function describeLoss(environment: NodeJS.ProcessEnv): string {
  return existsSync(findHome(environment).card) && !environment['TROUPE_NO_AUTOSTART']
    ? 'the daemon is gone; starting it again'
    : 'the daemon was stopped, and the team with it: troupe up goes on with it';
}
