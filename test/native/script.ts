import type { ModelReply, ModelRequest, ModelScript } from '../models/script.ts';

/**
 * Marks a prompt with the name of its reader: a person's text to the lead begins with `as('lead')`, the prompt of a new
 * teammate with `as('alice')`. The marked text is the first of a conversation, and tells which member asks the model.
 */
export function as(name: string): string {
  return `[[${name}]] `;
}

/**
 * The member that asks: the mark in the first text of the conversation. Requests without tools have no asker: the
 * oldest version asks a smaller model for a title of each first text, which must not count as a turn.
 */
export function askerOf({ turns, tools }: ModelRequest): string | undefined {
  if (tools.length === 0) return undefined;
  for (const { role, text } of turns) {
    const mark = role === 'user' ? /\[\[([^\]]+)\]\]/.exec(text) : null;
    if (mark) return mark[1];
  }
  return undefined;
}

/** One script for a whole team: it selects a member's script by the mark of the first prompt. */
export function cast(scripts: Readonly<Record<string, ModelScript>>): ModelScript {
  return (request) => scripts[askerOf(request) ?? '']?.(request) ?? { text: 'ok' };
}

/** The answer of a rule: a reply, or a function of the request and the match. */
export type Answer = ModelReply | ((request: ModelRequest, match: RegExpExecArray) => ModelReply);

/**
 * A script of rules for the last text or tool result. The first rule that matches gives the answer; without a match it
 * is `ok`. Several texts since the last answer count as one.
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

/** All text since the model's last answer. */
export function lastText({ turns }: ModelRequest): string {
  const at = turns.findLastIndex(({ role }) => role === 'assistant');
  const tail = turns.slice(at + 1);
  const after = tail.length > 0 ? tail : turns.slice(-1);
  // A reply with only calls has no text. Then the new text begins with the last tool result.
  const result = after.findLastIndex(({ role }) => role === 'tool');
  return after
    .slice(Math.max(0, result))
    .map(({ text }) => text)
    .join('\n');
}
