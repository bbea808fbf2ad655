import { isRunning } from '../../../agents/process.ts';
import type { ProcessIdentity } from '../../../agents/process.ts';
import { SYSTEM } from '../../../core/actor.ts';
import { TeamError } from '../../../core/errors.ts';
import { LINE_LENGTH } from '../../../core/limits.ts';
import type { SharedTask } from '../../../core/task.ts';
import { oneLine, quote } from '../../../core/text.ts';
import { changeConfig } from '../../config-file.ts';
import { BRIDGE_MARK } from '../../format.ts';
import type { NativeConfig, NativeMember } from '../../format.ts';
import type { NativePaths } from '../../layout.ts';
import type { Shared } from '../shared.ts';

/** Our signature in a native team's file: the daemon that owns these members. */
export interface Signature {
  readonly home: string;
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  /** The daemon's state directory, for people. */
  readonly path?: string;
}

/** The mark of a bridge on a native team or one of its members. */
export function markIn(value: object): Partial<Signature> | undefined {
  const metadata = (value as { metadata?: Record<string, unknown> }).metadata;
  const mark = typeof metadata === 'object' && metadata !== null ? metadata[BRIDGE_MARK] : undefined;
  return typeof mark === 'object' && mark !== null ? mark : undefined;
}

/** Whether a bridge added this native member, ours or that of another home. */
export function isBridged(member: NativeMember): boolean {
  return markIn(member) !== undefined;
}

/** Whether we added this member: those of another home are not ours to change. */
export function isOurs(member: NativeMember, { home }: Signature): boolean {
  return markIn(member)?.home === home;
}

/** Whether a native team still carries our signature or our members. */
export function isMarked(config: NativeConfig, signature: Signature): boolean {
  return markIn(config)?.home === signature.home || config.members.some((member) => isOurs(member, signature));
}

/** The running daemon of another home that synchronizes a native team. */
export function rivalOf(config: NativeConfig, own: Signature): Partial<Signature> | undefined {
  const mark = markIn(config);
  const isOther = mark?.pid !== undefined && mark.home !== own.home;
  return isOther && isRunning(mark as ProcessIdentity) ? mark : undefined;
}

/** The daemon that synchronizes a native team, in words. */
export function keeperOf(config: NativeConfig): string | undefined {
  const mark = markIn(config);
  if (mark?.pid === undefined || !isRunning(mark as ProcessIdentity)) return undefined;
  return `the daemon of ${homeOf(mark)} (process ${mark.pid}) synchronizes it until "troupe native leave"`;
}

/** Why this daemon does nothing while another one synchronizes, and how to change that. */
function whyStandBack(name: string, rival: Partial<Signature>): string {
  const path = pathIn(rival);
  const how = path === undefined ? 'with its TROUPE_HOME' : `with TROUPE_HOME=${path}`;
  return (
    `The native team ${quote(name)} was joined by another daemon (process ${rival.pid}, ${homeOf(rival)}): leave it there first, ` +
    `"troupe native leave" ${how}`
  );
}

function pathIn({ path }: Partial<Signature>): string | undefined {
  return typeof path === 'string' ? oneLine(path, LINE_LENGTH) : undefined;
}

function homeOf(mark: Partial<Signature>): string {
  return pathIn(mark) ?? `the home ${String(mark.home).slice(0, 16)}`;
}

/** Signs a native team under its lock: if two daemons join at once, one succeeds. */
export async function sign(paths: NativePaths, own: Signature): Promise<void> {
  await changeConfig(paths, (config) => {
    const rival = rivalOf(config, own);
    if (rival) throw new TeamError('conflict', whyStandBack(paths.name, rival));
    return { ...config, metadata: { ...(config['metadata'] as object | undefined), [BRIDGE_MARK]: own } };
  });
}

/** A native team's file without our signature; another daemon's stays. */
export function unsigned(config: NativeConfig, own: Signature): NativeConfig {
  return markIn(config)?.home === own.home ? withoutMark(config) : config;
}

/** The value without a bridge's mark in its `metadata`, and without `metadata` if nothing else is in it. */
export function withoutMark<T extends Readonly<Record<string, unknown>>>(value: T): T {
  const { metadata = {}, ...rest } = value;
  const { [BRIDGE_MARK]: _mark, ...others } = metadata as Record<string, unknown>;
  return { ...rest, ...(Object.keys(others).length > 0 && { metadata: others }) } as unknown as T;
}

/** Two daemons on one native team would undo each other's work: the later one waits until the other is gone. */
export interface Rivalry {
  /** Why nothing is synchronized, if another daemon does it. */
  readonly standsBack: string | undefined;
  /** Checks the signature of a native team; returns whether another running daemon signed it. */
  giveWay(config: NativeConfig): boolean;
  /** Undoes a claim: on the native side another member would take the same task. */
  refuse(task: SharedTask): Promise<never>;
}

/** Starts watching for another daemon. */
export function watchRival({ paths, naming, execute, report }: Shared, signature: Signature): Rivalry {
  let standsBack: string | undefined;
  return {
    get standsBack() {
      return standsBack;
    },
    giveWay(config) {
      const rival = naming.leads ? undefined : rivalOf(config, signature);
      const why = rival && whyStandBack(paths.name, rival);
      if (why !== standsBack) {
        report(why ?? `the other daemon has left ${paths.name}, which this daemon synchronizes again`);
      }
      standsBack = why;
      return why !== undefined;
    },
    async refuse({ id: taskId, epoch }) {
      await execute({ type: 'task.release', by: SYSTEM, taskId, epoch, reason: 'not synchronized' });
      throw new TeamError('conflict', `Task ${taskId} cannot be taken here: ${standsBack}`);
    },
  };
}
