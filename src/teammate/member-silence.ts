import type { Agent, StartOptions } from '../agents/agent.ts';
import { OWN_AGENTS } from '../agents/catalog.ts';
import type { AgentSpec } from '../core/agent.ts';
import { ANSWER_WITHIN, LINE_LENGTH } from '../core/limits.ts';
import type { Evidence } from '../core/silence.ts';
import { oneLine } from '../core/text.ts';
import { askPerson } from './ask-person.ts';
import type { Bench } from './bench.ts';
import type { Conversation } from './conversation.ts';
import { saveWork } from './open-work.ts';
import { watchTurns } from './silence.ts';
import type { SilenceOptions, TurnWatch } from './silence.ts';
import type { Watch } from './watch.ts';

/** What is known of a member whose turns are watched. */
export interface WatchedMember {
  readonly agent: Agent;
  readonly start: StartOptions;
  /** Aborts to end the member. */
  readonly signal: AbortSignal;
  /** How long nothing may be heard of a turn. */
  readonly silence?: AgentSpec['silence'];
  /** It works in a workspace of its own. */
  readonly worksApart?: boolean;
  /** The processes of its agent, and the processor time that they have used, in milliseconds. */
  readonly processes?: () => { readonly count: number; readonly cpuMs: number };
}

/** The parts of a member's process that take part. */
interface Around extends Pick<Bench, 'door' | 'who' | 'onError'> {
  readonly watch: Watch;
  readonly tell: SilenceOptions['tell'];
  /** Its conversation, once it has one. */
  readonly conversation: () => Conversation;
}

/** Watches the turns of a member for silence, unless its agent is set up without that. */
export function watchSilence(options: WatchedMember, around: Around): TurnWatch | undefined {
  const { agent, silence = {}, start, signal, worksApart = false } = options;
  const { door, who, watch, tell, onError, conversation } = around;
  if (silence === 'off') return undefined;
  const keep = (): Promise<void> => saveWork({ door, who, worksApart, onError }, { inTurn: true });
  return watchTurns({
    limits: silence,
    isProgram: Object.hasOwn(OWN_AGENTS, agent.kind),
    teamTools: start.tools?.name,
    async isAsking() {
      const open = await door.call('request.list', { teamId: who.teamId, kind: 'question', status: 'pending' });
      return open.some(({ memberId }) => memberId === who.memberId);
    },
    look: lookAround(options, { door, who, keep }),
    tell,
    async nudge(text) {
      // It resolves when the turn is over, if it came too late to join it.
      if (agent.abilities.steer) void conversation().steer({ text, messages: [] }).catch(onError);
    },
    keep,
    note: async (reason) =>
      void (await door.call('member.update', { ...who, interrupted: oneLine(reason, LINE_LENGTH) })),
    cancel: () => conversation().cancel(),
    async ask(content, ended) {
      const within = ANSWER_WITHIN.hang;
      const asked = { ...who, kind: 'hang', content } as const;
      return (await askPerson({ door, watch }, asked, { within, signal: AbortSignal.any([ended, signal]) })).allow;
    },
    onError,
  });
}

/** Collects what the machine shows since the last look. */
function lookAround(
  { processes, worksApart = false }: WatchedMember,
  { door, who, keep }: Pick<Around, 'door' | 'who'> & { readonly keep: () => Promise<void> },
): (isFirst: boolean) => Promise<Evidence> {
  let before: { cpuMs: number | undefined; save: string | undefined } = { cpuMs: undefined, save: undefined };
  return async (isFirst) => {
    const found = processes?.();
    const now = { cpuMs: found?.cpuMs, save: worksApart ? await lastSave() : undefined };
    const cpuMs = now.cpuMs === undefined || before.cpuMs === undefined ? undefined : now.cpuMs - before.cpuMs;
    const hasChanged = worksApart ? now.save !== before.save : undefined;
    before = now;
    // Processes that ended meanwhile take their time along.
    return isFirst
      ? { processes: found?.count ?? 0, cpuMs: undefined, hasChanged: undefined }
      : { processes: found?.count ?? 0, cpuMs: cpuMs === undefined ? undefined : Math.max(0, cpuMs), hasChanged };
  };

  async function lastSave(): Promise<string | undefined> {
    await keep();
    return (await door.call('work.show', who)).members?.[0]?.save;
  }
}
