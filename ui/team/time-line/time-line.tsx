import { List, Pause, Play, Radio, SkipBack, SkipForward } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { PointerEvent } from 'react';
import type { Batch } from '../../../src/client/replica.ts';
import { momentPath } from '../../data/links.ts';
import { useStore, useTeam } from '../../data/use-team.tsx';
import { CopyLink } from '../../parts/copy-link.tsx';
import { showMoment, showTime, useNow } from '../../parts/format.ts';
import { IconButton } from '../../parts/icon-button.tsx';
import { useKeys } from '../../parts/keys.ts';
import { Reading } from '../../parts/reading.tsx';
import { record } from '../../record/head.ts';
import { describeEvent } from '../event-text.ts';
import { DiffLink } from './diff-link.tsx';
import { EventList } from './event-list.tsx';
import { LivePill } from './live-pill.tsx';
import { findMarks, momentsOf } from './marks.ts';
import { BUCKETS, countEvents, makeTicks, placeIn, seqAt, spanOf } from './span.ts';
import type { Span } from './span.ts';
import { Bars, drawBars, Marks } from './strip.tsx';
import { useWindow } from './use-window.ts';
import { TimeZoom } from './zoom-buttons.tsx';
import './time-line.css';

/** How long playing the whole history takes. */
const PLAY_MS = 20_000;
const PLAY_STEP_MS = 60;

/** The history from left to right; the team can be shown at any moment of it. */
export function TimeLine() {
  const store = useStore();
  const seq = useTeam(({ progress }) => progress.done);
  const moment = useTeam(({ moment }) => moment);
  const isPast = moment !== undefined;
  const shown = moment ?? seq;
  const { history } = store;
  const isWhole = useTeam(({ isWhole }) => isWhole);
  const isClosed = useTeam(({ isEnded }) => isEnded);
  const isEnded = isClosed || record !== undefined;
  const whole = useSpan(history, { seq, isWhole, isEnded: isClosed });
  const track = useRef<HTMLDivElement>(null);
  const at = history[shown - 1]?.events[0]?.at ?? whole.end;
  const zoomed = useWindow(whole, isPast ? at : whole.end, track);
  const { start, end } = zoomed.span;
  const span = useMemo((): Span => ({ start, end }), [start, end]);
  // A part of the history would look like all of it.
  const bars = useMemo(() => drawBars(isWhole ? countEvents(history, span) : []), [seq, isWhole, span]);
  const marks = useMemo(() => (isWhole ? findMarks(momentsOf(history), span) : []), [seq, isWhole, span]);
  const ticks = useMemo(() => makeTicks(span), [span]);
  // The slider moves within the part that is shown.
  const first = zoomed.isZoomed ? seqAt(history, span.start) : 1;
  const last = zoomed.isToEnd ? Math.max(1, seq) : seqAt(history, span.end);
  const [isPlaying, setPlaying] = useState(false);
  const [isListed, setListed] = useState(false);
  const place = (time: number): number => placeIn(span, time);

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
    if (!isWhole) return;
    if (event.type === 'pointerdown') event.currentTarget.setPointerCapture(event.pointerId);
    else if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const mark = event.target instanceof HTMLElement ? event.target.dataset['seq'] : undefined;
    if (event.type === 'pointerdown' && mark !== undefined) {
      setPlaying(false);
      store.show(Number(mark));
      return;
    }
    const box = event.currentTarget.getBoundingClientRect();
    const part = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    setPlaying(false);
    store.show(
      part > 0.995 && zoomed.isToEnd ? undefined : seqAt(history, span.start + part * (span.end - span.start)),
    );
  };

  const play = (): void => {
    if (!isPlaying && moment === undefined) store.show(1);
    setPlaying(!isPlaying);
  };

  return (
    <footer className="time-line" aria-label="Time line">
      <IconButton className="wide" onClick={() => store.show(1)} label="To the beginning">
        <SkipBack size={17} aria-hidden />
      </IconButton>
      <IconButton onClick={play} label={isPlaying ? 'Pause' : 'Play the history'}>
        {isPlaying ? <Pause size={17} aria-hidden /> : <Play size={17} aria-hidden />}
      </IconButton>
      <TimeZoom window={zoomed} className="wide" />
      <div
        className={`track${zoomed.isZoomed ? ' is-zoomed' : ''}`}
        aria-busy={!isWhole}
        ref={track}
        onPointerDown={drag}
        onPointerMove={drag}
      >
        {zoomed.isZoomed && (
          <div className="track-part" aria-hidden>
            <span
              style={{
                left: `${placeIn(whole, span.start) * 100}%`,
                width: `${Math.max(0.5, (placeIn(whole, span.end) - placeIn(whole, span.start)) * 100)}%`,
              }}
            />
          </div>
        )}
        {isPast && <Bars path={bars} isLater />}
        <Bars path={bars} part={isPast ? place(at) : 1} />
        <Marks marks={marks} />
        {!isWhole && <ReadHistory />}
        <div className="ticks" aria-hidden>
          {ticks.map(({ time, label }) => (
            <span key={time} style={{ left: `${place(time) * 100}%` }}>
              {label}
            </span>
          ))}
          <span className="tick-now">{!zoomed.isToEnd ? showTime(span.end) : isEnded ? 'end' : 'now'}</span>
        </div>
        {isIn(span, isPast ? at : whole.end) && (
          <div className="cursor" style={{ transform: `translateX(${(isPast ? place(at) : 1) * 100}%)` }} aria-hidden />
        )}
        <input
          className="scrub"
          type="range"
          disabled={!isWhole}
          min={first}
          max={last}
          value={Math.max(first, Math.min(last, shown))}
          onKeyDown={(event) => {
            const press = { '+': zoomed.closer, '=': zoomed.closer, '-': zoomed.farther, '0': zoomed.showAll }[
              event.key
            ];
            if (!press || event.ctrlKey || event.metaKey) return;
            event.preventDefault();
            press();
          }}
          onChange={(event) => store.show(Number(event.target.value))}
          aria-label="Moment"
          aria-valuetext={isPast ? `${showMoment(at)}, ${lastEvent(history[shown - 1])}` : isEnded ? 'end' : 'now'}
        />
      </div>
      <IconButton
        aria-expanded={isListed}
        label="Events"
        title="What happened, as a list"
        onClick={() => setListed(!isListed)}
      >
        <List size={17} aria-hidden />
      </IconButton>
      {isListed && (
        <EventList onClose={() => setListed(false)} zoom={<TimeZoom window={zoomed} className="narrow-only" />} />
      )}
      {isPast ? (
        <button type="button" className="button live-back" onClick={() => store.show(undefined)}>
          {isEnded ? <SkipForward size={14} aria-hidden /> : <Radio size={14} aria-hidden />}{' '}
          {isEnded ? 'To the end' : 'Back to live'}{' '}
          <span className="quiet">+{(seq - shown).toLocaleString('en-US')}</span>
        </button>
      ) : (
        <LivePill />
      )}
      <Going />
      {isPast && (
        <div className="moment" role="status">
          <b>{showMoment(at)}</b> <span className="one-line">{lastEvent(history[shown - 1])}</span>
          {history[shown - 1] && <DiffLink batch={history[shown - 1] as Batch} />}
          <CopyLink path={momentPath(store.teamId, shown)} what="this moment" className="small is-shown" />
        </div>
      )}
    </footer>
  );
}

/** Says how much of the history was read, and reads the marks of that part: of the whole, they would delay a frame. */
function ReadHistory() {
  const store = useStore();
  useTeam(({ share }) => share);
  momentsOf(store.older);
  return <Reading what="the history" />;
}

/** Says which moment was asked for, while the present is still shown. */
function Going() {
  const store = useStore();
  const wanted = useTeam(({ wanted }) => wanted);
  if (wanted === undefined) return null;
  return (
    <div className="moment" role="status">
      <b>Going to event {wanted.toLocaleString('en-US')}</b>
      <span className="one-line">this is the present until then</span>
      <button type="button" className="button ghost small" onClick={() => store.show(undefined)}>
        Stay here
      </button>
    </div>
  );
}

/** The span grows with the clock in steps, so that the marks need not be placed again every second. */
function useSpan(
  history: readonly Batch[],
  { seq, isWhole, isEnded }: { seq: number; isWhole: boolean; isEnded: boolean },
): Span {
  const now = useNow();
  const created = useTeam(({ state }) => state.team?.createdAt.getTime());
  const start = (isWhole ? history[0]?.events[0]?.at : created) ?? now;
  const step = Math.max(1_000, Math.floor((now - start) / (4 * BUCKETS)));
  const until = isEnded ? undefined : now - ((now - start) % step);
  return useMemo(() => spanOf(start, history, until), [seq, isWhole, start, until]);
}

/** Whether a moment is on the line. */
function isIn({ start, end }: Span, time: number): boolean {
  return time >= start && time <= end;
}

function lastEvent(batch: Batch | undefined): string {
  const event = batch?.events.at(-1);
  return event ? describeEvent(event) : '';
}
