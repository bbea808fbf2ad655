import { usageOf } from '../../agents/tokens.ts';
import type { Tokens } from '../../agents/tokens.ts';
import type { Trouble } from '../../core/trouble.ts';
import { addUsage, NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import type { Told } from './record.ts';

/** How a turn ended, as far as Claude Code reported it. */
export interface End {
  readonly at: number;
  readonly how: 'over' | 'idle' | 'interrupted';
  /** Newer versions put the turn's result, or the reason of its failure, into their idle notice. */
  readonly result?: string | undefined;
  readonly failure?: string | undefined;
}

/** The result of a turn. */
export interface Outcome {
  readonly text: string;
  readonly error?: string | undefined;
  readonly trouble?: Trouble | undefined;
}

/** Claude Code's turns, from its session record and its notices to the lead. */
export interface Conversation {
  hear(told: Told): void;
  ended(end: End): void;
  /** The number of prompts so far, by which later ones are found. */
  readonly count: number;
  /**
   * The time of the first prompt after `after` that contains one of the texts; with `any`, else of the first from the
   * lead.
   */
  begun(texts: readonly string[], after: number, options?: { any?: boolean }): number | undefined;
  /** Whether any prompt contained this text. */
  isShown(text: string): boolean;
  /** The end of the turn that began at this time. */
  endOf(begunAt: number): End | undefined;
  /** Whether the record has the whole turn; it is written a moment later. */
  isWhole(begunAt: number): boolean;
  outcome(begunAt: number, end: End): Outcome;
  /** The usage since the last call, and the model. */
  takeUsage(): { usage: Usage; model: string | undefined };
}

/** How many prompts, answers and ends are kept. */
const REMEMBERED = 200;

/** A long text is matched by its first characters. */
const NEEDLE = 2_000;

/** Starts an empty conversation. */
export function newConversation(): Conversation {
  const prompts: { at: number; text: string }[] = [];
  const answers: Extract<Told, { type: 'answer' }>[] = [];
  const ends: End[] = [];
  /** The newest usage of each message: a message of several lines counts once. */
  const used = new Map<string, Tokens>();
  let forgotten = 0;
  let model: string | undefined;
  const keep = <T>(list: T[], item: T): number => {
    list.push(item);
    return list.length > REMEMBERED ? (list.shift(), 1) : 0;
  };
  /** Lines are not always in order of time. */
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
      // The end of the previous turn may be written late. An end with no answer before it is not the end of this turn.
      const isEnd = ({ at, how }: End): boolean => how !== 'over' || within(begunAt).some((said) => said.at <= at);
      return later.find(({ how }) => how === 'interrupted') ?? later.find(isEnd);
    },
    isWhole: (begunAt) => ends.some(({ at, how }) => at >= begunAt && how !== 'idle'),
    outcome(begunAt, end) {
      const said = within(begunAt);
      const last = said.findLast(({ text }) => text !== '');
      if (last?.failed) return { text: '', error: last.text, trouble: last.trouble };
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
