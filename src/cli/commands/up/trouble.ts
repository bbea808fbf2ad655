import { existsSync } from 'node:fs';
import type { ConnectionState } from '../../../client/client.ts';
import { findHome } from '../../../client/home.ts';

/** Reports what keeps a command from reaching its daemon. */
export interface Trouble {
  readonly onState: (state: ConnectionState) => void;
  readonly onTrouble: (hear: (what: string | undefined) => void) => void;
  /** Called once, when the daemon was stopped and none of its members runs: there is nothing left to wait for. */
  readonly onStopped: (hear: () => void) => void;
  /** Whether the daemon that answered before was stopped. */
  readonly isStopped: () => boolean;
}

/** How often we check for members that outlived their daemon, and after how long they count as kept. */
const LOOK_MS = 200;
const KEPT_MS = 2_000;

/** Reports that the daemon is lost, and that it is back. */
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

const KEPT = 'the daemon was stopped, but its members still run: the next command starts a daemon that takes them over';

function describeDeath(environment: NodeJS.ProcessEnv): string {
  return environment['TROUPE_NO_AUTOSTART']
    ? 'the daemon is gone: troupe serve starts it again'
    : 'the daemon is gone; starting it again';
}

/** A stopped daemon removed its card, and stays stopped. One that died left it; the next caller starts a new one. */
function wasStopped(environment: NodeJS.ProcessEnv): boolean {
  return !existsSync(findHome(environment).card);
}
