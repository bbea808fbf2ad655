import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import { DISK_LIMIT, levelOf, wordDisk } from '../../core/work-disk.ts';
import type { DiskUse } from '../../core/work-disk.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { isFolder, placeOf } from '../../workspaces/places.ts';
import { sizeOf } from '../../workspaces/sizes.ts';
import type { Projects } from './project.ts';

/** Knows what workspaces take on the disk of this machine. */
export interface Disk {
  /** What the workspaces of a team take, as of the last half minute. */
  usage(teamId: string): Promise<DiskUse>;
  /** What all workspaces, their repositories and the trash take. */
  total(): Promise<DiskTotal>;
  /** Refuses a new workspace if those of the team have reached their limit. One that exists is never refused. */
  requireRoom(worker: { readonly teamId: string; readonly memberId: string }): Promise<void>;
  /** Looks at teams from time to time, and tells their leads before it is a problem. */
  start(teams: () => Iterable<string>): void;
  /** Looks at a team now. */
  look(teamId: string): Promise<void>;
  /** The team is deleted. Another one of its name is measured again, and its lead is told again. */
  forget(teamId: string): void;
  close(): void;
}

/** What Troupe takes on this machine for workspaces. Bytes. */
export interface DiskTotal {
  readonly workspaces: number;
  readonly depots: number;
  readonly trash: number;
  /** The teams that have workspaces. */
  readonly teams: (DiskUse & { readonly teamId: string })[];
}

/** To measure a folder means to look at each of its files: 100,000 take a second. */
const FRESH_MS = 30_000;
const EVERY_MS = 5 * 60_000;

/** Opens the measures of all workspaces of this daemon. */
export function openDisk(
  { ledger, projects: { places } }: { ledger: Ledger; projects: Pick<Projects, 'places'> },
  onError: (error: unknown, about: { teamId: string }) => void,
): Disk {
  const measured = new Map<string, { at: number; used: Promise<number> }>();
  /** What leads were told; a restart may repeat it. */
  const told = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;

  return {
    usage,
    async total() {
      const found = await ledger.viewAll(({ teamId, team }) => (team?.work ? [teamId] : []), { unreadable: () => [] });
      const teams: DiskTotal['teams'] = [];
      for (const teamId of found.flat()) teams.push({ teamId, ...(await usage(teamId)) });
      const [workspaces, depots, trash] = [places.workspaces, places.depots, places.trash].map((one) => sizeOf(one));
      return { workspaces: (await workspaces) ?? 0, depots: (await depots) ?? 0, trash: (await trash) ?? 0, teams };
    },
    async requireRoom({ teamId, memberId }) {
      if (await isFolder(placeOf(places.workspaces, { team: teamId, member: memberId }))) return;
      const use = await usage(teamId);
      // The next one has to see this one.
      measured.delete(teamId);
      await tell(teamId, use);
      if (levelOf(use) !== 'full') return;
      throw new TeamError('limit', wordDisk(teamId, use));
    },
    start(teams) {
      const lookAtAll = async (): Promise<void> => {
        for (const teamId of new Set(teams())) {
          await look(teamId).catch((error: unknown) => onError(error, { teamId }));
        }
      };
      timer = setInterval(() => void lookAtAll(), EVERY_MS);
      timer.unref();
    },
    look,
    forget(teamId) {
      measured.delete(teamId);
      told.delete(teamId);
    },
    close() {
      clearInterval(timer);
    },
  };

  async function usage(teamId: string): Promise<DiskUse> {
    const limit = (await ledger.view(teamId, ({ team }) => team?.work?.limits?.disk)) ?? DISK_LIMIT;
    const known = measured.get(teamId);
    if (known && Date.now() - known.at < FRESH_MS) return { used: await known.used, limit };
    const used = sizeOf(`${places.workspaces}/${teamId}`);
    measured.set(teamId, { at: Date.now(), used });
    return { used: await used, limit };
  }

  async function look(teamId: string): Promise<void> {
    await tell(teamId, await usage(teamId));
  }

  /** Tells the lead, once for each level and limit. */
  async function tell(teamId: string, use: DiskUse): Promise<void> {
    const level = `${levelOf(use)} ${use.limit}`;
    if (told.get(teamId) === level) return;
    told.set(teamId, level);
    const toId = await ledger.view(teamId, ({ team }) => (team?.status === 'active' ? team.leadId : undefined));
    if (levelOf(use) === 'fine' || toId === undefined) return;
    const content = wordDisk(teamId, use);
    const messageId = `disk-${levelOf(use)}-${Date.now()}`;
    const message = { type: 'message.send', by: SYSTEM, messageId, messageType: 'system', toId, content } as const;
    await ledger.execute(teamId, { ...message, priority: 'normal' }, () => undefined);
  }
}
