import type { ResultOf } from '../../src/operations/index.ts';

/** One entry of a transcript. */
export type Entry = ResultOf<'transcript.read'>['entries'][number];

/** A transcript as readers see it: entries that belong together are one step. */
export type Step =
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
    };

/** Joins entries: text that came in pieces, a tool and its result. Entries of an unknown type are left out. */
export function toSteps(entries: readonly Entry[]): Step[] {
  const steps: Step[] = [];
  /** By id; a program may number its tools from one again in every turn. */
  const tools = new Map<string, number>();
  for (const entry of entries) {
    const { at, type } = entry;
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
        if (last?.kind === 'text') {
          // Older transcripts do not say whether an entry continues a line; there, most entries do not.
          const between = entry['continues'] === true ? '' : '\n';
          steps[steps.length - 1] = { ...last, text: `${last.text}${between}${text(entry['text'])}` };
        } else steps.push({ kind: 'text', at, text: text(entry['text']) });
        break;
      case 'tool': {
        const id = text(entry['id']);
        const place = tools.get(id);
        const before = place === undefined ? undefined : steps[place];
        const step: Step = {
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
      default:
    }
  }
  return steps;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
