import type { AgentEvent, Permission } from '../agents/agent.ts';
import { describeSilence } from '../core/silence-words.ts';
import { forgetTime, hearEvent, NEW_TURN, passTime, showsLife, stepFor, tooSilent } from '../core/silence.ts';
import type { Evidence, Silence, SilenceLimits, SilenceStep } from '../core/silence.ts';
import type { TurnGuard } from './interruptions.ts';

/** What watching for silence needs from the member's process. */
export interface SilenceOptions {
  readonly limits: SilenceLimits;
  /** The agent is a program without tools and without a model that we know of. */
  readonly isProgram: boolean;
  /** The name of the team's tools: such a call may wait for gates and people. */
  readonly teamTools: string | undefined;
  /** Whether the member has asked its user something that is still open. */
  readonly isAsking: () => Promise<boolean>;
  /** Looks at the machine; `isFirst` in a silence, it has nothing to compare with. */
  readonly look: (isFirst: boolean) => Promise<Evidence>;
  /** Says what is silent and since when, or (undefined) that it no longer is. */
  readonly tell: (waiting: { readonly reason: string; readonly silentSince: number } | undefined) => Promise<void>;
  /** Adds a text to the running turn, if the agent can be reached in it. */
  readonly nudge: (text: string) => Promise<void>;
  /** Keeps the state of the work. */
  readonly keep: () => Promise<void>;
  /** Writes down that the turn is ended without asking anybody, and why. */
  readonly note: (reason: string) => Promise<void>;
  /** Ends the turn; its session can go on. */
  readonly cancel: () => Promise<void>;
  /** Asks a person whether to end the turn; the signal says that this is no longer the question. */
  readonly ask: (question: string, signal: AbortSignal) => Promise<boolean>;
  readonly onError: (error: unknown) => void;
}

/**
 * Notices turns in which nothing happens any more. Only a turn that was never ended for that is ended without asking a
 * person.
 */
export interface TurnWatch extends TurnGuard {
  hear(event: AgentEvent): void;
  /** The same permission; until it is answered, the clock of the turn stands still. */
  asked(permission: Permission): Permission;
}

/** Looks this often per limit, and never more seldom. */
const LOOKS_PER_LIMIT = 20;
const LONGEST_LOOK_MS = 15_000;

/** A tool that shows life is left alone until so many times its limit; then a person decides. */
const PATIENCE = 4;

/** Watches the turns of one member. */
export function watchTurns(options: SilenceOptions): TurnWatch {
  const { limits, isProgram, teamTools, onError } = options;
  const isOurs = (tool: string): boolean => teamTools !== undefined && tool.includes(teamTools);
  let clock = NEW_TURN;

  return {
    hear(event) {
      if (event.type === 'tool') {
        const { id, name, status } = event;
        clock = hearEvent(clock, { type: 'tool', id, name, isRunning: status === 'running' });
      } else if (event.type === 'waiting') {
        const ms = event.until === undefined ? undefined : event.until - Date.now();
        clock = hearEvent(clock, { type: 'waiting', ms });
      } else if (event.type !== 'permission') {
        clock = hearEvent(clock, { type: 'sign', toolId: event.type === 'alive' ? event.toolId : undefined });
      }
    },
    asked(permission) {
      clock = hearEvent(clock, { type: 'asked' });
      let isOpen = true;
      return {
        ...permission,
        answer(verdict) {
          if (isOpen) clock = hearEvent(clock, { type: 'answered' });
          isOpen = false;
          permission.answer(verdict);
        },
      };
    },
    async during(run, { wasInterrupted }) {
      clock = NEW_TURN;
      const turn = watchOne(wasInterrupted);
      const timer = setInterval(() => turn.look(), turn.everyMs);
      try {
        const end = await run();
        return { end, interrupted: end.reason === 'cancelled' ? turn.endedFor() : undefined };
      } finally {
        clearInterval(timer);
        await turn.close();
      }
    },
  };

  function watchOne(wasInterrupted: boolean) {
    const shortest = Math.min(
      ...[limits.model, limits.tool, ...Object.values(limits.tools ?? {})].map((ms) => ms ?? Infinity),
    );
    const everyMs = Math.min(LONGEST_LOOK_MS, Math.max(50, shortest / LOOKS_PER_LIMIT));
    const over = new AbortController();
    let last = performance.now();
    /** The last step of this silence, and how much longer it may be because it showed life or a person said so. */
    let done: SilenceStep | undefined;
    let grace = 0;
    let reason: string | undefined;
    /** When this silence began, in milliseconds since 1970. */
    let since: number | undefined;
    let endedFor: string | undefined;
    let acting: Promise<void> | undefined;

    return { everyMs, look, endedFor: () => endedFor, close };

    function look(): void {
      const now = performance.now();
      // A machine that slept, or a process that got no processor, heard nothing either.
      clock = passTime(clock, Math.min(now - last, 2 * everyMs), isOurs);
      last = now;
      acting ??= act()
        .catch(onError)
        .finally(() => (acting = undefined));
    }

    async function act(): Promise<void> {
      const silence = tooSilent(clock, limits, { isProgram });
      if (!silence) return recover();
      // A program, or one that the agent runs, may have asked with `troupe ask` and wait for the answer.
      if ((isProgram || silence.tool !== undefined) && (await options.isAsking())) {
        clock = forgetTime(clock);
        return recover();
      }
      const step = stepFor({ ...silence, ms: silence.ms - grace }, wasInterrupted);
      if (step === done) return;
      const evidence = await options.look(reason === undefined);
      if (over.signal.aborted || !tooSilent(clock, limits, { isProgram })) return;
      reason = describeSilence(silence, evidence);
      since ??= Date.now() - Math.round(silence.ms);
      await options.tell({ reason, silentSince: since });
      const isAlive = showsLife(evidence, silence);
      if (isAlive && step !== 'tell' && silence.ms < PATIENCE * silence.limit) {
        grace += silence.limit / 5;
        return;
      }
      done = step;
      await take(isAlive && step === 'interrupt' ? 'ask' : step, silence);
    }

    async function take(step: SilenceStep, { limit }: Silence): Promise<void> {
      if (step === 'nudge') await options.nudge(`Troupe: ${reason}. Go on, or end your turn and say what keeps you.`);
      if (step === 'interrupt') await end(options.note);
      if (step !== 'ask') return;
      await options.keep();
      const question = `${reason}. Yes ends this turn; it is then done again. No lets it go on.`;
      if (await options.ask(question, over.signal)) return end();
      grace += limit;
      done = 'tell';
    }

    async function end(note?: SilenceOptions['note']): Promise<void> {
      await options.keep();
      if (over.signal.aborted) return;
      endedFor = reason;
      void note?.(reason ?? '').catch(onError);
      await options.cancel();
    }

    async function recover(): Promise<void> {
      if (reason === undefined) return;
      [reason, since, done, grace] = [undefined, undefined, undefined, 0];
      await options.tell(undefined);
    }

    async function close(): Promise<void> {
      over.abort();
      await acting;
      await recover().catch(onError);
    }
  }
}
