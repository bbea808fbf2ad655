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

/** What we leave in a native team's file: whose members these are. */
export interface Signature {
  readonly home: string;
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  /** Where that daemon keeps its things, for people. */
  readonly path?: string;
}

/** The mark of a bridge on a native team or on a member of it. */
export function markIn(value: object): Partial<Signature> | undefined {
  const metadata = (value as { metadata?: Record<string, unknown> }).metadata;
  const mark = typeof metadata === 'object' && metadata !== null ? metadata[BRIDGE_MARK] : undefined;
  return typeof mark === 'object' && mark !== null ? mark : undefined;
}

/** Whether a native member is one that a bridge put there, ours or that of another home. */
export function isBridged(member: NativeMember): boolean {
  return markIn(member) !== undefined;
}

/** Whether it is one that we put there: those of another home are theirs to keep. */
export function isOurs(member: NativeMember, { home }: Signature): boolean {
  return markIn(member)?.home === home;
}

/** Whether a native team still shows that we keep it in step. */
export function isMarked(config: NativeConfig, signature: Signature): boolean {
  return markIn(config)?.home === signature.home || config.members.some((member) => isOurs(member, signature));
}

/** The daemon of another home that keeps a native team in step and runs. */
export function rivalOf(config: NativeConfig, own: Signature): Partial<Signature> | undefined {
  const mark = markIn(config);
  const isOther = mark?.pid !== undefined && mark.home !== own.home;
  return isOther && isRunning(mark as ProcessIdentity) ? mark : undefined;
}

/** Which daemon keeps a native team in step, in words, if one does. */
export function keeperOf(config: NativeConfig): string | undefined {
  const mark = markIn(config);
  if (mark?.pid === undefined || !isRunning(mark as ProcessIdentity)) return undefined;
  return `the daemon of ${homeOf(mark)} (process ${mark.pid}) keeps it in step until "troupe native leave"`;
}

/** Why nothing is done while another daemon does it, and what to do about that. */
export function whyStandBack(name: string, rival: Partial<Signature>): string {
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

/** Signs a native team, under its lock: of two that join at once, one does. */
export async function sign(paths: NativePaths, own: Signature): Promise<void> {
  await changeConfig(paths, (config) => {
    const rival = rivalOf(config, own);
    if (rival) throw new TeamError('conflict', whyStandBack(paths.name, rival));
    return { ...config, metadata: { ...(config['metadata'] as object | undefined), [BRIDGE_MARK]: own } };
  });
}

/** A native team's file without our signature; that of another daemon stays. */
export function unsigned(config: NativeConfig, own: Signature): NativeConfig {
  return markIn(config)?.home === own.home ? withoutMark(config) : config;
}

/** The same thing without what a bridge left in its `metadata`, and without that where nothing else is in it. */
export function withoutMark<T extends Readonly<Record<string, unknown>>>(value: T): T {
  const { metadata = {}, ...rest } = value;
  const { [BRIDGE_MARK]: _mark, ...others } = metadata as Record<string, unknown>;
  return { ...rest, ...(Object.keys(others).length > 0 && { metadata: others }) } as unknown as T;
}

/** Two daemons that keep one native team in step would undo each other's work: the later one waits until the other is gone. */
export interface Rivalry {
  /** Why nothing is kept in step, if another daemon does that. */
  readonly standsBack: string | undefined;
  /** Looks whose signature a native team has; says whether another daemon's, which runs. */
  giveWay(config: NativeConfig): boolean;
  /** Undoes a claim: what is taken here would be taken there by somebody else. */
  refuse(task: SharedTask): Promise<never>;
}

/** Begins to watch for another daemon. */
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
        report(why ?? `the other daemon has left ${paths.name}, which is kept in step from here again`);
      }
      standsBack = why;
      return why !== undefined;
    },
    async refuse({ id: taskId, epoch }) {
      await execute({ type: 'task.release', by: SYSTEM, taskId, epoch, reason: 'not kept in step' });
      throw new TeamError('conflict', `Task ${taskId} cannot be taken here: ${standsBack}`);
    },
  };
}
