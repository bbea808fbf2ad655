import { z } from 'zod';
import { NoticeKind } from '../../core/notice.ts';
import { QuietHours } from '../../core/quiet-hours.ts';

/** The form in which a webhook gets a notice. */
export const WebhookTemplate = z.enum(['json', 'slack', 'discord', 'ntfy', 'telegram']);
export type WebhookTemplate = z.infer<typeof WebhookTemplate>;

const Webhook = z
  .strictObject({
    url: z
      .string()
      .max(4_096)
      .regex(/^(https?:\/\/|\$\{[A-Za-z_][A-Za-z0-9_]*\}$)/, 'must begin with https:// or http://, or be ${NAME}')
      .describe("the address; ${NAME} comes from the daemon's environment"),
    template: WebhookTemplate.default('json').describe('the service that gets it'),
    chat: z
      .union([z.string().min(1).max(128), z.number().int()])
      .optional()
      .describe('of telegram: the chat'),
  })
  .refine(({ template, chat }) => template !== 'telegram' || chat !== undefined, {
    path: ['chat'],
    message: 'is missing: telegram needs the id of a chat',
  });
export type Webhook = z.output<typeof Webhook>;

const Ways = z.strictObject({
  on: z.array(NoticeKind).min(1).optional().describe('what to tell (default: everything)'),
  command: z
    .tuple([z.string().min(1)], z.string(), 'must be a list: [program, argument]')
    .optional()
    .describe('a program and its arguments; it gets each notice as JSON on its standard input'),
  webhook: Webhook.optional().describe('an address to which each notice is posted'),
  desktop: z.boolean().optional().describe('true: on the desktop of the machine that runs the daemon'),
  quietHours: QuietHours.optional().describe('when to collect instead of sending, such as "22:00-07:00"'),
});

/** Some way out must be set. */
const NONE = 'needs command, webhook or desktop: true';
const hasWay = ({ command, webhook, desktop }: z.output<typeof Ways>): boolean => !!(command ?? webhook ?? desktop);

/** How people hear of what needs them, without looking, as a team file says. */
export const TeamNotify = Ways.refine(hasWay, NONE);
export type TeamNotify = z.output<typeof TeamNotify>;

/** An origin: no path, no name, no password. */
const PublicOrigin = z
  .string()
  .refine(
    (url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && new URL(url).origin === url,
    'must be an origin such as https://troupe.example or http://192.168.1.5:8080, without a path',
  );

/** The same for all teams of a daemon, as its user says. */
export const NotifySettings = Ways.extend({
  dashboard: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('the address of the dashboard in links, if you reach it by another than the daemon knows'),
  answers: z
    .strictObject({
      url: PublicOrigin.describe('where a browser outside reaches this daemon, such as https://troupe.example'),
    })
    .optional()
    .describe('adds a link to each request that answers it, once and for a day, without a login (default: off)'),
}).refine(hasWay, NONE);
export type NotifySettings = z.output<typeof NotifySettings>;

/** A way out for notices. */
export const Channel = z.enum(['command', 'webhook', 'desktop']);
export type Channel = z.infer<typeof Channel>;

/** The channels that are set. */
export function channelsOf(settings: TeamNotify): Channel[] {
  return Channel.options.filter((channel) => settings[channel] !== undefined && settings[channel] !== false);
}
