import { z } from 'zod';
import type { Address } from './address.ts';
import { isSlug, Slug } from './fields.ts';
import { PEERS_PER_TEAM } from './limits.ts';
import { quote } from './text.ts';

/*
 * Messages between teams. Each team lists the teams that it exchanges messages with: its peers. A message passes if both
 * list each other. Its sender is `member@team`.
 */

/** The teams that a team exchanges messages with. */
export const Peers = z
  .array(Slug)
  .max(PEERS_PER_TEAM)
  .describe(
    'teams that may write to this one, and that its members may write to; the other team must list this one, too',
  );

/** The parts of `member@team`; undefined if the text is not such an address. */
export function addressIn(text: string): Address | undefined {
  const at = text.indexOf('@');
  const memberId = text.slice(0, Math.max(at, 0));
  const teamId = text.slice(at + 1);
  return isSlug(memberId) && isSlug(teamId) ? { memberId, teamId } : undefined;
}

const NAME = '[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?';

/** The sender of a message from another team. */
export const PeerAddress = z
  .string()
  .refine((text) => addressIn(text) !== undefined, 'is not an address: write member@team, such as lead@beta')
  .meta({ pattern: `^${NAME}@${NAME}$` });

/** The recipient of a message: a member of the team, or of another one as `member@team`. */
export const Recipient = z
  .string()
  .superRefine((text, context) => {
    if (!text.includes('@')) {
      for (const { message } of Slug.safeParse(text).error?.issues ?? []) context.addIssue({ code: 'custom', message });
    } else if (!addressIn(text)) {
      const message = `${quote(text)} is not an address: write member@team, such as lead@beta`;
      context.addIssue({ code: 'custom', message });
    }
  })
  .meta({ pattern: `^${NAME}(?:@${NAME})?$` });
