import { z } from 'zod';

const HOURS = '([01]\\d|2[0-3]):[0-5]\\d-([01]\\d|2[0-3]):[0-5]\\d';
const differ = (hours: string): boolean => hours.slice(0, 5) !== hours.slice(6);
const DIFFER = 'must begin and end at different times';

/** Hours of every day, in the time zone of the daemon: `22:00-07:00`. */
export const QuietHours = z
  .string()
  .regex(new RegExp(`^${HOURS}$`), 'must be two times of day, such as "22:00-07:00"')
  .refine(differ, DIFFER);
export type QuietHours = z.infer<typeof QuietHours>;

/** The hours in which no turn of a member begins. `off` at a member: those of its team do not count for it. */
export const WorkQuietHours = z
  .string()
  .regex(new RegExp(`^(off|${HOURS})$`), 'must be two times of day, such as "22:00-07:00", or off')
  .refine(differ, DIFFER);

const DAY_MINUTES = 24 * 60;

/** How many minutes of the quiet hours are left at a minute of the day; 0 outside of them. */
export function quietMinutes(hours: QuietHours, minute: number): number {
  const begin = minuteOf(hours.slice(0, 5));
  const end = minuteOf(hours.slice(6));
  const length = (end - begin + DAY_MINUTES) % DAY_MINUTES;
  const into = (minute - begin + DAY_MINUTES) % DAY_MINUTES;
  return into < length ? length - into : 0;
}

/** The given time, or the end of the quiet hours in which it is. In the time zone of this process. */
export function quietUntil(hours: QuietHours | undefined, at: number): number {
  if (hours === undefined) return at;
  const time = new Date(at);
  const minutes = quietMinutes(hours, time.getHours() * 60 + time.getMinutes());
  if (minutes === 0) return at;
  return time.setMinutes(time.getMinutes() + minutes, 0, 0);
}

/** The quiet hours that count for a member: its own, else those of its team. */
export function quietHoursOf(
  member: { readonly quietHours?: string | undefined } | undefined,
  team: { readonly quietHours?: string | undefined } | undefined,
): QuietHours | undefined {
  const hours = member?.quietHours ?? team?.quietHours;
  return hours === 'off' ? undefined : hours;
}

function minuteOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}
