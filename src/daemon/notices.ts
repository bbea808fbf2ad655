import { join } from 'node:path';
import { readConfig } from '../runtime/config.ts';
import { keepNotices } from '../runtime/notices/keeper.ts';
import { removeNoticeFile } from '../runtime/notices/notice-file.ts';
import type { Ending } from './ending.ts';
import type { TakenHome } from './home.ts';
import type { Storage } from './storage.ts';

/** Tells people outside of Troupe what needs them, if the settings say how. */
export interface DaemonNotices {
  /** Whether the settings say how. */
  readonly notifies: boolean;
  start(): Promise<void>;
}

/** Reads the settings. Nothing is sent before `start()`. */
export function openDaemonNotices(taken: TakenHome, storage: Storage, ending: Ending): DaemonNotices {
  const { home, environment, card, log, redactor } = taken;
  const { ledger, health, hostId, membership } = storage;
  const file = join(home.directory, 'notices.json');
  const { notify: settings } = readConfig(home.directory);

  /** All daemons see the same cards; the first by name that has settings sends. */
  function isSender(): boolean {
    if (!membership) return true;
    const names = (membership.keeper?.list() ?? []).filter(({ notifies }) => notifies).map(({ name }) => name);
    return names.sort()[0] === hostId;
  }

  return {
    notifies: settings !== undefined,
    async start() {
      if (!settings) return removeNoticeFile(file);
      const notices = keepNotices({
        ledger,
        settings,
        file,
        directory: home.directory,
        environment,
        redactor,
        log,
        health,
        dashboard: () => card.url ?? undefined,
        isSender,
        onError: (error, teamId) => log.error('notices.failed', { teamId, error }),
      });
      ending.closers.add('notices', () => notices.close());
      await notices.start();
    },
  };
}
