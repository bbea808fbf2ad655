import { memo } from 'react';
import { showTime } from '../../parts/format.ts';
import { describeEvent } from '../event-text.ts';
import type { Mark } from './marks.ts';
import { BUCKETS } from './span.ts';

/** The number of events over time, up to a part of the line; with `isLater` all of it, paler. */
export const Bars = memo(function Bars({
  path,
  part = 1,
  isLater = false,
}: {
  path: string;
  part?: number;
  isLater?: boolean;
}) {
  return (
    <svg
      className={`bars${isLater ? ' later' : ''}`}
      viewBox={`0 0 ${BUCKETS} 24`}
      preserveAspectRatio="none"
      style={part < 1 ? { clipPath: `inset(0 ${(1 - part) * 100}% 0 0)` } : undefined}
      aria-hidden
    >
      <path d={path} />
    </svg>
  );
});

/** All bars as one path: the browser would check a hundred elements again for every step through the past. */
export function drawBars(heights: readonly number[]): string {
  return heights
    .map((height, i) => (height > 0 ? `M${i + 0.12} 24V${(22 - height * 22).toFixed(2)}h0.76V24z` : ''))
    .join('');
}

/** The marks, each in the lane of its kind. */
export const Marks = memo(function Marks({ marks }: { marks: readonly Mark[] }) {
  return (
    <div className="marks" aria-hidden>
      {marks.map((mark) => (
        <span
          key={`${mark.first.seq} ${mark.first.event.type} ${mark.first.lane}`}
          className="mark in-lane"
          data-shape={mark.first.shape}
          data-lane={mark.first.lane}
          data-seq={mark.first.seq}
          title={describeMark(mark)}
          style={{ left: `${mark.place * 100}%` }}
        />
      ))}
    </div>
  );
});

function describeMark({ first: { event }, more }: Mark): string {
  return `${showTime(event.at)}  ${describeEvent(event)}${more > 0 ? `, and ${more} more` : ''}`;
}
