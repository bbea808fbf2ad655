import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { TeamError } from '../../core/errors.ts';
import { changeConfig, configOf } from '../config-file.ts';
import type { NativeConfig, NativeMember } from '../format.ts';
import { isTorn, readNow, readSettled, replaceFile } from '../json-file.ts';
import { NATIVE_LEAD } from '../layout.ts';
import type { NativePaths } from '../layout.ts';
import { underLock } from '../lock.ts';
import { checkNativeRoot } from '../root.ts';

/** The team of ours that a native team was created for. */
const HostMark = z.object({ home: z.string(), teamId: z.string(), stream: z.string() });
export type HostMark = z.output<typeof HostMark>;

/** The key in `metadata` that holds this mark. */
const HOST_MARK = 'troupe-host';

const COLORS = ['blue', 'green', 'yellow', 'purple', 'orange', 'pink', 'cyan', 'red'];

/**
 * The directory of the native team that we lead for a team of ours. Every version leaves this form as it is; the oldest
 * turns everything but a-z, 0-9 and - into -. No session and hardly a person would choose it. It differs for each state
 * directory and each stream of the team.
 */
export function hostedName({ home, teamId, stream }: HostMark): string {
  const mark = createHash('sha256')
    .update(`${resolve(home)}\n${teamId}\n${stream}`)
    .digest('hex')
    .slice(0, 8);
  return `troupe-${teamId.replaceAll(/[^a-z0-9]/g, '-').slice(0, 40)}-${mark}`;
}

/**
 * The directory for a lead. It is alone in a native team of its own: to native teammates it is `team-lead`, as any lead
 * of ours, and no second name of it is in their files.
 */
export function hostedLeadName(mark: HostMark): string {
  return hostedName({ ...mark, stream: `${mark.stream} lead` });
}

/** The team of ours that a native team was created for. */
export function hostMarkOf(config: NativeConfig | undefined): HostMark | undefined {
  const metadata = z.record(z.string(), z.unknown()).safeParse(config?.['metadata']).data;
  return HostMark.safeParse(metadata?.[HOST_MARK]).data;
}

/** Creates the missing directories and files of the team that we lead. Refuses a directory of another team. */
export async function prepareHosted(root: string, paths: NativePaths, mark: HostMark): Promise<void> {
  if (!checkNativeRoot(root)) mkdirSync(root, { recursive: true, mode: 0o700 });
  // Unlike Claude Code's own directories, not readable by others: they contain what members say.
  for (const path of [join(root, 'teams'), join(root, 'tasks'), paths.team, paths.inboxes, paths.tasks]) {
    mkdirSync(path, { recursive: true, mode: path.startsWith(paths.team) || path === paths.tasks ? 0o700 : 0o755 });
  }
  closeSync(openSync(paths.taskList, 'a', 0o644));
  const found = existsSync(paths.config) ? configOf(readNow(paths.config)) : undefined;
  if (found?.kind !== 'read') {
    await underLock(paths.config, () => {
      if (!existsSync(paths.config)) replaceFile(paths.config, leadOnly(paths.name, mark));
    });
  }
  await mendHosted(paths, mark);
  const now = configOf(readNow(paths.config));
  const owner = now.kind === 'read' ? hostMarkOf(now.config) : undefined;
  if (now.kind === 'read' && (owner?.teamId !== mark.teamId || owner.stream !== mark.stream)) {
    throw new TeamError('conflict', `${paths.team} belongs to another team: move it away, and start the member again`);
  }
}

/**
 * Members rewrite the file in place. A member that ends during a write leaves it empty or cut off, and nothing else
 * would write it again. The team is ours, so we restore our last version.
 */
export async function mendHosted(paths: NativePaths, mark: HostMark): Promise<void> {
  if (!isTorn(await readSettled(paths.config))) return;
  const kept = configOf(readNow(copyOf(paths)));
  await underLock(paths.config, () => {
    if (!isTorn(readNow(paths.config))) return;
    replaceFile(paths.config, kept.kind === 'read' ? kept.config : leadOnly(paths.name, mark));
  });
}

/** Our copy of the file; Claude Code does not know it. */
function copyOf(paths: NativePaths): string {
  return join(paths.team, '.config.troupe.json');
}

async function change(paths: NativePaths, edit: Parameters<typeof changeConfig>[1]): Promise<void> {
  await changeConfig(paths, (config) => {
    const next = edit(config);
    if (next) replaceFile(copyOf(paths), next, 0o600);
    return next;
  });
}

type NewMember = Partial<NativeMember> & { name: string };

/** Adds a member to the team's file, or changes its entry; fields that Claude Code wrote stay. */
export async function enterMember(paths: NativePaths, member: NewMember): Promise<void> {
  await changeMember(paths, member.name, (before) => ({ ...before, ...member }));
}

/**
 * Marks a member as active in the team's file before its turn; adds it again if it is missing. Claude Code would write
 * the same a moment later, in place. Its newest version writes the shorter text over the longer one and truncates the
 * rest only then. A permission request in between finds no team and fails ("mailbox write failed").
 */
export async function beginWork(paths: NativePaths, member: NewMember): Promise<void> {
  await changeMember(paths, member.name, (before) => ({ ...(before ?? member), isActive: true }));
}

async function changeMember(
  paths: NativePaths,
  member: string,
  edit: (before: NativeMember | undefined) => Partial<NativeMember>,
): Promise<void> {
  await change(paths, (config) => {
    const at = config.members.findIndex(({ name }) => name === member);
    const before = config.members[at];
    const color = before?.color ?? COLORS[(config.members.length - 1) % COLORS.length];
    const next = { ...before, color, ...edit(before), name: member };
    if (before && JSON.stringify(before) === JSON.stringify(next)) return undefined;
    const members = before ? config.members.with(at, next) : [...config.members, next];
    return { ...config, members };
  });
}

/** Removes a member. */
export async function removeMember(paths: NativePaths, name: string): Promise<void> {
  if (!existsSync(paths.config)) return;
  await change(paths, (config) => {
    const members = config.members.filter((member) => member.name !== name);
    return members.length === config.members.length ? undefined : { ...config, members };
  });
}

/** Enough for every version. Without `leadAgentId` the oldest talks to itself forever. */
function leadOnly(name: string, mark: HostMark): NativeConfig {
  const now = Date.now();
  const agentId = `${NATIVE_LEAD}@${name}`;
  return {
    name,
    description: `Led by Troupe for its team ${mark.teamId}`,
    createdAt: now,
    leadAgentId: agentId,
    leadSessionId: crypto.randomUUID(),
    members: [
      {
        agentId,
        name: NATIVE_LEAD,
        agentType: NATIVE_LEAD,
        joinedAt: now,
        tmuxPaneId: 'leader',
        cwd: '',
        subscriptions: [],
      },
    ],
    metadata: { [HOST_MARK]: mark },
  };
}
