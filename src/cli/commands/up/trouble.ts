import { existsSync } from 'node:fs';
import type { ConnectionState } from '../../../client/client.ts';
import { findHome } from '../../../client/home.ts';

/** What keeps a command from asking its daemon, for the one who wants to say so. */
export interface Trouble {
  readonly onState: (state: ConnectionState) => void;
  readonly onTrouble: (hear: (what: string | undefined) => void) => void;
  /** Called once, when the daemon was stopped and nobody whom it ran goes on: there is nothing left to wait for. */
  readonly onStopped: (hear: () => void) => void;
  /** Somebody stopped the daemon that answered before: nobody is left to ask for anything. */
  readonly isStopped: () => boolean;
}

/** How often it is looked whether members that outlived their daemon are still there, and when they are taken for kept. */
const LOOK_MS = 200;
const KEPT_MS = 2_000;

/** Puts into words that the daemon is lost, and that it is back. */
export function watchTrouble(environment: NodeJS.ProcessEnv): Trouble {
  let hear: (what: string | undefined) => void = () => {};
  let hearStopped: () => void = () => {};
  let wasOpen = false;
  let isLost = false;
  let looking: NodeJS.Timeout | undefined;
  const isStopped = (): boolean => wasOpen && wasStopped(environment);
  /** Members outlive their daemon for a moment (troupe stop --all), or until the next one (troupe stop --keep). */
  const look = async (since: number): Promise<void> => {
    const { listLeft } = await import('../stop-all.ts');
    if (!isLost || !isStopped()) return;
    if (listLeft(environment).length === 0) return hearStopped();
    if (performance.now() - since > KEPT_MS) hear(KEPT);
    looking = setTimeout(() => void look(since), LOOK_MS);
  };
  return {
    onState(state) {
      if (state === 'open' || state === 'closed') {
        clearTimeout(looking);
        wasOpen ||= state === 'open';
        isLost = false;
        hear(undefined);
      } else if (state === 'waiting' && wasOpen) {
        isLost = true;
        if (isStopped()) void look(performance.now());
        else hear(describeDeath(environment));
      }
    },
    isStopped,
    onTrouble(next) {
      hear = next;
    },
    onStopped(next) {
      hearStopped = next;
    },
  };
}

const KEPT = 'the daemon was stopped, and its members go on: the next command starts one that takes them over';

function describeDeath(environment: NodeJS.ProcessEnv): string {
  return environment['TROUPE_NO_AUTOSTART']
    ? 'the daemon is gone: troupe serve starts it again'
    : 'the daemon is gone; starting it again';
}

/** One that was stopped took its card along, and stays so; one that died left it, and is started again by whoever misses it. */
function wasStopped(environment: NodeJS.ProcessEnv): boolean {
  return !existsSync(findHome(environment).card);
}
