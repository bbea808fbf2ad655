import { useVirtualizer } from '@tanstack/react-virtual';
import { X } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { useStore, useTeam } from '../../data/use-team.tsx';
import { plural, showTime } from '../../parts/format.ts';
import { IconButton } from '../../parts/icon-button.tsx';
import { useKeys } from '../../parts/keys.ts';
import { Reading } from '../../parts/reading.tsx';
import { describeEvent } from '../event-text.ts';
import { DiffLink, workOf } from './diff-link.tsx';
import { LANES, momentsOf } from './marks.ts';
import type { Lane } from './marks.ts';

const ROW = 30;

/** The events as lines, the newest first. Each line shows the team at that moment. The header explains the marks. */
export function EventList({ onClose, zoom }: { onClose: () => void; zoom: ReactNode }) {
  useKeys({ Escape: onClose });
  const store = useStore();
  const seq = useTeam(({ progress }) => progress.done);
  const isWhole = useTeam(({ isWhole }) => isWhole);
  const moment = useTeam(({ moment }) => moment);
  const [lane, setLane] = useState<Lane>();
  const shown = useMemo(
    () =>
      momentsOf(store.history)
        .filter((one) => lane === undefined || one.lane === lane)
        .toReversed(),
    [store.history, seq, isWhole, lane],
  );
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  // The first line that is not later than the shown moment.
  const current = moment === undefined ? -1 : shown.findIndex((one) => one.seq <= moment);
  useEffect(() => {
    if (current >= 0) virtual.scrollToIndex(current);
  }, [current]);
  return (
    <section className="event-list" aria-label="Events">
      <header className="row">
        <div className="row" role="group" aria-label="Which events">
          {LANES.map(([name, words]) => (
            <button
              key={name}
              type="button"
              className="button ghost small"
              aria-pressed={lane === name}
              onClick={() => setLane(lane === name ? undefined : name)}
            >
              <span className="mark" data-shape={name === 'state' ? 'done' : name} aria-hidden /> {words}
            </button>
          ))}
        </div>
        <span className="spacer" />
        {zoom}
        <IconButton className="small" onClick={onClose} label="Fold the events">
          <X size={15} aria-hidden />
        </IconButton>
      </header>
      {shown.length === 0 && isWhole && <p className="quiet">None of these yet.</p>}
      <div className="events" ref={box} tabIndex={0} role="group" aria-label={plural(shown.length, 'event')}>
        <ol style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const one = shown[index];
            if (!one) return null;
            return (
              <li key={key} style={{ height: ROW, transform: `translateY(${start}px)` }}>
                <button
                  type="button"
                  aria-current={index === current || undefined}
                  title="Show the team at this moment"
                  onClick={() => store.show(one.seq)}
                >
                  <time dateTime={new Date(one.event.at).toISOString()}>{showTime(one.event.at)}</time>
                  <span className="slot" aria-hidden>
                    <span className="mark" data-shape={one.shape} />
                  </span>
                  <span className="one-line">{describeEvent(one.event)}</span>
                </button>
                {workOf(one.event) !== undefined && <DiffLink batch={{ seq: one.seq, events: [one.event] }} />}
              </li>
            );
          })}
        </ol>
        <Reading what="older events" />
      </div>
    </section>
  );
}
