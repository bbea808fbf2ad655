import { rowOf } from '../../../src/client/replica.ts';
import type { Batch } from '../../../src/client/replica.ts';
import type { TeamEvent } from '../../../src/core/event.ts';
import type { EventMark } from '../../../src/core/events/row.ts';
import { placeIn } from './span.ts';
import type { Span } from './span.ts';

/** The kinds of marks on the time line, each in its own lane. */
export type Lane = 'message' | 'claim' | 'gate' | 'state';

export const LANES: readonly (readonly [lane: Lane, words: string])[] = [
  ['message', 'Messages'],
  ['claim', 'Claims'],
  ['gate', 'Gates'],
  ['state', 'States'],
];

/** The shapes of marks. Within one lane, completed and failed work look different. */
export type Shape = EventMark;

/** An event that people look for. */
export interface Moment {
  readonly seq: number;
  readonly event: TeamEvent;
  readonly lane: Lane;
  readonly shape: Shape;
}

const read = new WeakMap<readonly Batch[], { count: number; moments: Moment[] }>();

/** All events of the four lanes, the oldest first; a longer history is read from where the last call ended. */
export function momentsOf(history: readonly Batch[]): readonly Moment[] {
  const known = read.get(history) ?? { count: 0, moments: [] };
  read.set(history, known);
  for (; known.count < history.length; known.count++) {
    const { seq, events } = history[known.count] as Batch;
    for (const event of events) {
      const shape = shapeOf(event);
      if (shape) known.moments.push({ seq, event, shape, lane: laneOf(shape) });
    }
  }
  return known.moments;
}

function shapeOf(event: TeamEvent): Shape | undefined {
  if (event.type === 'teammate:changed' && !event.status) return undefined;
  return rowOf(event)?.mark ?? undefined;
}

function laneOf(shape: Shape): Lane {
  return shape === 'done' || shape === 'fail' ? 'state' : shape;
}

/** A mark at one place of a lane: one event, or the most important of several. */
export interface Mark {
  readonly first: Moment;
  readonly place: number;
  readonly more: number;
}

const LANE_NAMES = LANES.map(([lane]) => lane);

/** More marks would look like a line. */
const PLACES = 120;
/** Of marks at one place, the heaviest is shown. */
const WEIGHT: Readonly<Record<Shape, number>> = { fail: 2, done: 1, message: 0, claim: 0, gate: 0, state: 0 };

/** The marks of the line; those that would overlap are merged. */
export function findMarks(moments: readonly Moment[], span: Span): Mark[] {
  // By lane and place, as one number: a long history has 100,000 moments.
  const places = new Map<number, { first: Moment; count: number }>();
  for (const moment of moments) {
    if (moment.event.at < span.start || moment.event.at > span.end) continue;
    const key =
      Math.round(placeIn(span, moment.event.at) * PLACES) * LANE_NAMES.length + LANE_NAMES.indexOf(moment.lane);
    const here = places.get(key);
    if (!here) places.set(key, { first: moment, count: 1 });
    else {
      here.count++;
      if (WEIGHT[moment.shape] > WEIGHT[here.first.shape]) here.first = moment;
    }
  }
  return [...places.values()].map(({ first, count }) => ({
    first,
    place: placeIn(span, first.event.at),
    more: count - 1,
  }));
}
