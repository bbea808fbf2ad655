import type { ResultOf } from '../../src/operations/index.ts';

/** One entry of a transcript. */
export type Entry = ResultOf<'transcript.read'>['entries'][number];

/** An entry of a log, with its session. */
export type LogEntry = Entry & { readonly session: string };

/** A text whose middle is missing: where, and how to ask for it. */
export interface Gap {
  readonly session: string;
  readonly place: number;
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly chars: number;
}

/** A transcript as readers see it: entries that belong together are one step. */
export type Step = StepFacts & {
  /** The same for the same step, whatever is loaded around it. */
  readonly key?: string;
  readonly gaps?: readonly Gap[];
};

type StepFacts =
  | { readonly kind: 'session'; readonly at: number; readonly sessionId: string; readonly agent: string }
  | {
      readonly kind: 'turn';
      readonly at: number;
      readonly text: string;
      readonly taskId: string | undefined;
      readonly messages: number;
    }
  | { readonly kind: 'text'; readonly at: number; readonly text: string }
  | {
      readonly kind: 'tool';
      readonly at: number;
      readonly id: string;
      readonly name: string;
      readonly status: string;
      readonly input: unknown;
      readonly output: string | undefined;
    }
  | { readonly kind: 'permission'; readonly at: number; readonly tool: string; readonly text: string }
  | { readonly kind: 'rejected'; readonly at: number; readonly taskId: string; readonly text: string }
  | {
      readonly kind: 'end';
      readonly at: number;
      readonly reason: string;
      readonly text: string;
      readonly error: string;
    }
  /** Something about the transcript itself. */
  | { readonly kind: 'note'; readonly at: number; readonly text: string };

/** Joins entries: text that came in pieces, a tool and its result. Entries of an unknown type are left out. */
export function toSteps(entries: readonly Entry[]): Step[] {
  return arrange(entries).steps;
}

/** The same, with the index of the step of each entry. */
export function arrange(entries: readonly Entry[]): { steps: Step[]; stepOf: number[] } {
  const steps: Step[] = [];
  const stepOf: number[] = [];
  /** By id; a program may number its tools from one again in every turn. */
  const tools = new Map<string, number>();
  for (const entry of entries) {
    const { at, type } = entry;
    const known = steps.length;
    let place: number | undefined;
    const last = steps.at(-1);
    switch (type) {
      case 'session':
        tools.clear();
        steps.push({ kind: 'session', at, sessionId: text(entry['sessionId']), agent: text(entry['agent']) });
        break;
      case 'turn':
        tools.clear();
        steps.push({
          kind: 'turn',
          at,
          text: text(entry['text']),
          taskId: typeof entry['taskId'] === 'string' ? entry['taskId'] : undefined,
          messages: Array.isArray(entry['messageIds']) ? entry['messageIds'].length : 0,
        });
        break;
      case 'text':
        if (last?.kind === 'text' && !last.gaps && entry['cut'] === undefined) {
          // Older transcripts do not say whether an entry continues a line; there, most entries do not.
          const between = entry['continues'] === true ? '' : '\n';
          steps[steps.length - 1] = { ...last, text: `${last.text}${between}${text(entry['text'])}` };
        } else steps.push({ kind: 'text', at, text: text(entry['text']) });
        break;
      case 'tool': {
        const id = text(entry['id']);
        place = tools.get(id);
        const before = place === undefined ? undefined : steps[place];
        const step: Step = {
          ...(before && keptOf(before)),
          kind: 'tool',
          at: before?.at ?? at,
          id,
          name: text(entry['name']),
          status: text(entry['status']),
          input: entry['input'] ?? (before?.kind === 'tool' ? before.input : undefined),
          output: entry['output'] === undefined ? undefined : text(entry['output']),
        };
        if (place === undefined) {
          tools.set(id, steps.length);
          steps.push(step);
        } else steps[place] = step;
        break;
      }
      case 'permission':
        steps.push({ kind: 'permission', at, tool: text(entry['tool']), text: text(entry['description']) });
        break;
      case 'rejected':
        steps.push({ kind: 'rejected', at, taskId: text(entry['taskId']), text: text(entry['feedback']) });
        break;
      case 'turnEnd':
        steps.push({
          kind: 'end',
          at,
          reason: text(entry['reason']),
          // The final text is mostly the same as the last text, which is shown already.
          text: last?.kind === 'text' && last.text.trim() === text(entry['text']).trim() ? '' : text(entry['text']),
          error: text(entry['error'] ?? ''),
        });
        break;
      case 'full':
        steps.push({ kind: 'note', at, text: 'This transcript is full: what came after this was not kept' });
        break;
      case 'oversized':
        steps.push({ kind: 'note', at, text: `An entry of ${text(entry['bytes'])} bytes, too large to be shown` });
        break;
      default:
    }
    const own = place ?? steps.length - 1;
    stepOf.push(Math.max(0, own));
    const step = steps[own];
    if (!step) continue;
    const gaps = gapsOf(entry);
    if (steps.length > known) {
      steps[own] = { ...step, ...keyOf(entry), ...(gaps.length > 0 && { gaps }) };
    } else if (place !== undefined && gaps.length > 0) steps[own] = { ...step, gaps: [...(step.gaps ?? []), ...gaps] };
  }
  return { steps, stepOf };
}

/** What a tool's step keeps when its result comes. */
function keptOf({ key, gaps }: Step): Pick<Step, 'key' | 'gaps'> {
  return { ...(key !== undefined && { key }), ...(gaps && { gaps }) };
}

function keyOf({ session, place }: Entry): { key?: string } {
  return typeof session === 'string' && typeof place === 'number' ? { key: `${session} ${place}` } : {};
}

/** The texts of an entry whose middle is missing. */
export function gapsOf({ session, place, cut }: Entry): Gap[] {
  if (!Array.isArray(cut) || typeof session !== 'string' || typeof place !== 'number') return [];
  const cuts = cut as readonly { path: readonly string[]; from: number; to: number; chars: number }[];
  return cuts.map(({ path, from, to, chars }) => ({ session, place, path: path.join('.'), from, to, chars }));
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
