import type { InstalledAgent } from '../agents/installed.ts';
import type { ModelReply, ModelRequest, Pace } from '../models/script.ts';

/** Draws numbers from 0 to 1. */
type Random = () => number;
type Call = NonNullable<ModelReply['calls']>[number];

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** How each agent is asked to run a command that may take long. */
const SHELLS: Readonly<Record<InstalledAgent, (command: string) => Call>> = {
  claude: (command) => ({ name: 'Bash', input: { command, description: 'a command', timeout: 60 * MINUTE } }),
  codex: (cmd) => ({ name: 'exec_command', input: { cmd, yield_time_ms: 30 * SECOND } }),
  gemini: (command) => ({ name: 'run_shell_command', input: { command, description: 'a command' } }),
  opencode: (command) => ({ name: 'bash', input: { command, description: 'a command', timeout: 60 * MINUTE } }),
};

/** How each starts a subagent. */
const SUBAGENTS: Readonly<Record<InstalledAgent, (prompt: string, tools: readonly string[]) => Call>> = {
  claude: (prompt, tools) => ({
    name: tools.find((name) => name === 'Agent' || name === 'Task') ?? 'Task',
    input: { description: 'look around', prompt, subagent_type: 'general-purpose' },
  }),
  codex: (message) => ({ name: 'multi_agent_v1.spawn_agent', input: { message } }),
  gemini: (prompt) => ({ name: 'invoke_agent', input: { agent_name: 'generalist', prompt } }),
  opencode: (prompt) => ({ name: 'task', input: { description: 'look around', prompt, subagent_type: 'general' } }),
};

/** What begins the text for a subagent: its requests come to the same model. */
const FOR_SUBAGENT = 'Part';

/** A model that does long work as real ones do: with thoughts, slow words, commands of all lengths and errors. */
export interface PlayedModel {
  answer(request: ModelRequest): ModelReply;
  /** A turn begins, with so many model calls. */
  begin(calls: number): void;
}

/** What it does is drawn at random. */
export function newPlayedModel(agent: InstalledAgent, random: Random): PlayedModel {
  let left = 0;
  let refusals = 0;
  /** Calls left of each subagent, by its text. */
  const parts = new Map<string, number>();
  const between = (least: number, most: number): number => least + random() * (most - least);
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;

  return {
    begin(calls) {
      left = calls;
    },
    answer(request) {
      if (random() < 0.04 && refusals < 2) {
        refusals++;
        return refusal();
      }
      refusals = 0;
      const said = { text: words(), pace: pace(), usage: { input: 20_000, output: 300 } };
      const calls = callsFor(request);
      return calls.length > 0 ? { ...said, calls } : said;
    },
  };

  function callsFor(request: ModelRequest): Call[] {
    const part = request.turns.find(({ role, text }) => role === 'user' && text.startsWith(FOR_SUBAGENT))?.text;
    // Codex returns before a long command ends; the model looks again.
    const running = /session ID (\d+)/i.exec(request.turns.at(-1)?.text ?? '')?.[1];
    if (running !== undefined) {
      return [{ name: 'write_stdin', input: { session_id: Number(running), chars: '', yield_time_ms: 5 * MINUTE } }];
    }
    const spawned = /"agent_id":\s*"([^"]+)"/.exec(request.turns.at(-1)?.text ?? '')?.[1];
    if (spawned !== undefined) {
      return [{ name: 'multi_agent_v1.wait_agent', input: { targets: [spawned], timeout_ms: 60 * MINUTE } }];
    }
    if (part !== undefined) {
      const rest = parts.get(part) ?? 2 + Math.floor(random() * 8);
      parts.set(part, rest - 1);
      return rest > 0 ? [shell(between(1, 60) * SECOND)] : [];
    }
    if (left-- <= 0) return [];
    return work(request);
  }

  function work({ tools }: ModelRequest): Call[] {
    const kind = random();
    if (kind < 0.4) return [shell(between(0, 3) * SECOND)];
    if (kind < 0.6) return [shell(between(5, 90) * SECOND)];
    if (kind < 0.68) return [shell(2 * MINUTE * 20 ** random())];
    if (kind < 0.78) return [1, 2, 3].map(() => shell(between(1, 40) * SECOND));
    if (kind < 0.84) return [SUBAGENTS[agent](`${FOR_SUBAGENT} ${random()}: look around`, tools)];
    const names = ['TaskList', 'TaskCreate'].flatMap((end) =>
      tools.filter((name) => ofTeam(name) && name.endsWith(end)),
    );
    const name = names.length === 0 ? undefined : oneOf(names);
    if (name === undefined) return [shell(SECOND)];
    return [{ name, input: name.endsWith('TaskCreate') ? { subject: 'More work', description: 'all of it' } : {} }];
  }

  /** A command without any output, which costs nothing. */
  function shell(ms: number): Call {
    // Without a time it would never end.
    return SHELLS[agent](`timeout ${Math.max(0.1, ms / SECOND).toFixed(1)} tail -f /dev/null; true`);
  }

  function refusal(): ModelReply {
    const [status, retryAfter] = oneOf([
      [429, between(1, 30)],
      [agent === 'claude' || agent === 'opencode' ? 529 : 503, undefined],
      [500, undefined],
    ] as const);
    const message = status === 429 ? 'Too many requests' : 'Overloaded';
    return { error: { status, message, ...(retryAfter !== undefined && { retryAfter: Math.round(retryAfter) }) } };
  }

  function words(): string {
    // Gemini CLI ends a turn whose model repeats itself.
    return Array.from({ length: 3 + Math.floor(random() * 40) }, () => random().toString(36).slice(2, 9)).join(' ');
  }

  function pace(): Pace {
    const kind = random();
    const wordMs = between(20, 400);
    if (kind < 0.65) return { thinkMs: between(0.5, 12) * SECOND, wordMs };
    if (kind < 0.85) return { thinkMs: between(12, 70) * SECOND, wordMs };
    // Without any sign of life, agents ask again after five minutes.
    if (kind < 0.93) return { thinkMs: between(1, 4.5) * MINUTE, wordMs };
    const signMs = between(1, 20) * SECOND;
    if (kind < 0.97) return { thinkMs: between(1, 13) * MINUTE, wordMs, signMs };
    return { thinkMs: between(2, 25) * MINUTE, wordMs, signMs, isHeard: true };
  }

  function ofTeam(tool: string): boolean {
    return tool.includes('troupe');
  }
}
