import { join } from 'node:path';
import type { Notice } from '../core/notice.ts';
import type { TeamState } from '../core/state.ts';
import { readConfig } from '../runtime/config.ts';
import { openApprovals } from '../runtime/hooks/approvals.ts';
import { keepNotices } from '../runtime/notices/keeper.ts';
import type { Notices, Sending } from '../runtime/notices/keeper.ts';
import { removeNoticeFile } from '../runtime/notices/notice-file.ts';
import { keptNotify, notifyOf } from '../runtime/team-file/notify.ts';
import { answerLink } from '../server/answer-links.ts';
import type { Ending } from './ending.ts';
import type { TakenHome } from './home.ts';
import type { Storage } from './storage.ts';

/** Tells people outside of Troupe what needs them, if the settings or a team file say how. */
export interface DaemonNotices {
  /** Whether the settings say how. */
  readonly notifies: boolean;
  start(): Promise<void>;
  /** Looks at a team that was made elsewhere: what happened in it before this daemon knew it was told to nobody here. */
  look(teamId: string): Promise<void>;
}

/** Reads the settings. Nothing is sent before `start()`. */
export function openDaemonNotices(taken: TakenHome, storage: Storage, ending: Ending): DaemonNotices {
  const { home, environment, card, log, redactor } = taken;
  const { ledger, credentials, health, hostId, membership } = storage;
  const { notify: settings } = readConfig(home.directory);
  const approvals = openApprovals(home.approvals);
  const keepers: Notices[] = [];

  /** All daemons see the same cards; the first by name that has settings sends. */
  function isSender(): boolean {
    if (!membership) return true;
    const names = (membership.keeper?.list() ?? []).filter(({ notifies }) => notifies).map(({ name }) => name);
    return names.sort()[0] === hostId;
  }

  function linkTo(teamId: string, { requestId, revision }: Notice): string | undefined {
    const { url } = settings?.answers ?? {};
    if (url === undefined || requestId === undefined || revision === undefined) return undefined;
    return answerLink(credentials, url, { teamId, requestId, revision });
  }

  async function keep(file: string, sendingOf: (state: TeamState | undefined) => Sending | undefined): Promise<void> {
    const notices = keepNotices({
      ledger,
      file,
      sendingOf,
      environment,
      redactor,
      log,
      health,
      dashboard: () => card.url ?? undefined,
      onError: (error, teamId) => log.error('notices.failed', { teamId, error }),
    });
    ending.closers.add('notices', () => notices.close());
    await notices.start();
    keepers.push(notices);
  }

  /** What a team file says. The daemon that sees the folder sends, once its user has approved the present content. */
  function sendingOfFile({ teamId = '', team }: Partial<TeamState> = {}): Sending | undefined {
    const key = `notices of ${teamId}`;
    const kept = team && keptNotify(team);
    if (!kept || team.status === 'cleaned-up') health.clear(key);
    if (!kept || (membership && team.metadata?.['host'] !== hostId)) return undefined;
    const { notify, folder } = kept;
    return { settings: notify, directory: folder, isSender: () => true, isAllowed };

    function isAllowed(): boolean {
      const { hash = '' } = notifyOf({ notify }, folder) ?? {};
      if (approvals.has(hash)) {
        health.clear(key);
        return true;
      }
      const why = `Notices of team ${teamId} wait: you have not approved what its file says about them, as it is now. To read and approve it, run troupe up in ${folder}`;
      health.raise(key, why);
      return false;
    }
  }

  return {
    notifies: settings !== undefined,
    async start() {
      const file = join(home.directory, 'notices.json');
      if (settings) {
        const { dashboard } = settings;
        await keep(file, () => ({ settings, directory: home.directory, dashboard, isSender, linkTo }));
      } else removeNoticeFile(file);
      await keep(join(home.directory, 'team-notices.json'), sendingOfFile);
    },
    async look(teamId) {
      for (const notices of keepers) await ledger.view(teamId, (state) => notices.look(state));
    },
  };
}
