import type { Line } from './line.ts';

/** What the intake works with. */
export interface IntakeOptions {
  /** Handles a frame. */
  readonly dispatch: (text: string) => void;
  /** Whether no further frame may be handled now. */
  readonly isFull: () => boolean;
  /** Calls back when there may be room again. */
  readonly whenRoom: (goOn: () => void) => void;
  readonly isOver: () => boolean;
}

/** Receives the frames of a client. While there is no room, frames go to a backlog and the connection is paused. */
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
    /** Drops the backlog. */
    close(): void {
      backlog = [];
    },
  };

  /** Handles the backlog as far as there is room, then resumes reading. */
  function goOn(): void {
    if (!paused || isOver()) return;
    while (backlog.length > 0 && !isFull() && !isOver()) dispatch(backlog.shift() as string);
    if (isOver()) return;
    if (isFull()) return whenRoom(goOn);
    paused = false;
    line.resume();
  }
}
