import { isOverloadStatus } from '../turns.ts';
import type { AcpAgent, Refusal } from './agents.ts';

/** The error in the agent's words. The message of a refusal says little if its data says what happened. */
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

/** Whether a refusal means an overloaded model: by the model's status, or in this agent's known wording. */
export function isOverload(error: Refusal, isKnown: AcpAgent['isOverload']): boolean {
  return isOverloadStatus(error.code) || isKnown?.(error) === true;
}
