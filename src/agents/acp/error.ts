import { isOverloadStatus } from '../turns.ts';
import type { AcpAgent, Refusal } from './agents.ts';

/** What went wrong, in the agent's words: the message of a refusal says little where its data says what happened. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const data = 'data' in error ? error.data : undefined;
  const details = typeof data === 'string' ? data : textIn(data);
  return details === undefined || error.message.includes(details) ? error.message : `${error.message}: ${details}`;
}

function textIn(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  for (const key of ['details', 'message', 'error', 'reason']) {
    const value: unknown = Reflect.get(data, key);
    if (typeof value === 'string') return value;
  }
  const text = JSON.stringify(data);
  return text === '{}' ? undefined : text;
}

/** Whether a refusal says that the model is overloaded: by the model's status, or as the agent is known to say it. */
export function isOverload(error: Refusal, isKnown: AcpAgent['isOverload']): boolean {
  return isOverloadStatus(error.code) || isKnown?.(error) === true;
}
