import { endMarked, identify, isRunning, isThere, isUnnoted, MARKER, signalGroup } from '../../agents/process.ts';
import type { ProcessIdentity } from '../../agents/process.ts';
import type { OpenScreen, Screen, ScreenOptions } from '../../terminals/terminal.ts';

/** The program in its terminal. */
export interface Pane {
  /** As the program is told. */
  readonly id: string;
  readonly screen: Screen;
  /** Says how it ended, once it has and that is known. */
  ending(): Promise<string | undefined>;
  /** Ends it, and whatever it left behind. */
  close(): Promise<void>;
}

/** How long the program may take to end with its terminal. */
const LEAVE_MS = 1_500;

/**
 * The kernel tells us sooner than the terminal that the program has ended, and only the terminal knows how, once it has noted
 * that. Each look asks the terminal; after so many since then it is taken not to know.
 */
const LOOKS = 10;

/** Waits until it is gone and its parent has noted it. */
async function gone({ pid }: ProcessIdentity, ms: number): Promise<void> {
  const giveUp = performance.now() + ms;
  while (isThere(pid) && performance.now() < giveUp) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Starts the program in a terminal of its own. Its marker is on everything, the terminal's own process too. */
export async function openPane(open: OpenScreen, options: ScreenOptions): Promise<Pane> {
  const marker = options.env[MARKER] ?? crypto.randomUUID();
  const screen = await open({ ...options, env: { ...options.env, [MARKER]: marker } });
  const [program, holder] = [identify(screen.pid), identify(screen.holderPid)];
  const name = options.command[0];
  let looks = 0;
  return {
    id: screen.pane,
    screen,
    async ending() {
      if (isRunning(program) && isRunning(holder)) return undefined;
      if (!isRunning(holder)) return `${name}: its terminal is gone`;
      const isNoted = !isUnnoted(program);
      const how = await screen.ending();
      if (how === undefined && (!isNoted || ++looks < LOOKS)) return undefined;
      return `${name} ${how ?? 'is gone'}`;
    },
    async close() {
      // Before its terminal, which is its parent and notes its end.
      signalGroup(screen.pid, 'SIGHUP');
      await gone(program, LEAVE_MS);
      signalGroup(screen.pid, 'SIGKILL');
      await gone(program, LEAVE_MS);
      await screen.close();
      await endMarked(marker);
    },
  };
}
