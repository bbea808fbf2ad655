import { Pause, Play, Radio, SkipBack } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { PointerEvent } from 'react';
import type { Batch } from '../../src/client/replica.ts';
import { useStore, useTeam } from '../data/use-team.tsx';
import { showClock, showDay, showMoment } from '../parts/format.ts';
import { useKeys } from '../parts/keys.ts';
import { describeEvent } from './event-text.ts';

const BUCKETS = 110;
/** How long the whole history takes when it is played. */
const PLAY_MS = 20_000;
const PLAY_STEP_MS = 60;

/** All that happened, from left to right; the team can be seen as it was at any point of it. */
export function TimeLine() {
  const store = useStore();
  const seq = useTeam(({ progress }) => progress.done);
  const moment = useTeam(({ moment }) => moment);
  const shown = moment ?? seq;
  const { history } = store;
  const span = useMemo(() => spanOf(history), [seq]);
  const bars = useMemo(() => countEvents(history, span), [seq]);
  const marks = useMemo(() => findMarks(history), [seq]);
  const ticks = useMemo(() => makeTicks(span), [span]);
  const track = useRef<HTMLDivElement>(null);
  const [isPlaying, setPlaying] = useState(false);
  const at = history[shown - 1]?.events[0]?.at ?? span.end;
  const place = (time: number): number => (span.end === span.start ? 1 : (time - span.start) / (span.end - span.start));

  const step = (by: number) => (): void => store.show(shown + by);
  useKeys({ '[': step(-1), ']': step(1), l: () => store.show(undefined) });
  useEffect(() => {
    if (!isPlaying) return undefined;
    const stride = Math.max(1, Math.round((seq / PLAY_MS) * PLAY_STEP_MS));
    const timer = setInterval(() => {
      const now = store.moment;
      if (now === undefined) setPlaying(false);
      else store.show(now + stride);
    }, PLAY_STEP_MS);
    return () => clearInterval(timer);
  }, [isPlaying, store]);

  const drag = (event: PointerEvent<HTMLDivElement>): void => {
    if (event.type === 'pointerdown') event.currentTarget.setPointerCapture(event.pointerId);
    else if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const box = event.currentTarget.getBoundingClientRect();
    const part = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    setPlaying(false);
    store.show(part > 0.995 ? undefined : seqAt(history, span.start + part * (span.end - span.start)));
  };

  const play = (): void => {
    if (!isPlaying && moment === undefined) store.show(1);
    setPlaying(!isPlaying);
  };

  return (
    <footer className="time-line" aria-label="Time line">
      <button
        type="button"
        className="button ghost icon wide"
        onClick={() => store.show(1)}
        aria-label="To the beginning"
      >
        <SkipBack size={17} aria-hidden />
      </button>
      <button
        type="button"
        className="button ghost icon"
        onClick={play}
        aria-label={isPlaying ? 'Pause' : 'Play the history'}
      >
        {isPlaying ? <Pause size={17} aria-hidden /> : <Play size={17} aria-hidden />}
      </button>
      <div className="track" ref={track} onPointerDown={drag} onPointerMove={drag}>
        <svg className="bars" viewBox={`0 0 ${BUCKETS} 24`} preserveAspectRatio="none" aria-hidden>
          {bars.map((height, i) => (
            <rect
              key={i}
              className={i / BUCKETS <= place(at) ? 'past' : 'later'}
              x={i + 0.12}
              width={0.76}
              y={24 - height * 22 - (height > 0 ? 2 : 0)}
              height={height * 22 + (height > 0 ? 2 : 0)}
            />
          ))}
        </svg>
        <div className="marks" aria-hidden>
          {marks.map(({ key, kind, time }) => (
            <span key={key} className={`mark ${kind}`} style={{ left: `${place(time) * 100}%` }} />
          ))}
        </div>
        <div className="ticks" aria-hidden>
          {ticks.map(({ time, label }) => (
            <span key={time} style={{ left: `${place(time) * 100}%` }}>
              {label}
            </span>
          ))}
          <span className="tick-now">now</span>
        </div>
        <div className="cursor" style={{ left: `${(moment === undefined ? 1 : place(at)) * 100}%` }} aria-hidden />
        <input
          className="scrub"
          type="range"
          min={1}
          max={Math.max(1, seq)}
          value={shown}
          onChange={(event) => store.show(Number(event.target.value))}
          aria-label="Moment"
          aria-valuetext={moment === undefined ? 'now' : `${showMoment(at)}, ${lastEvent(history[shown - 1])}`}
        />
      </div>
      {moment === undefined ? (
        <span className="status pill is-completed live">
          <Radio size={14} aria-hidden /> Live
        </span>
      ) : (
        <button type="button" className="button live-back" onClick={() => store.show(undefined)}>
          <Radio size={14} aria-hidden /> Back to live{' '}
          <span className="quiet">+{(seq - shown).toLocaleString('en-US')}</span>
        </button>
      )}
      {moment !== undefined && (
        <div className="moment" role="status">
          <b>{showMoment(at)}</b> <span className="one-line">{lastEvent(history[shown - 1])}</span>
        </div>
      )}
    </footer>
  );
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function spanOf(history: readonly Batch[]): Span {
  const start = history[0]?.events[0]?.at ?? 0;
  return { start, end: history.at(-1)?.events.at(-1)?.at ?? start };
}

/** Events per bucket, as parts of the fullest; the root keeps a busy minute from hiding all others. */
function countEvents(history: readonly Batch[], { start, end }: Span): number[] {
  const counts = Array.from({ length: BUCKETS }, () => 0);
  const scale = BUCKETS / Math.max(1, end - start);
  for (const { events } of history) {
    const at = events[0]?.at ?? start;
    const bucket = Math.min(BUCKETS - 1, Math.max(0, Math.floor((at - start) * scale)));
    counts[bucket] = (counts[bucket] ?? 0) + events.length;
  }
  const most = Math.max(1, ...counts);
  return counts.map((count) => Math.sqrt(count / most));
}

interface Mark {
  readonly key: number;
  readonly kind: 'done' | 'gate' | 'fail';
  readonly time: number;
}

const MARKED: Readonly<Record<string, Mark['kind']>> = {
  'task:completed': 'done',
  'task:rejected': 'gate',
  'plan:submitted': 'gate',
  'request:raised': 'gate',
  'task:failed': 'fail',
};
/** More would be a line, not marks. */
const MARKS_SHOWN = 240;

function findMarks(history: readonly Batch[]): Mark[] {
  const all = history.flatMap(({ seq, events }) =>
    events.flatMap((event): Mark[] => {
      const kind = MARKED[event.type];
      return kind ? [{ key: seq, kind, time: event.at }] : [];
    }),
  );
  const unique = all.filter(({ key }, i) => all[i - 1]?.key !== key);
  if (unique.length <= MARKS_SHOWN) return unique;
  const every = Math.ceil(unique.length / MARKS_SHOWN);
  return unique.filter(({ kind }, i) => kind === 'fail' || i % every === 0);
}

function makeTicks({ start, end }: Span): { time: number; label: string }[] {
  if (start === end) return [];
  const isLong = end - start > 36 * 3_600_000;
  const isShort = end - start < 4 * 60_000;
  return [0, 0.25, 0.5, 0.75].map((part) => {
    const time = start + part * (end - start);
    if (isLong) return { time, label: showDay(time) };
    const seconds = isShort ? `:${String(new Date(time).getSeconds()).padStart(2, '0')}` : '';
    return { time, label: `${showClock(time)}${seconds}` };
  });
}

/** The last batch at a time. */
function seqAt(history: readonly Batch[], time: number): number {
  let low = 0;
  let high = history.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((history[middle]?.events[0]?.at ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return Math.max(1, low);
}

function lastEvent(batch: Batch | undefined): string {
  const event = batch?.events.at(-1);
  return event ? describeEvent(event) : '';
}
