import { endMarked, identify, isRunning, isThere, isUnnoted, MARKER, signalGroup } from '../../agents/process.ts';
import type { ProcessIdentity } from '../../agents/process.ts';
import type { OpenScreen, Screen, ScreenOptions } from '../../terminals/terminal.ts';

/** The program in its terminal. */
export interface Pane {
  /** The pane's id, as Claude Code knows it. */
  readonly id: string;
  readonly screen: Screen;
  /** How the program ended, once it has ended and that is known. */
  ending(): Promise<string | undefined>;
  /** Ends the program and everything that it left behind. */
  close(): Promise<void>;
}

/** How long the program may take to end after SIGHUP, and after SIGKILL. */
const LEAVE_MS = 1_500;

/**
 * The kernel reports the program's end before the terminal does, and only the terminal knows how it ended. Each look
 * asks the terminal. After this many looks without an answer we stop asking.
 */
const LOOKS = 10;

/** Waits until the process is gone and its parent has reaped it. */
async function gone({ pid }: ProcessIdentity, ms: number): Promise<void> {
  const giveUp = performance.now() + ms;
  while (isThere(pid) && performance.now() < giveUp) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Starts the program in its own terminal. All its processes carry the marker, the terminal's own process too. */
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
      // Before the terminal, which is its parent and reaps it.
      signalGroup(program, 'SIGHUP');
      await gone(program, LEAVE_MS);
      signalGroup(program, 'SIGKILL');
      await gone(program, LEAVE_MS);
      await screen.close();
      await endMarked(marker);
    },
  };
}
