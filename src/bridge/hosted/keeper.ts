import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeAgent } from '../../core/agent-kinds.ts';
import type { TeamState } from '../../core/state.ts';
import type { SharedTask } from '../../core/task.ts';
import { streamOf } from '../../core/view.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { configOf } from '../config-file.ts';
import { readNow } from '../json-file.ts';
import { isSafeName, nativePaths } from '../layout.ts';
import { hasProcesses, moveToTrash } from '../leftovers.ts';
import { isHostedMate, nativeNameOf } from '../mirror/marks.ts';
import { openMirror } from '../mirror/mirror.ts';
import type { Mirror } from '../mirror/mirror.ts';
import type { Signature } from '../mirror/presence/signature.ts';
import type { MirrorTimes } from '../mirror/shared.ts';
import type { Sight } from '../sight.ts';
import { hostedLeadName, hostedName, hostMarkOf, prepareHosted } from './place.ts';
import type { HostMark } from './place.ts';

/** What `keepHosted` needs. */
export interface HostedOptions {
  readonly ledger: Ledger;
  readonly home: string;
  readonly root: string;
  readonly trash: string;
  readonly sight: () => Sight;
  readonly signature: Signature;
  readonly times: MirrorTimes;
  /** Completes a task as its holder would, including its gates. */
  readonly complete: (teamId: string, taskId: string, memberId: string) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** The native teams that we lead: one for each team of ours with a `claude-native` teammate. */
export interface HostedTeams {
  /** Our team for which we lead this native one. */
  teamOf(native: string): string | undefined;
  /** Whether this team's tasks are in native files too. */
  keeps(teamId: string): boolean;
  confirm(teamId: string, task: SharedTask, memberId: string): Promise<boolean> | undefined;
  /** Resolves when a comparison of both sides that starts now is complete. */
  settled(teamId: string): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** How long the processes of a closed team may take to end before its files are moved away. */
const ENDING_MS = 20_000;

/** Keeps a native team for each team that needs one, from its first `claude-native` member until the team is closed. */
export function keepHosted(options: HostedOptions): HostedTeams {
  const { ledger, root, onError } = options;
  const home = resolve(options.home);
  const open = new Map<string, { native: string; mirror: Promise<Mirror>; opened?: Mirror }>();
  const ending = new Set<Promise<void>>();
  let closed = false;

  const consider = (state: TeamState): void => {
    const { team, teamId } = state;
    if (closed || !team || team.status === 'cleaned-up' || open.has(teamId)) return;
    // A team that is joined to a native team is synchronized with that one, and its tasks have their numbers there.
    if (nativeNameOf(state) !== undefined) return;
    const members = [...state.members.values()];
    if (!members.some((member) => isHostedMate(state, member) && member.status !== 'stopped')) return;
    const mark = { home, teamId, stream: streamOf(team) };
    const native = hostedName(mark);
    const mirror = begin(mark, native);
    const known: { native: string; mirror: Promise<Mirror>; opened?: Mirror } = { native, mirror };
    open.set(teamId, known);
    mirror.then(
      (opened) => (known.opened = opened),
      (error: unknown) => {
        open.delete(teamId);
        onError(error);
      },
    );
  };

  const begin = async (mark: HostMark, native: string): Promise<Mirror> => {
    const { teamId } = mark;
    await prepareHosted(root, nativePaths(root, native), mark);
    const complete = (taskId: string, memberId: string): Promise<void> => options.complete(teamId, taskId, memberId);
    const { signature, trash, times } = options;
    const parts = { ledger, root, teamId, native, signature, trash, times, onError, complete };
    return openMirror({ ...parts, sight: options.sight() });
  };

  /** The team is closed: moves its files to the trash when no process writes them any more. */
  const end = async (teamId: string): Promise<void> => {
    const known = open.get(teamId);
    open.delete(teamId);
    await (await known?.mirror.catch(() => undefined))?.close();
    const mark = await ledger.view(teamId, ({ team }) => team && { home, teamId, stream: streamOf(team) });
    const lead = mark && hostedLeadName(mark);
    const names = [known?.native, lead].filter((name) => name !== undefined);
    const giveUp = performance.now() + ENDING_MS;
    for (const native of names.filter((name) => existsSync(nativePaths(root, name).team))) {
      while (!closed && hasProcesses(native) && performance.now() < giveUp) await sleep(100);
      discard(native);
    }
  };

  const discard = (native: string): void => {
    const facts = { kind: 'team', dead: true, evidence: [], changedAt: 0, tasks: 0, members: 0 } as const;
    moveToTrash(root, { name: native, ...facts }, options.trash);
  };

  /** Discards what an earlier daemon of this state directory left of teams that are closed now. */
  const sweep = async (): Promise<void> => {
    for (const native of ledNames(root)) {
      const config = configOf(readNow(nativePaths(root, native).config));
      const mark = config.kind === 'read' ? hostMarkOf(config.config) : undefined;
      if (mark?.home !== home || hasProcesses(native)) continue;
      const isOpen = await ledger
        .view(mark.teamId, ({ team }) => team && team.status !== 'cleaned-up' && streamOf(team) === mark.stream)
        // An unreadable team may still be open.
        .catch(() => true);
      if (!isOpen) discard(native);
    }
  };

  const unsubscribe = ledger.subscribe((teamId, { events }, state) => {
    for (const event of events) {
      if (event.type === 'teammate:joined' && event.agent && isNativeAgent(event.agent)) consider(state);
      if (event.type === 'team:closed') {
        const work = end(teamId).catch(onError);
        ending.add(work);
        void work.finally(() => ending.delete(work));
      }
    }
  });

  return {
    teamOf: (native) => [...open].find(([, one]) => one.native === native)?.[0],
    confirm(teamId, task, memberId) {
      const known = open.get(teamId);
      // The work goes on even if the files are unavailable.
      return known?.mirror.then(
        (mirror) => mirror.confirm(task, memberId),
        () => true,
      );
    },
    keeps: (teamId) => open.has(teamId),
    async settled(teamId) {
      await (await open.get(teamId)?.mirror)?.settled();
    },
    async start() {
      await ledger.viewAll(consider, { unreadable: () => undefined });
      await sweep().catch(onError);
    },
    async close() {
      unsubscribe();
      closed = true;
      await Promise.all(ending);
      for (const { mirror } of open.values()) await (await mirror.catch(() => undefined))?.close();
      open.clear();
    },
  };
}

/** Directories whose names have the form of ours. */
function ledNames(root: string): string[] {
  try {
    return readdirSync(join(root, 'teams')).filter((name) => /^troupe-.*-[0-9a-f]{8}$/.test(name) && isSafeName(name));
  } catch {
    return [];
  }
}
