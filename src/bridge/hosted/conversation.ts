import { usageOf } from '../../agents/tokens.ts';
import type { Tokens } from '../../agents/tokens.ts';
import { addUsage, NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import type { Told } from './record.ts';

/** How a turn of the program ended, as far as it told. */
export interface End {
  readonly at: number;
  readonly how: 'over' | 'idle' | 'interrupted';
  /** Newer versions tell what the turn produced, or why it failed, with their notice. */
  readonly result?: string | undefined;
  readonly failure?: string | undefined;
}

/** What a turn came to. */
export interface Outcome {
  readonly text: string;
  readonly error?: string | undefined;
  readonly overloaded?: boolean;
}

/** What the program did, turn by turn: from its own record and from what it told its lead. */
export interface Conversation {
  hear(told: Told): void;
  ended(end: End): void;
  /** How many prompts there were: a later one is found by it. */
  readonly count: number;
  /** The prompt since the `after`-th that holds one of these texts; with `any`, else the first from the lead. */
  begun(texts: readonly string[], after: number, options?: { any?: boolean }): number | undefined;
  /** Whether a text was put before the model at all. */
  isShown(text: string): boolean;
  /** The end of the turn that began then. */
  endOf(begunAt: number): End | undefined;
  /** Whether the record has everything of that turn: it is written a moment after the fact. */
  isWhole(begunAt: number): boolean;
  outcome(begunAt: number, end: End): Outcome;
  /** What was used since it was last asked, and by which model. */
  takeUsage(): { usage: Usage; model: string | undefined };
}

/** So many prompts, answers and ends are remembered. */
const REMEMBERED = 200;

/** A text that is long is known by its beginning. */
const NEEDLE = 2_000;

/** Nothing said yet. */
export function newConversation(): Conversation {
  const prompts: { at: number; text: string }[] = [];
  const answers: Extract<Told, { type: 'answer' }>[] = [];
  const ends: End[] = [];
  /** The newest count of each message: a message of several lines counts once. */
  const used = new Map<string, Tokens>();
  let forgotten = 0;
  let model: string | undefined;
  const keep = <T>(list: T[], item: T): number => {
    list.push(item);
    return list.length > REMEMBERED ? (list.shift(), 1) : 0;
  };
  /** Lines are not always in the order of their times. */
  const within = (begunAt: number): typeof answers => {
    const next = Math.min(...prompts.filter(({ at }) => at > begunAt).map(({ at }) => at));
    return answers.filter(({ at }) => at >= begunAt && !(at >= next)).sort((a, b) => a.at - b.at);
  };
  return {
    hear(told) {
      if (told.type === 'prompt') forgotten += keep(prompts, told);
      else if (told.type === 'answer') {
        keep(answers, told);
        if (told.tokens) used.set(told.id || `${told.at}`, told.tokens);
        if (told.tokens) model = told.model ?? model;
      } else if (told.type === 'interrupted') keep(ends, { at: told.at, how: 'interrupted' });
      else if (told.type === 'over') keep(ends, { at: told.at, how: 'over' });
    },
    ended: (end) => void keep(ends, end),
    get count() {
      return forgotten + prompts.length;
    },
    begun(texts, after, { any = false } = {}) {
      const later = prompts.slice(Math.max(0, after - forgotten));
      const found = later.find(({ text }) => texts.some((one) => text.includes(one.trim().slice(0, NEEDLE))));
      return (found ?? (any ? later.find(({ text }) => text.includes('teammate_id="team-lead"')) : undefined))?.at;
    },
    isShown: (text) => prompts.some((prompt) => prompt.text.includes(text.trim().slice(0, NEEDLE))),
    endOf(begunAt) {
      const later = ends.filter(({ at }) => at >= begunAt);
      // The end of the turn before is written late: one before which nothing was said is not the end of this.
      const isEnd = ({ at, how }: End): boolean => how !== 'over' || within(begunAt).some((said) => said.at <= at);
      return later.find(({ how }) => how === 'interrupted') ?? later.find(isEnd);
    },
    isWhole: (begunAt) => ends.some(({ at, how }) => at >= begunAt && how !== 'idle'),
    outcome(begunAt, end) {
      const said = within(begunAt);
      const last = said.findLast(({ text }) => text !== '');
      if (last?.failed) return { text: '', error: last.text, overloaded: last.overloaded };
      const notice = ends.find(({ at, how }) => at >= begunAt && how === 'idle') ?? end;
      if (notice.failure !== undefined) return { text: last?.text ?? '', error: notice.failure };
      const parts = said.filter(({ id, text }) => text !== '' && id === last?.id).map(({ text }) => text);
      return { text: parts.length > 0 ? parts.join('\n') : (notice.result ?? '') };
    },
    takeUsage() {
      let usage = NO_USAGE;
      for (const tokens of used.values()) usage = addUsage(usage, usageOf(tokens));
      used.clear();
      return { usage, model };
    },
  };
}
