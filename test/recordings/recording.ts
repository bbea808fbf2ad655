import type { AgentEvent } from '../../src/agents/agent.ts';

/*
 * A recording has what the clocks of a turn depend on, and no content. A line is a turn. Its words are what happened, each
 * with the seconds since the word before it:
 *
 *   b                  the turn begins           r3:Bash   tool 3 runs
 *   t u s l c h        text, usage, spending,    d3        tool 3 is done, or has failed
 *                      limits, compacted, shown  w40 w     it waits, 40 seconds or without a known end
 *   v v3               alive, of tool 3          p a       a permission is asked for, and answered
 *   e:done             the turn ends             x         the recording ends in mid-turn
 *
 * Signs of life within five seconds of another word are left out. So a recording is never less silent than the turn was.
 */

/** What happened in a turn, with its time in milliseconds since the begin of the turn. */
export type Happened =
  | { readonly at: number; readonly event: AgentEvent }
  | { readonly at: number; readonly asked: boolean }
  | { readonly at: number; readonly ends: string };

/** A recorded turn, and by which agent. */
export interface RecordedTurn {
  readonly agent: string;
  readonly ms: number;
  readonly happened: readonly Happened[];
}

const SIGNS = {
  text: 't',
  usage: 'u',
  spending: 's',
  limits: 'l',
  compacted: 'c',
  shown: 'h',
} as const satisfies Partial<Record<AgentEvent['type'], string>>;

const NEAR_MS = 5_000;

/** Writes the turns of one session as lines. */
export interface Recorder {
  begin(): void;
  hear(event: AgentEvent): void;
  answered(): void;
  /** The recording ends, maybe in mid-turn. */
  stop(): void;
  /** The session is gone: what was not ended is no turn. */
  drop(): void;
}

/** Writes each line when its turn is over. */
export function newRecorder(write: (line: string) => void, now: () => number = () => performance.now()): Recorder {
  let words: string[] | undefined;
  let last = 0;
  const tools = new Map<string, number>();
  const running = new Set<string>();
  const add = (code: string, isSign = false): void => {
    if (!words || (isSign && now() - last < NEAR_MS)) return;
    // What was rounded off is not lost: it belongs to the next pause.
    const pause = Math.round((now() - last) / 100) / 10;
    words.push(`${pause}${code}`);
    last += pause * 1_000;
  };
  const end = (code: string): void => {
    add(code);
    if (words) write(words.join(' '));
    words = undefined;
  };
  const numberOf = (id: string): number => {
    const number = tools.get(id) ?? tools.size + 1;
    tools.set(id, number);
    return number;
  };
  return {
    begin() {
      words = ['0b'];
      last = now();
      tools.clear();
      running.clear();
    },
    hear(event) {
      if (event.type === 'turnEnd') end(`e:${event.trouble ?? event.reason}`);
      else if (event.type === 'tool') {
        const isRunning = event.status === 'running';
        const name = event.name.replaceAll(/[^\w-]/g, '').slice(0, 40);
        if (isRunning) add(`r${numberOf(event.id)}:${name}`, running.has(event.id));
        else add(`d${numberOf(event.id)}`);
        if (isRunning) running.add(event.id);
        else running.delete(event.id);
      } else if (event.type === 'waiting') {
        add(event.until === undefined ? 'w' : `w${Math.max(0, Math.round((event.until - Date.now()) / 1_000))}`);
      } else if (event.type === 'alive') {
        add(event.toolId === undefined ? 'v' : `v${numberOf(event.toolId)}`, true);
      } else if (event.type === 'permission') add('p');
      else add(SIGNS[event.type], true);
    },
    answered: () => add('a'),
    stop: () => end('x'),
    drop() {
      words = undefined;
    },
  };
}

const WORD = /^([\d.]+)([a-z])(\d+)?(?::([\w-]*))?$/;

/** Reads a line. The events have just what the clocks look at. */
export function readTurn(agent: string, line: string): RecordedTurn {
  let at = 0;
  const names = new Map<string, string>();
  const happened = line.split(' ').flatMap((word): Happened[] => {
    const [, pause, code, number, name] = WORD.exec(word) ?? [];
    if (pause === undefined || code === undefined) throw new Error(`This is no word of a recording: ${word}`);
    at += Math.round(Number(pause) * 1_000);
    if (code === 'b') return [];
    if (code === 'p' || code === 'a') return [{ at, asked: code === 'p' }];
    if (code === 'e' || code === 'x') return [{ at, ends: name ?? 'stopped' }];
    const event = eventOf(code, number, at, name ?? names.get(number ?? '') ?? 'tool');
    if (number !== undefined && name !== undefined) names.set(number, name);
    return [{ at, event }];
  });
  return { agent, ms: at, happened };
}

function eventOf(code: string, number: string | undefined, at: number, name: string): AgentEvent {
  const id = `t${number}`;
  if (code === 'r' || code === 'd') return { type: 'tool', id, name, status: code === 'r' ? 'running' : 'done' };
  if (code === 'v') return { type: 'alive', ...(number !== undefined && { toolId: id }) };
  // The time is that of the recording; who replays it adds when the turn began.
  if (code === 'w') return { type: 'waiting', reason: '', ...(number && { until: at + Number(number) * 1_000 }) };
  return { type: 'text', text: '' };
}
