import { RequestError } from '@agentclientprotocol/sdk';
import { CallError } from '../../../client/client.ts';
import { Refusal } from '../../show/errors.ts';

/** JSON-RPC's codes for a wrong request and for a failure. ACP uses -32000 for a missing login only. */
const [INVALID, FAILED] = [-32_602, -32_603];

/** An error in the words of Troupe. Editors show the message, so it says what to do next. */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof CallError || error instanceof Refusal ? error.code : undefined;
  return new RequestError(code === 'invalid' ? INVALID : FAILED, message, { code: code ?? 'internal' });
}

/** A refusal of what the client asked for. */
export function invalid(message: string): RequestError {
  return new RequestError(INVALID, message, { code: 'invalid' });
}
