import { closeSync, constants, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import type { Redactor } from './redact.ts';

/** How much is logged; each level includes those before it. */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Facts about an event: ids, counts, codes. Never the text of a message, a task or a result. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Logs what happens in the daemon, one JSON object per line. Never throws: a log must not stop the daemon. */
export interface Log extends Record<LogLevel, (event: string, fields?: LogFields) => void> {
  close(): void;
}

/** The log's file, level and limits. */
export interface LogOptions {
  readonly path: string;
  readonly level: LogLevel;
  readonly redactor: Redactor;
  /** Size at which the file becomes `.1`, the previous one `.2`, and so on. */
  readonly maxBytes?: number;
  /** The largest number of files, including the current one. */
  readonly files?: number;
}

const MAX_BYTES = 5 * 1024 * 1024;
const FILES = 3;
/** A longer line is cut: content does not belong into a log. */
const LINE_CHARS = 8 * 1024;
/** How many lines are kept while the disk is full. */
const BACKLOG_LINES = 200;

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;

/** Opens a log in a file that only we may read. */
export function openLog(options: LogOptions): Log {
  const { path, level, redactor, maxBytes = MAX_BYTES, files = FILES } = options;
  let file = open(path);
  let size = fstatSync(file).size;
  let backlog: string[] = [];
  let dropped = 0;
  let isTorn = false;
  let isOpen = true;

  function write(levelOfLine: LogLevel, event: string, fields: LogFields = {}): void {
    if (!isOpen || LOG_LEVELS.indexOf(levelOfLine) > LOG_LEVELS.indexOf(level)) return;
    backlog.push(format(levelOfLine, event, fields));
    flush();
  }

  function format(levelOfLine: LogLevel, event: string, fields: LogFields): string {
    const head = { time: new Date().toISOString(), level: levelOfLine, event };
    const line = redactor.json({ ...head, ...describe(fields) });
    return line.length <= LINE_CHARS ? line : JSON.stringify({ ...head, tooLong: line.length });
  }

  /** Writes the backlog; lines that could not be written stay in it. */
  function flush(): void {
    const lines = dropped > 0 ? [format('warn', 'log.dropped', { lines: dropped }), ...backlog] : backlog;
    const text = Buffer.from(`${isTorn ? '\n' : ''}${lines.join('\n')}\n`);
    try {
      if (size + text.length > maxBytes && size > 0) rotate();
      const written = writeSync(file, text);
      size += written;
      // A full disk may take half a line; it is then written again, on a new line.
      isTorn = written < text.length;
      if (isTorn) return;
      backlog = [];
      dropped = 0;
    } catch {
      dropped += Math.max(0, backlog.length - BACKLOG_LINES);
      backlog = backlog.slice(-BACKLOG_LINES);
    }
  }

  /** Opens the new file first: if that fails, the old ones stay as they are. */
  function rotate(): void {
    const draft = `${path}.new`;
    const next = open(draft);
    for (let number = files - 1; number >= 1; number--) {
      moveIfThere(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`);
    }
    renameSync(draft, path);
    closeSync(file);
    file = next;
    size = 0;
  }

  return {
    error: (event, fields) => write('error', event, fields),
    warn: (event, fields) => write('warn', event, fields),
    info: (event, fields) => write('info', event, fields),
    debug: (event, fields) => write('debug', event, fields),
    close() {
      if (!isOpen) return;
      isOpen = false;
      closeSync(file);
    },
  };
}

function open(path: string): number {
  return openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Turns errors into plain facts. */
function describe(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? describeError(value) : value]),
  );
}

/** The parts of an error that are about the program. Input that a parser could not read is content, and stays out. */
function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name, message, stack, cause } = error;
  const code = (error as { code?: unknown }).code;
  const quotesContent = name === 'SyntaxError' || name.includes('Zod');
  const frames = (stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    name,
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(!quotesContent && { message: message.slice(0, 500) }),
    frames: frames.slice(0, 8).map((line) => line.trim()),
    ...(cause !== undefined && { cause: describeError(cause) }),
  };
}
