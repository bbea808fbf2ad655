import { JetStreamApiError } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import { TeamError } from '../../core/errors.ts';

/** The server's error codes that we tell apart. */
export const ANSWER = {
  streamNotFound: 10059,
  streamNameInUse: 10058,
  wrongLastSequence: 10071,
  /** 2.11 and later: the sequence is not known while another append is in progress. */
  wrongLastSequenceUnknown: 10164,
  /** Newer servers: the message with this id is not stored yet. */
  idUnderWay: 10158,
  /** A limit of the stream, the account or the disk; the message names it. */
  storeFailed: 10077,
  memoryExceeded: 10028,
  storageExceeded: 10047,
  accountExceeded: 10002,
  insufficient: 10023,
  noSuitablePeers: 10005,
  replicasNotSupported: 10074,
  messageTooLarge: 10054,
} as const;

const FULL: readonly number[] = [
  ANSWER.storeFailed,
  ANSWER.memoryExceeded,
  ANSWER.storageExceeded,
  ANSWER.accountExceeded,
  ANSWER.insufficient,
];

/** The server knows a message's id but not its sequence: it was proposed, and may still be stored or not. */
export class UnderWayError extends Error {
  constructor() {
    super('the servers have not agreed on it yet');
  }
}

/** Whether the server answered with one of these codes. */
export function isAnswer(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}

/** Another writer was first. */
export function isWrongSequence(error: unknown): boolean {
  return isAnswer(error, ANSWER.wrongLastSequence, ANSWER.wrongLastSequenceUnknown);
}

/** The account has no JetStream, or no server answered for it. The library does not export this class. */
export function isNotEnabled(error: unknown): error is Error {
  return error instanceof Error && error.name === 'JetStreamNotEnabled';
}

/** Nobody listens on the subject: its stream is gone or has no leader, or there is no JetStream at all. */
export function isNobodyThere(error: unknown): boolean {
  return (
    (isNotEnabled(error) && !(error.cause instanceof JetStreamApiError)) ||
    (error instanceof errors.RequestError && error.isNoResponders())
  );
}

/** The same call may work a moment later: servers come and go, leaders are elected. */
export function isTransient(error: unknown): boolean {
  if (isNobodyThere(error) || error instanceof errors.TimeoutError || error instanceof UnderWayError) return true;
  if (error instanceof errors.ConnectionError || error instanceof errors.ClosedConnectionError) return true;
  if (error instanceof errors.RequestError) return !(error.cause instanceof errors.PermissionViolationError);
  if (isAnswer(error, ANSWER.idUnderWay)) return true;
  return error instanceof JetStreamApiError && error.status === 503 && !FULL.includes(error.code);
}

/** Says what the server refused, for which journal, and what to do. */
export function toTeamError(error: unknown, place: string, doing: string): unknown {
  if (error instanceof TeamError) return error;
  if (!(error instanceof Error)) return error;
  const fail = (why: string) => new TeamError('storage', `Cannot ${doing} at ${place}: ${why}`, { cause: error });

  if (isAnswer(error, ...FULL)) {
    return fail(
      `it is full (${error.message}). Make room, or raise max_file_store of the servers, the account's limits, or the ` +
        "team's with troupe journal init --max-bytes; nothing was changed.",
    );
  }
  const isTooLarge = isAnswer(error, ANSWER.messageTooLarge) || error.message.includes('max_payload');
  if (isTooLarge) return tooLarge(place, doing, error);
  const denied = permissionOf(error);
  if (denied) {
    return fail(
      `the account may not ${denied.operation} ${denied.subject}. Give it the permissions that troupe journal init writes.`,
    );
  }
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) {
    return fail(`the server does not accept the credential (${error.message}). Check its file; nothing was changed.`);
  }
  if (isNotEnabled(error) && !isNobodyThere(error)) {
    return fail('JetStream is not enabled for this account. Enable it for the account in the server configuration.');
  }
  if (isAnswer(error, ANSWER.noSuitablePeers)) {
    return fail(
      `too few servers run to keep all replicas (${error.message}). Start the missing ones; nothing was changed.`,
    );
  }
  if (isTransient(error)) {
    return fail(
      `no answer (${error.message}). It is unknown whether it was done until the servers are back; ` +
        'check that most of them run and reach each other.',
    );
  }
  return fail(`${error.message}.`);
}

/** Does something, and says what the servers refused, if they did. */
export async function explaining<T>(place: string, doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toTeamError(error, place, doing);
  }
}

/** The error for a batch that is too large for a message. */
export function tooLarge(place: string, doing: string, cause?: unknown): TeamError {
  return new TeamError(
    'invalid',
    `Cannot ${doing} at ${place}: one write is larger than the message limit there. ` +
      'Raise max_payload in the server configuration (8MB is advised), or do it in smaller steps; nothing was changed.',
    { cause },
  );
}

function permissionOf(error: Error): InstanceType<typeof errors.PermissionViolationError> | undefined {
  if (error instanceof errors.PermissionViolationError) return error;
  return error.cause instanceof errors.PermissionViolationError ? error.cause : undefined;
}
