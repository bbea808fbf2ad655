import { isDeepStrictEqual } from 'node:util';
import { shellWord } from '../../core/shell.ts';
import type { TeamRecord } from '../../core/state.ts';
import { digestFiles, hashAll } from '../hooks/approvals.ts';
import { filesOfCommand } from '../hooks/hook-files.ts';
import { TeamNotify } from '../notices/settings.ts';
import { realPath } from './place.ts';
import type { TeamFile } from './schema.ts';

/** The notices of a team file: where they go, and the approval that this needs. */
export interface FileNotify {
  readonly settings: TeamNotify;
  /** Where its command runs. */
  readonly folder: string;
  /** What a person approves: the command with its files, the address, the desktop. */
  readonly hash: string;
  readonly files: string[];
}

/** The name of the notices of a file among the approvals. */
export const NOTIFY = 'notify' as const;

/** The notices of a file, bound to its present content like a hook. */
export function notifyOf({ notify }: Pick<TeamFile, 'notify'>, given: string): FileNotify | undefined {
  if (!notify) return undefined;
  const folder = realPath(given);
  const { command, webhook, desktop = false } = notify;
  const files = filesOfCommand(command ?? [], { cwd: folder, folder, isOwn: false });
  const hash = hashAll([NOTIFY, command, webhook, desktop, folder, digestFiles(files)]);
  return { settings: notify, folder, hash, files: [...files.keys()] };
}

/** Everything that it does, a line each. */
export function describeNotify({ command, webhook, desktop }: TeamNotify): string {
  return [
    ...(command ? [command.map(shellWord).join(' ')] : []),
    ...(webhook ? [`posts notices of the team to ${webhook.url} (${webhook.template})`] : []),
    ...(desktop ? ['shows notices of the team on the desktop'] : []),
  ].join('\n');
}

/** The names of the variables that its address has. */
export function variablesOfNotify({ webhook }: TeamNotify): string[] {
  return [...(webhook?.url ?? '').matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].flatMap(([, name]) => name ?? []);
}

/** What a team keeps of its file's notices, if that changed; null if the file has none any more. */
export function changedNotify(
  team: TeamRecord | undefined,
  { notify }: Pick<TeamFile, 'notify'>,
): { notify?: TeamNotify | null } {
  const before = team?.metadata?.[NOTIFY];
  if (isDeepStrictEqual(before, notify)) return {};
  return { notify: notify ?? null };
}

/** How the notices of a team are sent, and the folder of the file that says so. */
export interface KeptNotify {
  readonly notify: TeamNotify;
  readonly folder: string;
}

/** What a team keeps of notices: those of its own file, else of the file of the team around it. */
export function notifyToKeep({ notify }: Pick<TeamFile, 'notify'>, around: KeptNotify | undefined): object {
  if (notify) return { notify };
  return around ? { notify: around.notify, notifyFolder: around.folder } : {};
}

/** The notices of a team as it keeps them. What somebody else wrote there is ignored. */
export function keptNotify({ metadata }: TeamRecord): KeptNotify | undefined {
  const { [NOTIFY]: notify, folder: own, notifyFolder: folder = own } = metadata ?? {};
  // Nearly all teams, with each of their commits. To refuse `undefined`, zod makes an error.
  if (notify === undefined) return undefined;
  const { data } = TeamNotify.safeParse(notify);
  return data && typeof folder === 'string' ? { notify: data, folder } : undefined;
}
