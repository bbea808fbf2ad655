import { join } from 'node:path';
import { z } from 'zod';
import { MESSAGE_BYTES, NOTES_PER_TEAM, TASKS_PER_TEAM } from '../core/limits.ts';
import { NoticeKind } from '../core/notice.ts';
import { CONFIG_FILE, entryOf } from '../runtime/config.ts';
import type { DaemonConfig } from '../runtime/config.ts';
import { Channel, channelsOf } from '../runtime/notices/settings.ts';
import type { NotifySettings } from '../runtime/notices/settings.ts';
import { operation } from './operation.ts';

/** What a person set for the daemon, without secrets, and what it allows. */
const DaemonSettings = z.object({
  file: z.string().describe('where a person sets these'),
  agent: z.string().optional().describe('the default agent of teammates'),
  labels: z.array(z.string()).describe('what members can ask for'),
  projects: z.array(z.string()).describe('checkouts for workspaces of teams that other machines bring up'),
  notify: z
    .object({
      to: z.array(z.object({ channel: Channel, where: z.string().optional().describe('the host or the program') })),
      on: z.array(NoticeKind).describe('what is told'),
      quietHours: z.string().optional(),
      answers: z.boolean().describe('whether each request has a link that answers it'),
    })
    .optional(),
  limits: z.object({
    tasksPerTeam: z.number().int(),
    notesPerTeam: z.number().int(),
    messageBytes: z.number().int(),
  }),
});
type DaemonSettings = z.output<typeof DaemonSettings>;

export const daemonSettingsOperations = [
  operation({
    name: 'daemon.settings',
    summary: 'Show what is set for the daemon, without secrets',
    scope: 'admin',
    input: z.strictObject({}),
    result: DaemonSettings,
    route: 'GET /api/settings',
    cli: { command: 'settings', examples: ['troupe settings', 'troupe settings --json'] },
    run: async ({ daemon }) => describeConfig(daemon.config?.() ?? {}, (await daemon.status()).home),
  }),
] as const;

/** The settings as people may see them. An address can hold a password, and arguments of a program can, too. */
export function describeConfig(
  { agent, labels = [], projects = [], notify }: DaemonConfig,
  home: string,
): DaemonSettings {
  return {
    file: join(home, CONFIG_FILE),
    ...(agent !== undefined && { agent: nameOf(entryOf(agent).agent) }),
    labels: [...labels],
    projects: [...projects],
    ...(notify && { notify: describeNotify(notify) }),
    limits: { tasksPerTeam: TASKS_PER_TEAM, notesPerTeam: NOTES_PER_TEAM, messageBytes: MESSAGE_BYTES },
  };
}

function describeNotify(notify: NotifySettings): NonNullable<DaemonSettings['notify']> {
  const { on = NoticeKind.options, quietHours, answers, command, webhook } = notify;
  const where = { command: command?.[0], webhook: webhook && hostOf(webhook.url), desktop: undefined };
  return {
    to: channelsOf(notify).map((channel) => {
      const place = where[channel];
      return { channel, ...(place !== undefined && { where: place }) };
    }),
    on: [...on],
    ...(quietHours !== undefined && { quietHours }),
    answers: answers !== undefined,
  };
}

/** Only the host: the path of a webhook is its password. A variable is shown by its name. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url.startsWith('${') ? url : 'an address';
}

function nameOf(agent: unknown): string {
  if (typeof agent === 'string') return agent;
  return Object.keys(agent as object)[0] ?? 'an agent';
}
