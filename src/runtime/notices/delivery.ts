import { setTimeout } from 'node:timers/promises';
import { backOff } from '../../core/back-off.ts';
import type { NoticeMessage } from '../../core/notice.ts';
import type { Health } from '../health.ts';
import type { Log } from '../log.ts';
import type { Redactor } from '../redact.ts';
import { runCommand, showOnDesktop } from './programs.ts';
import type { Channel, TeamNotify } from './settings.ts';
import { postNotice, resolveUrl, UnsentError } from './webhook.ts';

/** What sending needs. */
export interface DeliveryOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly redactor: Pick<Redactor, 'hide' | 'text'>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly health: Pick<Health, 'raise' | 'clear'>;
  /** The pauses between two tries. */
  readonly pauses?: { readonly least: number; readonly most: number };
}

/** How often a message is tried on a channel. */
const TRIES = 5;

const PAUSES = { least: 2_000, most: 60_000 };

/** Where messages go. */
export interface Destination {
  readonly settings: TeamNotify;
  /** Where programs run. */
  readonly directory: string;
}

/** One channel of a destination. */
interface Way extends Destination {
  readonly channel: Channel;
}

/** Sends messages. */
export function openDelivery(options: DeliveryOptions) {
  const { environment, redactor, log, health, pauses = PAUSES } = options;

  async function send(to: Way, message: NoticeMessage, signal: AbortSignal): Promise<void> {
    const { channel, directory, settings } = to;
    const { command, webhook } = settings;
    const surroundings = { cwd: directory, environment, signal };
    if (channel === 'desktop') await showOnDesktop(message, surroundings);
    if (channel === 'command' && command) await runCommand(command, message, surroundings);
    if (channel === 'webhook' && webhook) {
      const url = resolveUrl(webhook.url, environment, redactor.hide);
      await postNotice(url, webhook, message, signal);
    }
  }

  return {
    /** Sends a message on one channel, and tries again a few times. Returns false only if it was interrupted. */
    async deliver(to: Way, message: NoticeMessage, signal: AbortSignal): Promise<boolean> {
      const { channel } = to;
      const about = { teamId: message.team, channel, kinds: message.notices.map(({ kind }) => kind) };
      for (let attempt = 1; ; attempt++) {
        try {
          await send(to, message, signal);
          log.info('notice.sent', about);
          health.clear(`notices ${channel}`);
          return true;
        } catch (error) {
          if (signal.aborted) return false;
          const why = redactor.text((error as Error).message);
          health.raise(`notices ${channel}`, `Notices cannot be sent (${channel}): ${why}`);
          if (attempt === TRIES || (error instanceof UnsentError && !error.mayPass)) {
            log.error('notice.lost', { ...about, attempt, why });
            return true;
          }
          log.warn('notice.failed', { ...about, attempt, why });
          await setTimeout(backOff(attempt, pauses, Math.random()), undefined, { signal, ref: false }).catch(() => {});
        }
      }
    },
  };
}
