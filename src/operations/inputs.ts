import { z } from 'zod';
import { durationOf } from '../core/duration.ts';
import { Slug } from '../core/fields.ts';
import { Sandbox } from '../core/sandbox.ts';

/** The team that an operation is about. */
export const InTeam = z.strictObject({ teamId: Slug.describe('the team') });

/** A length of time without a bound; see `durationOf`. */
export const Milliseconds = z.number().int().min(0).meta({ 'x-unit': 'ms' });

/** How long a call may wait for something to happen. */
export const Wait = {
  wait: durationOf(0, 300_000).optional().describe('wait up to so many milliseconds for one'),
};

/** How a member runs. */
export const InSandbox = {
  sandbox: Sandbox.optional().describe(
    'true: it runs apart from your files, processes and network; or what is open there, as {"network":["github.com"]}',
  ),
};
