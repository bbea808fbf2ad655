import { z } from 'zod';

/** A moment: a `Date` in memory, ISO 8601 text in JSON. */
export const Timestamp = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
export type Timestamp = z.output<typeof Timestamp>;
