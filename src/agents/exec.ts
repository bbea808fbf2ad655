import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { Usage } from '../core/usage.ts';
import type { Agent, AgentEvent, StartOptions, Turn, TurnEnd } from './agent.ts';
import { OWN_AGENTS } from './catalog.ts';
import { startProcess } from './process.ts';
import type { RunningProcess } from './process.ts';
import { requireProgram } from './program.ts';
import { readLines } from './read-lines.ts';
import { turnByTurn } from './turns.ts';
import type { RunTurn } from './turns.ts';

/** The program to run, and whether messages alone should start it. */
export interface ExecOptions {
  readonly command: readonly [string, ...string[]];
  readonly mail?: boolean;
  /** How long the program may take to end when its turn is cancelled; then it is killed. */
  readonly graceMs?: number | undefined;
}

/** The JSON lines that a program may write; every other line is plain text. */
const Line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('result'), text: z.string() }),
  z.object({
    type: z.literal('tool'),
    id: z.string(),
    name: z.string(),
    status: z.enum(['running', 'done', 'failed']).default('running'),
    input: z.unknown().optional(),
    output: z.string().optional(),
  }),
  z.object({ type: z.literal('usage'), usage: Usage }),
]);

/** A longer line is cut into several: a program that never ends a line must not fill our memory. In characters. */
const LINE_LIMIT = 64 * 1024;

/** How much plain output is kept as the result, and standard error as the reason; the end says most. */
const TAIL_LIMIT = 32 * 1024;

/** How much output of one turn is reported as it comes, in characters. Of more than that, its end is reported too. */
const SHOWN_LIMIT = 4 * 1024 * 1024;

/** How long the pipes of an ended program may stay open before its descendants are killed. */
const CLOSE_MS = 100;

/** How long output is still read after that. */
const DRAIN_MS = 1_000;

/**
 * Any program as an agent: one run per turn. The turn is one JSON object on standard input. Standard output is plain
 * text, or JSON lines with a type. Exit code 0 is success; any other is a failure with standard error as the reason. A
 * program that a signal ended gave no verdict: its session is lost, as that of any agent whose process died.
 */
export function execAgent(options: ExecOptions): Agent {
  return {
    kind: 'exec',
    abilities: { ...OWN_AGENTS.exec, mail: options.mail ?? OWN_AGENTS.exec.mail },
    async start(start) {
      requireProgram(options.command[0], start);
      const id = start.resume ?? crypto.randomUUID();
      const gone = Promise.withResolvers<string>();
      const run: RunTurn = async (turn, emit, signal) => {
        const end = await runProgram(options, { ...start, sessionId: id }, turn, emit, signal);
        if (end.lost) gone.resolve(end.error ?? '');
        return end;
      };
      return turnByTurn(id, run, { gone: gone.promise });
    },
  };
}

type Started = StartOptions & { readonly sessionId: string };

async function runProgram(
  { command, graceMs }: ExecOptions,
  start: Started,
  turn: Turn,
  emit: (event: AgentEvent) => void,
  signal: AbortSignal,
): Promise<TurnEnd> {
  const env = turn.task ? { ...start.env, TROUPE_TASK_ID: turn.task.id } : start.env;
  const program = await launch(command, start, env);
  start.onProcess?.(program.identity.pid);
  const onAbort = (): void => void program.stop(graceMs);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const output = collectOutput(program, emit);
  let isHandedOver = false;
  program.child.stdin?.end(`${JSON.stringify(turnInput(start, turn))}\n`, (error?: Error | null) => {
    isHandedOver = !error;
  });
  const { code, signal: killedBy } = await program.exited;
  // Descendants would go on unseen, and may hold the pipes forever.
  await output.closed(CLOSE_MS);
  await program.stop(0);
  const { text, stderr } = await output.drained();
  signal.removeEventListener('abort', onAbort);
  // The input waits in a pipe until it is read, and a program that failed may not have come to that. Even its exit code
  // can be a shell's report that the real program was killed.
  if (isHandedOver && code === 0 && !signal.aborted) {
    emit({ type: 'shown', messageIds: turn.messages.map((message) => message.id) });
  }
  if (signal.aborted) return { type: 'turnEnd', reason: 'cancelled', text };
  if (code === 0) return { type: 'turnEnd', reason: 'done', text };
  const endedBy = killedBy ?? signalIn(code);
  const how = endedBy ? `was ended by ${endedBy}` : `exited with code ${code}`;
  const error = `${command[0]} ${how}${stderr ? `: ${stderr}` : ''}`;
  return { type: 'turnEnd', reason: 'failed', text, error, ...(endedBy && { lost: true }) };
}

/** The signal in an exit code: a shell reports with 128 and its number that a signal ended its program. */
function signalIn(code: number | null): string | undefined {
  const number = (code ?? 0) - 128;
  return Object.entries(constants.signals).find(([, known]) => known === number)?.[0];
}

async function launch(
  command: ExecOptions['command'],
  start: Started,
  env: Readonly<Record<string, string>>,
): Promise<RunningProcess> {
  try {
    const { cwd, sandbox } = start;
    return await startProcess({ command, cwd, env, sandbox, marker: start.env['TROUPE_PROCESS'] ?? start.sessionId });
  } catch (error) {
    throw new TeamError('invalid', `Cannot run ${command[0]} in ${start.cwd}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function turnInput(start: Started, turn: Turn): object {
  return {
    teamId: start.teamId,
    memberId: start.memberId,
    sessionId: start.sessionId,
    role: start.role,
    task: turn.task ?? null,
    messages: turn.messages,
    feedback: turn.feedback ?? null,
    digest: turn.digest ?? null,
    plan: turn.plan ?? false,
    mode: start.mode,
    prompt: turn.text,
  };
}

interface Output {
  /** Resolves when both pipes are closed, or after this many milliseconds. */
  closed(ms: number): Promise<void>;
  drained(): Promise<{ text: string; stderr: string }>;
}

/** Turns output into events as it comes, and keeps what may become the result. */
function collectOutput(program: RunningProcess, emit: (event: AgentEvent) => void): Output {
  let plain = '';
  let result: string | undefined;
  let stderr = '';
  let shown = 0;
  let unshown = '';
  const onLine = (line: string): void => {
    shown += line.length;
    // Beyond the limit only a result and usage are looked for: parsing a million lines would take seconds.
    const isKept = shown <= SHOWN_LIMIT || line.includes('"result"') || line.includes('"usage"');
    const said = isKept ? parseLine(line) : undefined;
    if (said?.type === 'result') result = said.text;
    else if (said === undefined) plain = keepTail(plain, line);
    if (said?.type === 'result') return;
    if (shown > SHOWN_LIMIT && said?.type !== 'usage') {
      unshown = keepTail(unshown, line);
      return;
    }
    emit((said as AgentEvent) ?? { type: 'text', text: line });
  };
  const { stdout, stderr: errors } = program.child;
  const closed = Promise.all([
    readInPieces(stdout, onLine),
    readInPieces(errors, (line) => {
      stderr = keepTail(stderr, line);
      shown += line.length;
      // Scripts report here what they do.
      if (shown <= SHOWN_LIMIT) emit({ type: 'text', text: line });
      else unshown = keepTail(unshown, line);
    }),
  ]);
  return {
    closed: (ms) => within(closed, ms),
    async drained() {
      await within(closed, DRAIN_MS);
      stdout?.destroy();
      errors?.destroy();
      if (unshown !== '') {
        const end = unshown.slice(-TAIL_LIMIT).trim();
        emit({ type: 'text', text: `[${shown - SHOWN_LIMIT} more characters came; this is their end]\n${end}` });
      }
      return { text: result ?? plain.slice(-TAIL_LIMIT).trim(), stderr: stderr.slice(-TAIL_LIMIT).trim() };
    },
  };
}

/** Adds a line; cuts only at twice the limit, or every line would copy the whole text. */
function keepTail(kept: string, line: string): string {
  const text = `${kept}${line}\n`;
  return text.length > 2 * TAIL_LIMIT ? text.slice(-TAIL_LIMIT) : text;
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  void work.then(() => resolve());
  await promise;
  clearTimeout(timer);
}

function parseLine(line: string): z.output<typeof Line> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const parsed = Line.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

function readInPieces(stream: Readable | null, onLine: (line: string) => void): Promise<void> {
  const cut = (line: string): void => {
    for (let at = 0; at === 0 || at < line.length; at += LINE_LIMIT) onLine(line.slice(at, at + LINE_LIMIT));
  };
  // A line within the limit has at most three bytes per character.
  return readLines(stream, cut, { maxBytes: 3 * LINE_LIMIT, onLong: cut });
}
