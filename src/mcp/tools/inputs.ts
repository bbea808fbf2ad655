import { z } from 'zod';
import { TaskId } from '../../core/fields.ts';
import { LONGEST_LEASE_MS, SHORTEST_LEASE_MS } from '../../core/limits.ts';

/** The longest that a call may wait, in seconds. */
export const LONGEST_WAIT = 300;

/** A task id. Its pattern would only cost tokens in the list of tools, so it is checked here. */
export const Id = z.string().refine((text) => TaskId.safeParse(text).success, 'is not a task id such as "7"');

/** The epoch of the claim that an agent means. Rarely needed, so it has no description in the list of tools. */
export const Epoch = z.number();

/** How long a call may wait for an event. */
export const WaitSeconds = z.number().min(0).max(LONGEST_WAIT).default(0);

/** After how long without a call a claim ends. */
export const LeaseMinutes = z
  .number()
  .min(SHORTEST_LEASE_MS / 60_000)
  .max(LONGEST_LEASE_MS / 60_000);
