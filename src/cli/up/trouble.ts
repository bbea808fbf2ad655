import { existsSync } from 'node:fs';
import type { ConnectionState } from '../../client/client.ts';
import { findHome } from '../../client/home.ts';

/** What keeps a command from asking its daemon, for the one who wants to say so. */
export interface Trouble {
  readonly onState: (state: ConnectionState) => void;
  readonly onTrouble: (hear: (what: string | undefined) => void) => void;
  /** Somebody stopped the daemon that answered before: nobody is left to ask for anything. */
  readonly isStopped: () => boolean;
}

/** Puts into words that the daemon is lost, and that it is back. */
export function watchTrouble(environment: NodeJS.ProcessEnv): Trouble {
  let hear: (what: string | undefined) => void = () => {};
  let wasOpen = false;
  let isLost = false;
  return {
    onState(state) {
      if (state === 'open') {
        wasOpen = true;
        isLost = false;
        hear(undefined);
      } else if (state === 'waiting' && wasOpen) {
        isLost = true;
        hear(describeLoss(environment));
      }
    },
    isStopped: () => isLost && wasStopped(environment),
    onTrouble(next) {
      hear = next;
    },
  };
}

/** One that was stopped took its card along, and stays so; one that died left it, and is started again by whoever misses it. */
function describeLoss(environment: NodeJS.ProcessEnv): string {
  if (wasStopped(environment)) {
    return 'the daemon was stopped, and the members with it. Ctrl-C leaves; troupe up goes on with the team';
  }
  return environment['TROUPE_NO_AUTOSTART']
    ? 'the daemon is gone: troupe serve starts it again'
    : 'the daemon is gone; starting it again';
}

function wasStopped(environment: NodeJS.ProcessEnv): boolean {
  return !existsSync(findHome(environment).card);
}
