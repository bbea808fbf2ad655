import type { Line } from './line.ts';

/** What decides whether more is taken in. */
export interface IntakeOptions {
  /** Deals with a frame. */
  readonly dispatch: (text: string) => void;
  /** Nothing more should be begun now. */
  readonly isFull: () => boolean;
  /** Calls back when there may be room again. */
  readonly whenRoom: (goOn: () => void) => void;
  readonly isOver: () => boolean;
}

/** Takes in the frames of a client: what comes while there is no room waits, and nothing more is read until it is dealt with. */
export function openIntake(line: Pick<Line, 'pause' | 'resume'>, options: IntakeOptions) {
  const { dispatch, isFull, whenRoom, isOver } = options;
  let backlog: string[] = [];
  let paused = false;
  return {
    /** A whole frame came. */
    take(text: string): void {
      if (isOver()) return;
      if (backlog.length === 0 && !isFull()) return dispatch(text);
      backlog.push(text);
      if (paused) return;
      paused = true;
      line.pause();
      whenRoom(goOn);
    },
    goOn,
    /** Forgets what waits. */
    close(): void {
      backlog = [];
    },
  };

  /** Reads on when there is room again. */
  function goOn(): void {
    if (!paused || isOver()) return;
    while (backlog.length > 0 && !isFull() && !isOver()) dispatch(backlog.shift() as string);
    if (isOver()) return;
    if (isFull()) return whenRoom(goOn);
    paused = false;
    line.resume();
  }
}
