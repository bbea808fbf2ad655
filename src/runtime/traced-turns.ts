import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attributes, Span, SpanContext } from '@opentelemetry/api';
import { findAgent } from '../agents/catalog.ts';
import { isSlug } from '../core/fields.ts';

/** Starts a span. Times are milliseconds since 1970. */
export type StartSpan = (
  name: string,
  how: { readonly parent?: SpanContext | undefined; readonly at?: number; readonly attributes: Attributes },
) => TeamSpan;

/** A span that is open. */
export interface TeamSpan extends Pick<Span, 'setAttributes'> {
  readonly context: SpanContext;
  end(how?: { readonly at?: number | undefined; readonly failure?: string | undefined }): void;
}

/** Makes spans of the turns and tools in the transcripts of a team's members. */
export interface TurnReader {
  /** This actor did something: its transcript may have more. */
  look(actor: string): void;
  /** Resolves when all that was looked for is read, and every span has ended. */
  close(): Promise<void>;
}

interface Options {
  /** The folder with the transcripts of all teams. */
  readonly folder: string;
  readonly teamId: string;
  readonly startSpan: StartSpan;
  readonly parentOf: (taskId: string | undefined) => SpanContext;
}

/** A transcript file, how far it was read, and the turn that is open in it. */
interface Followed {
  place: number;
  agent: string;
  turn: { span: TeamSpan; input: number; output: number; tools: Map<string, TeamSpan> } | undefined;
}

/** A line of a transcript, as far as spans need it; `teammate/transcript.ts` writes it. */
interface Entry {
  readonly at: number;
  readonly type: string;
  readonly agent?: string;
  readonly taskId?: string;
  readonly id?: string;
  readonly name?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly model?: string;
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number };
}

/** The most that is read at a time. A member that wrote more since the last look loses spans, not work. */
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Turns are not in the journal. A member's process writes them to its transcript before it reports anything, so after
 * each event of a member its new lines are read.
 */
export function readTurns({ folder, teamId, startSpan, parentOf }: Options): TurnReader {
  const began = Date.now();
  const files = new Map<string, Followed>();
  const waiting = new Set<string>();
  let reading: Promise<void> = Promise.resolve();

  async function readMember(memberId: string): Promise<void> {
    waiting.delete(memberId);
    const own = join(folder, teamId, memberId);
    for (const name of await readdir(own).catch(() => [])) {
      const [session, extension] = [name.slice(0, name.lastIndexOf('.')), name.slice(name.lastIndexOf('.'))];
      if (extension === '.jsonl') await readFile(join(own, name), { memberId, session }).catch(() => undefined);
    }
  }

  async function readFile(path: string, who: { memberId: string; session: string }): Promise<void> {
    const followed = files.get(path) ?? { place: 0, agent: '', turn: undefined };
    files.set(path, followed);
    const file = await open(path);
    try {
      const { size } = await file.stat();
      if (size <= followed.place) return;
      const from = Math.max(followed.place, size - MOST_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
      const end = buffer.lastIndexOf(0x0a, bytesRead - 1) + 1;
      followed.place = from + end;
      for (const line of buffer.toString('utf8', 0, end).split('\n')) take(followed, who, parsed(line));
    } finally {
      await file.close();
    }
  }

  function take(followed: Followed, { memberId, session }: { memberId: string; session: string }, entry?: Entry): void {
    if (!entry) return;
    if (entry.type === 'session') followed.agent = entry.agent ?? '';
    // An earlier daemon has sent these.
    if (entry.at < began) return;
    const { turn } = followed;
    if (entry.type === 'turn') {
      endTurn(followed, entry.at);
      const { agent } = followed;
      const span = startSpan(`invoke_agent ${memberId}`, {
        parent: parentOf(entry.taskId),
        at: entry.at,
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.provider.name': findAgent(agent)?.provider ?? agent,
          'gen_ai.agent.name': memberId,
          'gen_ai.agent.id': `${memberId}@${teamId}`,
          'gen_ai.conversation.id': session,
          ...(entry.taskId !== undefined && { 'troupe.task': entry.taskId }),
        },
      });
      followed.turn = { span, input: 0, output: 0, tools: new Map() };
    } else if (entry.type === 'tool' && turn) {
      const { id = '', name = 'tool', status, at } = entry;
      const known = turn.tools.get(id);
      const span =
        known ??
        startSpan(`execute_tool ${name}`, {
          parent: turn.span.context,
          at,
          attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name, 'gen_ai.tool.call.id': id },
        });
      turn.tools.set(id, span);
      if (status === 'running') return;
      span.end({ at, failure: status === 'failed' ? 'failed' : undefined });
      turn.tools.delete(id);
    } else if (entry.type === 'usage' && turn) {
      turn.input += entry.usage?.inputTokens ?? 0;
      turn.output += entry.usage?.outputTokens ?? 0;
      if (entry.model !== undefined) turn.span.setAttributes({ 'gen_ai.response.model': entry.model });
    } else if (entry.type === 'turnEnd') {
      endTurn(followed, entry.at, entry.reason === 'done' ? undefined : entry.reason);
    }
  }

  function endTurn(followed: Followed, at: number | undefined, failure?: string): void {
    const { turn } = followed;
    if (!turn) return;
    followed.turn = undefined;
    for (const tool of turn.tools.values()) tool.end({ at });
    turn.span.setAttributes({ 'gen_ai.usage.input_tokens': turn.input, 'gen_ai.usage.output_tokens': turn.output });
    turn.span.end({ at, failure });
  }

  return {
    look(actor) {
      if (waiting.has(actor) || !isSlug(actor)) return;
      waiting.add(actor);
      reading = reading.then(() => readMember(actor));
    },
    async close() {
      await reading;
      for (const followed of files.values()) endTurn(followed, undefined);
    },
  };
}

function parsed(line: string): Entry | undefined {
  try {
    return line === '' ? undefined : (JSON.parse(line) as Entry);
  } catch {
    // The first line may be cut if there was too much.
    return undefined;
  }
}
