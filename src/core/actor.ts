import { z } from 'zod';
import { Slug } from './fields.ts';

/** The person at the command line or the dashboard. `@` distinguishes it from every member's name. */
export const USER = '@user';

/** Troupe's own code: the supervisor, the hooks, the bridge. */
export const SYSTEM = '@system';

/** Who acted: a member by name, a person, or Troupe itself. It comes from the credential, never from a text. */
export const Actor = z.union([Slug, z.literal(USER), z.literal(SYSTEM)]);
export type Actor = z.infer<typeof Actor>;
