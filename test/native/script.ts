import type { ModelReply, ModelRequest, ModelScript } from '../models/script.ts';

/**
 * Marks a prompt as somebody's: what a person types to the lead begins with `as('lead')`, what a teammate is spawned with begins
 * with `as('alice')`. The marked text is the first of a conversation, and tells who asks the model.
 */
export function as(name: string): string {
  return `[[${name}]] `;
}

/**
 * Who asks: the mark in the first text of the conversation. What comes without tools nobody asks for: the oldest version wants a title
 * for each first text, of a smaller model, which must not count as a turn.
 */
export function askerOf({ turns, tools }: ModelRequest): string | undefined {
  if (tools.length === 0) return undefined;
  for (const { role, text } of turns) {
    const mark = role === 'user' ? /\[\[([^\]]+)\]\]/.exec(text) : null;
    if (mark) return mark[1];
  }
  return undefined;
}

/** One script for a whole team: each has a script of its own, by the mark of its first prompt. */
export function cast(scripts: Readonly<Record<string, ModelScript>>): ModelScript {
  return (request) => scripts[askerOf(request) ?? '']?.(request) ?? { text: 'ok' };
}

/** What a rule answers: the reply itself, or what to make of the request and of the match. */
export type Answer = ModelReply | ((request: ModelRequest, match: RegExpExecArray) => ModelReply);

/**
 * A script of rules about what came last, a text or the result of a tool: the first that fits says the answer, none means a short
 * text. Several texts that came at once are one.
 */
export function rules(...list: readonly (readonly [RegExp, Answer])[]): ModelScript {
  return (request) => {
    const last = lastText(request);
    for (const [pattern, answer] of list) {
      const match = pattern.exec(last);
      if (match) return typeof answer === 'function' ? answer(request, match) : answer;
    }
    return { text: 'ok' };
  };
}

/** Everything since the model last spoke. */
export function lastText({ turns }: ModelRequest): string {
  const at = turns.findLastIndex(({ role }) => role === 'assistant');
  const tail = turns.slice(at + 1);
  const after = tail.length > 0 ? tail : turns.slice(-1);
  // A reply with calls alone has no text: what follows the last result is what is new.
  const result = after.findLastIndex(({ role }) => role === 'tool');
  return after
    .slice(Math.max(0, result))
    .map(({ text }) => text)
    .join('\n');
}
