import { expect, test } from 'vitest';
import { quietHoursOf, quietUntil } from '../../src/core/quiet-hours.ts';
import { waitingOf } from '../../src/core/waiting.ts';

/** A time on 2 March, in the time zone of this process. */
const at = (hour: number, minute = 0, day = 2): number => new Date(2026, 2, day, hour, minute).getTime();

test('quiet hours end at their end, on the next day if they cross midnight', () => {
  expect(quietUntil('22:00-07:00', at(21, 59))).toBe(at(21, 59));
  expect(quietUntil('22:00-07:00', at(22))).toBe(at(7, 0, 3));
  expect(quietUntil('22:00-07:00', at(6, 59))).toBe(at(7));
  expect(quietUntil('22:00-07:00', at(7))).toBe(at(7));
  expect(quietUntil('12:30-13:00', at(12, 45) + 10_000)).toBe(at(13));
  expect(quietUntil(undefined, at(3))).toBe(at(3));
});

test('the quiet hours of a member replace those of its team', () => {
  const team = { quietHours: '22:00-07:00' };
  expect(quietHoursOf({}, team)).toBe('22:00-07:00');
  expect(quietHoursOf({ quietHours: '12:00-13:00' }, team)).toBe('12:00-13:00');
  expect(quietHoursOf({ quietHours: 'off' }, team)).toBeUndefined();
  expect(quietHoursOf({}, { quietHours: 'off' })).toBeUndefined();
});

test('a member in its quiet hours says until when', () => {
  const waiting = { reason: 'quiet hours', until: at(7) };
  expect(waitingOf({ metadata: { waiting } })).toBe('quiet hours until 07:00');
});

test('nobody has quiet hours that nobody chose', () => {
  expect(quietHoursOf(undefined, undefined)).toBeUndefined();
  expect(quietHoursOf({}, undefined)).toBeUndefined();
  expect(quietHoursOf(undefined, { quietHours: '22:00-07:00' })).toBe('22:00-07:00');
});
