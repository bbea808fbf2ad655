import { SYSTEM } from '../../core/actor.ts';
import { LINE_LENGTH } from '../../core/limits.ts';
import type { MemberRecord, TeamState } from '../../core/state.ts';
import { oneLine } from '../../core/text.ts';
import type { NewCommand } from '../../ledger/ledger.ts';
import { changeConfig } from '../config-file.ts';
import { BRIDGE_MARK, nameOf } from '../format.ts';
import type { NativeConfig, NativeMember } from '../format.ts';
import type { NativePaths } from '../layout.ts';
import type { LockOptions } from '../lock.ts';
import { leaving, nativeMemberName, seatOf } from './marks.ts';
import { memberIdOf, newMemberId } from './names.ts';
import { isOurs, markIn, rivalOf, unsigned } from './presence/signature.ts';
import type { Signature } from './presence/signature.ts';
import type { Shared } from './shared.ts';

/**
 * A new pane belongs to nobody yet. Its program shows what it is when it ends its first turn, writes a message, or sits
 * down as a member of ours. A pane that is silent for this long is a native member.
 */
const NEW_PANE_MS = 15_000;

/** Compares the members of both sides: native ones join here, ours appear in the native file. */
export async function mirrorMembers(shared: Shared, config: NativeConfig, signature: Signature): Promise<void> {
  if (shared.naming.leads) return mirrorHosted(shared, config, signature);
  const theirs = config.members.filter((member) => !isOurs(member, signature));
  for (const native of theirs) await shared.step(`member ${native.name}`, () => takeMember(shared, native));
  const gone = await shared.view((state) =>
    [...state.members.values()].filter((member) => {
      const name = nativeMemberName(member) ?? seatOf(member);
      return name !== undefined && member.status !== 'stopped' && !theirs.some((one) => one.name === name);
    }),
  );
  for (const { id } of gone) await shared.execute(leaving(id));
  const { wanted, seated } = await shared.view((state) => ({
    wanted: ownMembers(state, nameOf(config), signature),
    seated: seatsIn(state),
  }));
  const isTrue = theirs.every(({ name, isActive }) => !seated.has(name) || seated.get(name) === isActive);
  if (!isTrue || !isShown(config, wanted, signature)) {
    await shared.step('config.json', () =>
      changeConfig(
        shared.paths,
        (found) =>
          // Visible only under the lock: another daemon was first.
          rivalOf(found, signature)
            ? undefined
            : withSeats(withOurs(found, wanted, signature, shared), seated, signature),
        shared.times.files,
      ),
    );
  }
}

/** If Troupe leads the native team, its file also lists our other members. Stopped ones are removed. */
async function mirrorHosted(shared: Shared, config: NativeConfig, signature: Signature): Promise<void> {
  const { wanted, stopped } = await shared.view((state) => ({
    wanted: ownMembers(state, nameOf(config), signature).filter(({ name }) => !shared.naming.isNative(state, name)),
    stopped: new Set([...state.members.values()].flatMap(({ id, status }) => (status === 'stopped' ? [id] : []))),
  }));
  const isLeft = (member: NativeMember): boolean => !isOurs(member, signature) && stopped.has(member.name);
  if (isShown(config, wanted, signature) && !config.members.some(isLeft)) return;
  await shared.step('config.json', () =>
    changeConfig(
      shared.paths,
      (found) =>
        withOurs({ ...found, members: found.members.filter((member) => !isLeft(member)) }, wanted, signature, shared),
      shared.times.files,
    ),
  );
}

/** Removes our members when the teams part; entries of other daemons stay. */
export function withdrawMembers(paths: NativePaths, signature: Signature, options?: LockOptions): Promise<boolean> {
  return changeConfig(
    paths,
    (config) => {
      const members = config.members.filter((member) => !isOurs(member, signature));
      return unsigned({ ...config, members }, signature);
    },
    options,
  );
}

async function takeMember(shared: Shared, native: NativeMember): Promise<void> {
  const { expected } = shared;
  expected.delete(native.name);
  const hasSpoken = shared.spoken.delete(native.name);
  const status = native.isActive === false ? 'idle' : 'active';
  const command = await shared.view((state): NewCommand | undefined => {
    const known = memberIdOf(state, native.name);
    const member = known === undefined ? undefined : state.members.get(known);
    if (member && member.status !== 'stopped') {
      // Only teammates in panes report whether they work; the others only report that they are idle.
      const isNews = native.isActive !== undefined && member.status !== status && member.status !== 'shutting-down';
      const isTheirs = nativeMemberName(member) !== undefined;
      return isNews && isTheirs ? { type: 'member.change', by: SYSTEM, memberId: member.id, status } : undefined;
    }
    // It had a seat here and left; the native lead lists it until it notices. A later entry of that name is a new
    // member.
    if (member && seatOf(member) !== undefined && (native.joinedAt ?? 0) <= member.joinedAt.getTime()) return undefined;
    if (isNewPane(native) && !hasSpoken) {
      expected.add(native.name);
      return undefined;
    }
    return {
      type: 'member.join',
      by: SYSTEM,
      name: member?.id ?? newMemberId(state, native.name),
      role: 'teammate',
      prompt: '',
      planApprovalRequired: false,
      agentType: oneLine(native.agentType ?? 'general-purpose', LINE_LENGTH),
      sessionId: 'none',
      backendType: backendOf(native.backendType),
      status,
      ...(native.model !== undefined && { model: oneLine(native.model, LINE_LENGTH) }),
      ...(native.color !== undefined && { color: oneLine(native.color, LINE_LENGTH) }),
      ...(native.cwd !== undefined && { cwd: native.cwd.slice(0, 4096) }),
      metadata: { native: { name: native.name } },
    };
  });
  if (!command) {
    if (expected.has(native.name)) shared.again(NEW_PANE_MS);
    return;
  }
  await shared.attempt(command, `member ${native.name}`);
}

function isNewPane({ joinedAt = 0, isActive, backendType, tmuxPaneId }: NativeMember): boolean {
  const hasPane = backendType === 'tmux' || (backendType === undefined && tmuxPaneId === '');
  return hasPane && isActive === undefined && Date.now() - joinedAt < NEW_PANE_MS;
}

/** Our members in seats, by native name, and whether they are active. */
function seatsIn(state: TeamState): Map<string, boolean> {
  return new Map(
    [...state.members.values()].flatMap((member) => {
      const seat = member.status === 'stopped' ? undefined : seatOf(member);
      return seat === undefined ? [] : [[seat, member.status === 'active']];
    }),
  );
}

/** Sets `isActive` for our seats: a teammate in a pane reports it itself. */
function withSeats(config: NativeConfig, seated: ReadonlyMap<string, boolean>, signature: Signature): NativeConfig {
  const members = config.members.map((member) => {
    const isActive = isOurs(member, signature) ? undefined : seated.get(member.name);
    return isActive === undefined ? member : { ...member, isActive };
  });
  return { ...config, members };
}

/** Our members in a form that both measured versions accept. */
function ownMembers(state: TeamState, team: string, signature: Signature): NativeMember[] {
  const isHere = (member: MemberRecord): boolean =>
    member.status !== 'stopped' &&
    member.id !== state.team?.leadId &&
    nativeMemberName(member) === undefined &&
    seatOf(member) === undefined;
  return [...state.members.values()].filter(isHere).map((member) => ({
    agentId: `${member.id}@${team}`,
    name: member.id,
    agentType: member.agent?.name ?? member.agent?.kind ?? member.agentType,
    model: member.model ?? 'other',
    color: member.color ?? 'cyan',
    planModeRequired: false,
    joinedAt: member.joinedAt.getTime(),
    tmuxPaneId: '',
    cwd: member.cwd ?? '',
    subscriptions: [],
    backendType: 'tmux',
    isActive: member.status === 'active',
    metadata: { [BRIDGE_MARK]: { home: signature.home } },
  }));
}

function withOurs(
  config: NativeConfig,
  wanted: readonly NativeMember[],
  signature: Signature,
  { report }: Shared,
): NativeConfig {
  const theirs = config.members.filter((member) => !isOurs(member, signature));
  const ours = wanted.filter((member) => {
    const taken = theirs.some(({ name }) => name === member.name);
    if (taken) report(`member ${member.name}: the native team has a member of that name, so ours is not shown there`);
    return !taken;
  });
  const metadata = { ...(config['metadata'] as object | undefined), [BRIDGE_MARK]: signature };
  return { ...config, members: [...theirs, ...ours], metadata };
}

function isShown(config: NativeConfig, wanted: readonly NativeMember[], signature: Signature): boolean {
  const ours = config.members.filter((member) => isOurs(member, signature));
  const theirs = new Set(config.members.filter((member) => !isOurs(member, signature)).map(({ name }) => name));
  const due = wanted.filter(({ name }) => !theirs.has(name));
  if (JSON.stringify(markIn(config)) !== JSON.stringify(signature) || ours.length !== due.length) return false;
  return due.every((member) => {
    const shown = ours.find(({ name }) => name === member.name);
    return shown !== undefined && shown.agentId === member.agentId && shown.isActive === member.isActive;
  });
}

function backendOf(backend: string | undefined): 'tmux' | 'iterm2' | 'in-process' {
  return backend === 'tmux' || backend === 'iterm2' ? backend : 'in-process';
}
