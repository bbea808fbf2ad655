import { createHash } from 'node:crypto';
import { identify } from '../agents/process.ts';
import { USER } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import { isSlug, Slug, suggestSlug } from '../core/fields.ts';
import { parse } from '../core/parse.ts';
import { quote } from '../core/text.ts';
import type { Journal } from '../journal/journal.ts';
import type { ClaimKeeper } from '../ledger/claim-keeper.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { changeConfig, configOf } from './config-file.ts';
import { freeName, prepareTeam } from './counterpart.ts';
import { keepHosted } from './hosted/keeper.ts';
import { readNow } from './json-file.ts';
import { nativePaths } from './layout.ts';
import { findLeftovers, moveToTrash } from './leftovers.ts';
import type { Leftover } from './leftovers.ts';
import { markOf, nativeNameOf } from './mirror/marks.ts';
import { openMirror } from './mirror/mirror.ts';
import type { Mirror } from './mirror/mirror.ts';
import { leadEnded, leadOf, leadReads, whyNotJoin } from './mirror/presence/lead.ts';
import { findForsaken, leaveForsaken } from './mirror/presence/parting.ts';
import { isClosed } from './mirror/presence/presence.ts';
import { isMarked, sign, unsigned } from './mirror/presence/signature.ts';
import { MIRROR_TIMES } from './mirror/shared.ts';
import type { MirrorTimes } from './mirror/shared.ts';
import { keepMirrors } from './mirrors.ts';
import { previewJoin } from './preview.ts';
import type { Preview } from './preview.ts';
import { openSeats } from './seats.ts';
import type { Seats } from './seats.ts';
import { openSight } from './sight.ts';
import type { Sight } from './sight.ts';
import type { NativeTeam } from './snapshot.ts';

/** What the bridge needs from its process. */
export interface BridgeOptions {
  readonly ledger: Ledger;
  /** Identifies our entries in native files; another daemon has another state directory. */
  readonly home: string;
  /** Claude Code's own directory. */
  readonly root: string;
  /** Where cleaned-up directories are moved to. */
  readonly trash: string;
  /** Completes a task as its holder would, including its gates. */
  readonly complete?: (teamId: string, taskId: string, memberId: string) => Promise<void>;
  /** An empty journal in memory, in which a join can be rehearsed. */
  readonly scratch?: () => Journal;
  /** `start()` follows. Until then no claim of a task in a joined team is answered. */
  readonly starts?: boolean;
  /** Tests set shorter times. */
  readonly times?: MirrorTimes;
  readonly onError: (error: unknown) => void;
}

/** A joined team. */
export interface Joined {
  readonly teamId: string;
  readonly native: string;
  /** What people should know: refusals, overwrites, messages that the native lead won't read. */
  readonly notices: readonly string[];
}

/** Shows, joins and cleans up Claude Code's own teams. Reads no file before the first call or the first joined team. */
export interface Bridge {
  readonly root: string;
  /** The native teams as they are now. The first call starts watching. */
  sight(): Sight;
  /** Teams that may be left over, with the evidence. */
  leftovers(quiet?: number): Leftover[];
  /** Moves the leftovers of these teams to the trash and returns where. */
  clean(names: readonly string[], quiet?: number): { name: string; folder: string }[];
  /** What a join would change, on both sides. Changes nothing. */
  preview(name: string, options?: { as?: string | undefined }): Promise<Preview>;
  /** Creates a team synchronized with a native one, both ways. With `seats` it lives only as long as the native one. */
  join(name: string, options?: { as?: string | undefined; seats?: boolean }): Promise<Joined>;
  /** Stops the synchronization: our members leave the native team, and the team here stays. */
  leave(teamId: string): Promise<Joined>;
  /** The teams that are synchronized with native ones. */
  joined(): Joined[];
  /** Resolves when a comparison of both sides that starts now is complete. */
  settled(teamId: string): Promise<void>;
  readonly claims: ClaimKeeper;
  /** Our members that sit in native teams, in panes that the native leads opened. */
  readonly seats: Seats;
  /** Resumes the teams that were joined before. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the bridge. */
export function openBridge(options: BridgeOptions): Bridge {
  const { root, trash, onError, ledger, home, complete, times = MIRROR_TIMES } = options;
  const id = createHash('sha256').update(home).digest('hex').slice(0, 16);
  const signature = { home: id, ...identify(process.pid), path: home };
  let sight: Sight | undefined;
  /** Settles when mirrors of closed teams have left their native teams. */
  let leaving: Promise<unknown> = Promise.resolve();
  const open = (): Sight => (sight ??= openSight(root, { onError }));
  const hosted =
    complete && keepHosted({ ledger, home, root, trash, sight: open, signature, times, complete, onError });
  const leftovers = (quiet?: number): Leftover[] =>
    findLeftovers(open().list(), { now: Date.now(), root, ...(quiet !== undefined && { quiet }) });
  const openOne = async (teamId: string, native: string): Promise<Mirror> => {
    const onOver = (): void => {
      const over = mirrors.get(teamId);
      mirrors.delete(teamId);
      leaving = Promise.all([leaving, over?.close({ withdraw: true }).catch(onError)]);
    };
    return openMirror({ ledger, sight: open(), root, teamId, native, signature, trash, times, onError, onOver });
  };
  const kept = keepMirrors({ ledger, openOne, hosted, starts: options.starts === true });
  const { open: mirrors, begin } = kept;
  const leaveTheForsaken = (joined: ReadonlySet<string>): void => {
    const left = findForsaken(root, signature, joined).map((paths) => leaveForsaken(root, paths, signature));
    leaving = Promise.all([leaving, ...left.map((one) => one.catch(onError))]);
  };
  const isStillMarked = (native: string): boolean => {
    const found = configOf(readNow(nativePaths(root, native).config));
    return found.kind === 'read' && isMarked(found.config, signature);
  };
  const describe = ({ teamId, native, reports }: Mirror): Joined => {
    const team = open().team(native);
    const notices = team ? noticesOf(team, teamId) : [];
    return { teamId, native, notices: [...notices, ...reports] };
  };
  /** A native team that Troupe does not lead itself. */
  const find = (name: string): NativeTeam => {
    const team = open()
      .list()
      .find((one) => one.name === name || one.title === name);
    if (!team) {
      throw new TeamError(
        'not_found',
        `There is no native team ${quote(name)} in ${root}: "troupe teams --native" lists them`,
      );
    }
    const led = hosted?.teamOf(team.name);
    if (led === undefined) return team;
    throw new TeamError('conflict', `The native team ${quote(name)} is led by Troupe: it is team ${quote(led)}`);
  };
  const bridge: Bridge = {
    root,
    sight: open,
    leftovers,
    clean(names, quiet) {
      const known = new Map(leftovers(quiet).map((one) => [one.name, one]));
      const wanted = names.map((name) => {
        const found = known.get(name);
        if (found) return found;
        throw new TeamError('not_found', `There is no native team ${quote(name)} in ${root}: nothing was moved`);
      });
      const led = wanted.find((one) => hosted?.teamOf(one.name) !== undefined);
      if (led) {
        const teamId = hosted?.teamOf(led.name) ?? '';
        throw new TeamError(
          'conflict',
          `The native team ${quote(led.name)} is led by Troupe for its team ${teamId}, so nothing was moved: it is removed with that team`,
        );
      }
      const living = wanted.find(({ dead }) => !dead);
      if (living) {
        throw new TeamError(
          'conflict',
          `The native team ${quote(living.name)} is not a leftover, so nothing was moved: ${living.evidence.join('; ')}`,
        );
      }
      const moved = wanted.map((one) => ({ name: one.name, folder: moveToTrash(root, one, trash) }));
      open().list();
      return moved;
    },
    async preview(name, { as } = {}) {
      const { scratch } = options;
      if (!scratch) throw new TeamError('unsupported', 'Only a daemon can show what a join would change');
      const team = find(name);
      const present = [...mirrors.values()].find(({ native }) => native === team.name);
      if (present) {
        throw new TeamError('conflict', `Team ${quote(present.teamId)} has joined the native team ${quote(name)}`);
      }
      requireJoinable(team);
      return previewJoin({
        ledger,
        root,
        native: team.name,
        teamId: nameFor(team, as),
        journal: scratch(),
        open: (copy) => openBridge({ ...copy, home, times, onError }),
      });
    },
    async join(name, { as, seats = false } = {}) {
      const team = find(name);
      const joinedBy = (): Mirror | undefined => [...mirrors.values()].find(({ native }) => native === team.name);
      const known = joinedBy();
      if (known && (await ledger.view(known.teamId, isClosed))) await known.settled();
      await leaving;
      const present = joinedBy();
      if (present?.standsBack !== undefined) throw new TeamError('conflict', present.standsBack);
      if (present) return describe(present);
      requireJoinable(team);
      const wanted = nameFor(team, as);
      const teamId = seats ? await freeName(ledger, wanted, team) : wanted;
      const paths = nativePaths(root, team.name);
      await sign(paths, signature);
      try {
        await prepareTeam(ledger, teamId, team, seats);
      } catch (error) {
        await changeConfig(paths, (config) => unsigned(config, signature)).catch(onError);
        throw error;
      }
      const mirror = await begin(teamId, team.name);
      await mirror.settled();
      return describe(mirror);
    },
    async leave(teamId) {
      const mirror = mirrors.get(teamId);
      if (!mirror) throw new TeamError('not_found', `Team ${quote(teamId)} is not joined to a native team`);
      mirrors.delete(teamId);
      await mirror.settled();
      // Taken before the mirror closes: the files show no later change of a task.
      const leftAt = new Date().toISOString();
      await mirror.close({ withdraw: true });
      const former = mirror.isReplaced ? undefined : await ledger.view(teamId, (state) => markOf(state));
      const metadata = { native: null, formerNative: former ? { ...former, leftAt } : null };
      await ledger.execute(teamId, { type: 'team.update', by: USER, metadata }, () => undefined);
      return { teamId, native: mirror.native, notices: [...mirror.reports] };
    },
    joined: () => [...mirrors.values()].map(describe),
    async settled(teamId) {
      await mirrors.get(teamId)?.settled();
      await hosted?.settled(teamId);
    },
    claims: kept.claims,
    async start() {
      const found = await ledger.viewAll(
        (state) => ({
          teamId: state.teamId,
          native: nativeNameOf(state),
          isOver: isClosed(state),
        }),
        // Other code reports an unreadable team; here it counts as joined to nothing.
        { unreadable: () => undefined },
      );
      const joined = found.filter((one) => one !== undefined);
      const lasting = new Set(joined.flatMap(({ native, isOver }) => (isOver ? [] : native)));
      for (const { teamId, native, isOver } of joined) {
        // A fault in one native team must not prevent the daemon from starting.
        if (native === undefined) continue;
        // The daemon ended after this team was closed but before its members left; they leave now.
        if (isOver && (lasting.has(native) || !isStillMarked(native))) continue;
        await begin(teamId, native).catch(onError);
        await bridge.seats.recover(teamId);
      }
      // An unreadable team may be joined to any native team.
      if (joined.length === found.length) leaveTheForsaken(new Set(joined.flatMap(({ native }) => native ?? [])));
      await hosted?.start();
      kept.started();
    },
    seats: openSeats({
      ledger,
      sight: open,
      root,
      join: async (name) => (await bridge.join(name, { seats: true })).teamId,
      onError,
    }),
    async close() {
      bridge.seats.close();
      await hosted?.close();
      await leaving;
      for (const mirror of mirrors.values()) await mirror.close();
      mirrors.clear();
      sight?.close();
    },
  };
  return bridge;
}

function requireJoinable(team: NativeTeam): void {
  const why = whyNotJoin(team);
  if (why === undefined) return;
  throw new TeamError('conflict', `The native team ${quote(team.name)} cannot be joined: ${why}`);
}

/** The name of the team here: the native one, if nobody chose another. */
function nameFor({ name }: NativeTeam, as: string | undefined): string {
  return parse(Slug, as ?? (isSlug(name) ? name : suggestSlug(name)));
}

/** Why messages to the native lead wait. */
function noticesOf(team: NativeTeam, teamId: string): string[] {
  const ended = leadEnded(team);
  if (ended !== undefined) return [`${team.name}: ${ended}, or leave it with "troupe native leave ${teamId}"`];
  if (leadReads(team)) return [];
  return [`${leadOf(team)} reads its inbox only while it has a teammate that it started itself, and it has none`];
}
