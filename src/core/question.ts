import { z } from 'zod';
import { lineOf } from './fields.ts';
import { CHOICE_LENGTH, CHOICES_PER_QUESTION } from './limits.ts';

/** One answer that a person can choose. */
export const Choice = lineOf(CHOICE_LENGTH).refine((text) => text.trim() !== '', 'must not be empty');

/** What may be answered to a member's question, and what follows without an answer. */
export const Question = z.object({
  choices: z.array(Choice).max(CHOICES_PER_QUESTION),
  /** Whether any other text is an answer, too. */
  freeText: z.boolean(),
  /** Without an answer in time: the member goes on as it thinks best, or its task fails. */
  otherwise: z.enum(['go-on', 'fail']),
  /** The choice that counts without an answer in time. */
  fallback: Choice.optional(),
});
export type Question = z.output<typeof Question>;

/** The same as somebody asks it. */
export const QuestionInput = z.strictObject({
  choices: Question.shape.choices.default([]).describe('the answers to choose from'),
  freeText: Question.shape.freeText.default(true).describe('whether any other text is an answer, too'),
  otherwise: Question.shape.otherwise
    .default('go-on')
    .describe('without an answer in time: the member goes on as it thinks best, or its task fails'),
  fallback: Question.shape.fallback.describe('the choice that counts without an answer in time'),
});

/**
 * The id of the message that brings the answer to the member that asked. No member can choose one with a slash, or the answer
 * would take the place of a message to somebody else.
 */
export function answerMessageId(requestId: string): string {
  return `answer/${requestId}`;
}

/** How much of a question is repeated, in characters. */
const LENGTH = 500;

/**
 * The question at the end of an answer: the last sentence, if it ends with a question mark. Only what comes last counts,
 * because a question in the middle was usually answered by the rest.
 */
export function questionIn(answer: string): string | undefined {
  // Closing marks of Markdown and quotes may follow.
  const text = answer.trim().replace(/[*_"'”’»)\]]+$/u, '');
  if (!/[?？]$/u.test(text)) return undefined;
  const line = text.slice(text.lastIndexOf('\n') + 1);
  const sentence = line.replace(/^.*[.!?？]\s+/su, '');
  return sentence.replace(/^[\s*_>#-]+/u, '').slice(-LENGTH);
}
