import { z } from 'zod';

const WEEK_MS = 7 * 24 * 3_600_000;
const Limit = z.number().int().min(1_000).max(WEEK_MS);

/** How long nothing may be heard of a running turn, in milliseconds. A person says it, for each agent. */
export const SilenceLimits = z.strictObject({
  /** While no tool runs: the model should answer. */
  model: Limit.optional(),
  /** While a tool runs. */
  tool: Limit.optional(),
  /** The same for single tools, by their names. */
  tools: z.record(z.string().min(1).max(200), Limit).optional(),
  /** The process that runs the agent and speaks for the member, at any time. */
  process: Limit.optional(),
});
export type SilenceLimits = z.output<typeof SilenceLimits>;

/** The limits of an agent that names none. */
export const SILENCE = { model: 15 * 60_000, tool: 60 * 60_000, process: 15 * 60_000 } as const;

/** How often the process of a member gives a sign of life, in milliseconds. */
export function pulseEvery(limits: SilenceLimits | 'off' = {}): number {
  const { process: limit = SILENCE.process } = limits === 'off' ? {} : limits;
  return Math.min(10_000, Math.max(100, limit / 10));
}

/** What is due about a process without a sign of life: people are told early, and it is replaced in the end. */
export function processStep(
  quietMs: number,
  { process: wanted = SILENCE.process }: SilenceLimits = {},
  everyMs: number,
): { readonly step: 'none' | 'tell' | 'restart'; readonly limit: number } {
  // It may have begun with another agent, whose limit was longer.
  const limit = Math.max(wanted, 10 * everyMs);
  return { step: quietMs >= limit ? 'restart' : quietMs >= limit / 5 ? 'tell' : 'none', limit };
}

/**
 * What is known of a running turn. Time is added as it passes (`passTime`), so a machine that slept is no silence.
 * While a person, an account or the team is waited for, it stands still.
 */
export interface TurnClock {
  /** Since the last event. */
  readonly quietMs: number;
  /** The tools that run, with their time. */
  readonly tools: ReadonlyMap<string, { readonly name: string; readonly ms: number }>;
  /** Questions of the agent that nobody has answered yet. */
  readonly asked: number;
  /** How long the agent still waits, as it says, such as for an overloaded model. Milliseconds. */
  readonly waitMs: number;
}

/** The clock of a turn that begins. */
export const NEW_TURN: TurnClock = { quietMs: 0, tools: new Map(), asked: 0, waitMs: 0 };

/** What of a turn moves its clock. */
export type Heard =
  | { readonly type: 'tool'; readonly id: string; readonly name: string; readonly isRunning: boolean }
  /** It waits for so long. Without a time it is a sign of life: a model may never answer the next try either. */
  | { readonly type: 'waiting'; readonly ms?: number | undefined }
  /** A sign of life; of what a tool runs, such as a subagent, with the id of the tool. */
  | { readonly type: 'sign'; readonly toolId?: string | undefined }
  | { readonly type: 'asked' | 'answered' };

/** The clock after an event. */
export function hearEvent(clock: TurnClock, heard: Heard): TurnClock {
  const next = { ...clock, quietMs: 0, waitMs: heard.type === 'waiting' ? Math.max(0, heard.ms ?? 0) : 0 };
  if (heard.type === 'asked') return { ...next, asked: clock.asked + 1 };
  if (heard.type === 'answered') return { ...next, asked: Math.max(0, clock.asked - 1) };
  const tools = new Map(clock.tools);
  if (heard.type === 'sign') {
    const { toolId = '' } = heard;
    const tool = tools.get(toolId);
    return tool ? { ...next, tools: tools.set(toolId, { ...tool, ms: 0 }) } : next;
  }
  if (heard.type !== 'tool') return next;
  // Repeated news of a running tool are no progress: some agents send them by a timer.
  if (!heard.isRunning) tools.delete(heard.id);
  else if (!tools.has(heard.id)) tools.set(heard.id, { name: heard.name, ms: 0 });
  return { ...next, tools };
}

/** The clock after some time. `isOurs` says which tools wait for the team, such as for its gates. */
export function passTime(clock: TurnClock, ms: number, isOurs: (tool: string) => boolean): TurnClock {
  const { tools, asked, quietMs } = clock;
  const waitMs = Math.max(0, clock.waitMs - ms);
  if (asked > 0 || [...tools.values()].some(({ name }) => isOurs(name))) return { ...clock, waitMs };
  const passed = ms - (clock.waitMs - waitMs);
  if (tools.size === 0) return { ...clock, waitMs, quietMs: quietMs + passed };
  const running = [...tools].map(([id, tool]) => [id, { ...tool, ms: tool.ms + passed }] as const);
  return { ...clock, waitMs, tools: new Map(running) };
}

/** The clock as if all that it knows of had begun just now: what passed was the time of a person. */
export function forgetTime(clock: TurnClock): TurnClock {
  return { ...clock, quietMs: 0, tools: new Map([...clock.tools].map(([id, tool]) => [id, { ...tool, ms: 0 }])) };
}

/** A silence that is longer than its limit. */
export interface Silence {
  /** The tool that runs; undefined if the model is waited for. */
  readonly tool: string | undefined;
  readonly ms: number;
  readonly limit: number;
}

/** The silence of a turn, if it is too long. A program without tools (`isProgram`) counts as one tool that runs. */
export function tooSilent(
  { quietMs, tools }: TurnClock,
  limits: SilenceLimits,
  { isProgram }: { readonly isProgram: boolean },
): Silence | undefined {
  const { model = SILENCE.model, tool = SILENCE.tool, tools: named = {} } = limits;
  const found: Silence[] = [...tools.values()].map(({ name, ms }) => ({
    tool: name,
    ms,
    limit: (Object.hasOwn(named, name) ? named[name] : undefined) ?? tool,
  }));
  if (tools.size === 0) found.push({ tool: undefined, ms: quietMs, limit: isProgram ? tool : model });
  return found.filter(({ ms, limit }) => ms >= limit).toSorted((a, b) => b.ms - b.limit - (a.ms - a.limit))[0];
}

/** What is done about a silence, in this order. */
export type SilenceStep = 'tell' | 'nudge' | 'interrupt' | 'ask';

/** The step that is due, with a pause of a fifth of the limit between two. A turn is interrupted once. */
export function stepFor({ ms, limit }: Pick<Silence, 'ms' | 'limit'>, wasInterrupted: boolean): SilenceStep {
  const pauses = Math.floor((5 * (ms - limit)) / limit);
  if (pauses < 1) return 'tell';
  if (pauses < 2) return 'nudge';
  return wasInterrupted ? 'ask' : 'interrupt';
}

/** What the machine shows about a silent turn. */
export interface Evidence {
  /** The processes of the agent, without the process that runs it. */
  readonly processes: number;
  /** Processor time that they used since the last look, in milliseconds; undefined if unknown. */
  readonly cpuMs: number | undefined;
  /** Whether files in its own workspace changed since; undefined if it has none. */
  readonly hasChanged: boolean | undefined;
}

/** A tool that uses a processor or changes files works. A waiting agent may use a little, too. */
export function showsLife({ cpuMs = 0, hasChanged = false }: Evidence, { tool, limit }: Silence): boolean {
  return tool !== undefined && (hasChanged || cpuMs > limit / 50);
}
