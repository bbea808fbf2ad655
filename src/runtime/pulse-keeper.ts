import { readFileSync, statSync, utimesSync } from 'node:fs';
import { SYSTEM } from '../core/actor.ts';
import { showAmount } from '../core/budget-words.ts';
import { processStep } from '../core/silence.ts';
import type { TeamState } from '../core/state.ts';
import { silentSince, STANDS_STILL } from '../core/waiting.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { MemberProcess } from './process-records.ts';
import { pulseFile } from './pulse-file.ts';

/** What looking after the pulses of members needs. */
export interface PulseOptions {
  readonly ledger: Ledger;
  readonly processes: {
    list(): readonly MemberProcess[];
    /** Kills a member's process; that counts as a crash, for this reason. */
    fail(teamId: string, memberId: string, why: string): Promise<void>;
  };
  /** Where the pulses are. */
  readonly folder: string;
  readonly onError: (error: unknown, about: { teamId: string; memberId: string }) => void;
}

/** Notices processes of members that stand still, for example because they were stopped by a signal. */
export interface Pulses {
  start(): void;
  close(): void;
}

/** What is known about the pulse of a process. */
interface Pulse {
  /** When it last beat, as its file says. */
  readonly beat: number;
  /** How long it has not beaten since, and when that was last looked at. */
  readonly quietMs: number;
  readonly at: number;
  /** It was told that it is silent: since when, and what the member waited for before. */
  readonly told?: { readonly since: number; readonly before: unknown } | undefined;
}

/** Looks this often, and more often for members with a shorter limit. */
const LOOK_MS = 15_000;
const LOOKS_PER_LIMIT = 10;

/** Looks at the pulses of all processes of this daemon. */
export function keepPulses({ ledger, processes, folder, onError }: PulseOptions): Pulses {
  const pulses = new Map<string, Pulse>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function look(): Promise<void> {
    const all = processes.list();
    const ids = new Set(all.map(({ id }) => id));
    for (const id of pulses.keys()) if (!ids.has(id)) pulses.delete(id);
    let next = LOOK_MS;
    for (const process of all) {
      try {
        next = Math.min(next, await lookAt(process));
      } catch (error) {
        onError(error, process);
      }
    }
    if (!isClosed) timer = setTimeout(() => void look(), next);
  }

  /** Returns when to look again. */
  async function lookAt({ id, teamId, memberId }: MemberProcess): Promise<number> {
    const found = readPulse(pulseFile(folder, id));
    const silence = found && (await ledger.view(teamId, (state) => state.members.get(memberId)?.agent?.silence));
    if (!found || silence === 'off') {
      pulses.delete(id);
      return LOOK_MS;
    }
    const now = performance.now();
    const before = pulses.get(id);
    const isBeating = before?.beat !== found.beat;
    // A daemon that got no processor, or a machine that slept, proves nothing: so a look counts for little time.
    const passed = isBeating ? 0 : Math.min(now - before.at, 2 * LOOK_MS);
    const pulse = { beat: found.beat, at: now, quietMs: isBeating ? 0 : before.quietMs + passed, told: before?.told };
    pulses.set(id, pulse);
    const { step, limit } = processStep(pulse.quietMs, silence, found.everyMs);
    if (isBeating && pulse.told) await recover(teamId, memberId, id, pulse);
    else if (step !== 'none' && !pulse.told) await tell(teamId, memberId, id, pulse);
    if (step === 'restart' && canBeat(id)) {
      const span = showAmount('minutes', pulse.quietMs / 60_000);
      await processes.fail(teamId, memberId, `its process gave no sign of life for ${span}`);
    }
    return Math.max(100, Math.min(LOOK_MS, limit / LOOKS_PER_LIMIT));
  }

  async function tell(teamId: string, memberId: string, id: string, pulse: Pulse): Promise<void> {
    const since = Date.now() - Math.round(pulse.quietMs);
    const waiting = { reason: STANDS_STILL, silentSince: since };
    const before = await ledger.view(teamId, (state) => waitingNow(state, memberId));
    pulses.set(id, { ...pulse, told: { since, before } });
    await change(teamId, memberId, waiting);
  }

  async function recover(teamId: string, memberId: string, id: string, pulse: Pulse): Promise<void> {
    pulses.set(id, { ...pulse, told: undefined });
    const isOurs = await ledger.view(teamId, ({ members }) => {
      const member = members.get(memberId);
      return member !== undefined && silentSince(member) === pulse.told?.since;
    });
    if (isOurs) await change(teamId, memberId, pulse.told?.before ?? null);
  }

  async function change(teamId: string, memberId: string, waiting: unknown): Promise<void> {
    const command = { type: 'member.change', by: SYSTEM, memberId, metadata: { waiting } } as const;
    await ledger.execute(teamId, command, () => undefined);
  }

  /** If we cannot touch its pulse either, the disk is to blame. */
  function canBeat(id: string): boolean {
    try {
      const now = Date.now() / 1_000;
      utimesSync(pulseFile(folder, id), now, now);
      return true;
    } catch {
      return false;
    }
  }

  return {
    start: () => void look(),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

function waitingNow({ members }: TeamState, memberId: string): unknown {
  return members.get(memberId)?.metadata?.['waiting'] ?? null;
}

/** Undefined for a process that has not begun to beat. */
function readPulse(file: string): { beat: number; everyMs: number } | undefined {
  try {
    const everyMs = Number(readFileSync(file, 'utf8'));
    return everyMs > 0 ? { beat: statSync(file).mtimeMs, everyMs } : undefined;
  } catch {
    return undefined;
  }
}
