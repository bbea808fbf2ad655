import { readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { hasProcess } from '../core/agent-kinds.ts';
import { TeamError } from '../core/errors.ts';
import type { MemberRecord, TeamState } from '../core/state.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { recordDeparture } from './departure.ts';
import { replacePrivateFile } from './private-file.ts';

/** Why members are stopped when their daemon stops in order. */
export const STOPPED = 'the daemon was stopped';

/** A person stopped everything. */
export const Stop = z.object({ at: z.number(), reason: z.string() });
export type Stop = z.output<typeof Stop>;

/**
 * The file that says that a person stopped everything, as long as the journal may not say so of each member. It is
 * written before the first process is ended. The kill switch needs it because it waits for no journal, an orderly stop
 * because it may be killed or lose its journal on the way. The next daemon puts it into the journal before it starts
 * anything, so that only a person brings members back.
 */
export function openStopMark(path: string) {
  return {
    set: (reason: string): void => replacePrivateFile(path, JSON.stringify({ at: Date.now(), reason } satisfies Stop)),
    clear: (): void => rmSync(path, { force: true }),
    /** The stop; undefined if there is none. An unreadable file counts as a stop now: too little running is safer than too much. */
    read(): Stop | undefined {
      try {
        return Stop.parse(JSON.parse(readFileSync(path, 'utf8')));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return code === 'ENOENT' ? undefined : { at: Date.now(), reason: 'stopped by a person' };
      }
    },
  };
}

/** A daemon's members and their journal. */
export interface StoppedHost {
  readonly ledger: Ledger;
  readonly hostId: string;
  /** No other daemon shares the journal, so members that wait for a daemon wait for this one. */
  readonly isAlone: boolean;
  readonly onError: (error: unknown, about: { teamId: string }) => void;
}

/** Error codes that mean that a member is not ours to stop any more. */
const OVER: readonly string[] = ['claim_conflict', 'member_stopped', 'not_found', 'team_closed'];

/**
 * Records a stop of each member that it concerns: its tasks go back, and no daemon starts it again. Members that joined
 * later were brought up by a person since. Returns whether every team could be written.
 */
export async function recordStop(host: StoppedHost, { at, reason }: Stop, teams: Iterable<string>): Promise<boolean> {
  const { ledger, hostId, onError } = host;
  let isComplete = true;
  for (const teamId of teams) {
    try {
      for (const memberId of await ledger.view(teamId, (state) => findStopped(state, host, at))) {
        await recordDeparture(ledger, { teamId, memberId, hostId, reason }).catch(ignoreOver);
      }
    } catch (error) {
      isComplete = false;
      onError(error, { teamId });
    }
  }
  return isComplete;
}

function findStopped(state: TeamState, { hostId, isAlone }: StoppedHost, at: number): string[] {
  if (!state.team || state.team.status === 'cleaned-up') return [];
  const isOurs = (member: MemberRecord): boolean =>
    member.hostId === hostId || (isAlone && member.hostId === undefined);
  return [...state.members.values()]
    .filter(({ agent, status, returning }) => agent && hasProcess(agent) && (status !== 'stopped' || returning))
    .filter((member) => isOurs(member) && member.joinedAt.getTime() <= at)
    .map(({ id }) => id);
}

function ignoreOver(error: unknown): void {
  if (!(error instanceof TeamError) || !OVER.includes(error.code)) throw error;
}
