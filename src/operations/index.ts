import type { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { ChosenId, isChosenId } from '../core/fields.ts';
import { findNearest } from '../core/nearest.ts';
import { parse } from '../core/parse.ts';
import { quote } from '../core/text.ts';
import { JournalAwayError } from '../journal/away.ts';
import { accountOperations } from './account.ts';
import { agentOperations } from './agent.ts';
import { attendOperations } from './attend.ts';
import { actorOf, authorize, presentCaller } from './caller.ts';
import type { Caller } from './caller.ts';
import { daemonSettingsOperations } from './daemon-settings.ts';
import { daemonOperations } from './daemon.ts';
import { eventOperations } from './event.ts';
import { readFirstDesign } from './first-design.ts';
import { gateRunOperations } from './gate-runs.ts';
import { hookOperations } from './hook.ts';
import { innerOperations } from './inner.ts';
import { memberOperations } from './member.ts';
import { messageOperations } from './message.ts';
import { nativeOperations } from './native.ts';
import { noteOperations } from './note.ts';
import type { Cursor, Operation, Services, WhenAnswered } from './operation.ts';
import { questionOperations } from './question.ts';
import { recordOperations } from './record.ts';
import { requestOperations } from './request.ts';
import { searchOperations } from './search.ts';
import { taskStepOperations } from './task-step.ts';
import { taskOperations } from './task.ts';
import { teamImportOperations } from './team-import.ts';
import { teamSaveOperations } from './team-save.ts';
import { teamOperations } from './team.ts';
import { transcriptOperations } from './transcript.ts';
import { upOperations } from './up.ts';
import { usageOperations } from './usage.ts';
import { workBranchOperations } from './work-branch.ts';
import { workCleanOperations } from './work-clean.ts';
import { workDiffOperations } from './work-diff.ts';
import { workQueueOperations } from './work-queue.ts';
import { workReviewOperations } from './work-review.ts';
import { workSavesOperations } from './work-saves.ts';
import { workSetupOperations } from './work-setup.ts';
import { workOperations } from './work.ts';

const ALL = [
  ...teamOperations,
  ...searchOperations,
  ...upOperations,
  ...teamSaveOperations,
  ...teamImportOperations,
  ...attendOperations,
  ...memberOperations,
  ...usageOperations,
  ...taskOperations,
  ...taskStepOperations,
  ...innerOperations,
  ...workOperations,
  ...workBranchOperations,
  ...workReviewOperations,
  ...workDiffOperations,
  ...workQueueOperations,
  ...workSavesOperations,
  ...workCleanOperations,
  ...workSetupOperations,
  ...messageOperations,
  ...requestOperations,
  ...questionOperations,
  ...noteOperations,
  ...accountOperations,
  ...gateRunOperations,
  ...hookOperations,
  ...transcriptOperations,
  ...eventOperations,
  ...recordOperations,
  ...nativeOperations,
  ...agentOperations,
  ...daemonOperations,
  ...daemonSettingsOperations,
] as const;

/** Every operation, in the order of the documents. */
export const OPERATIONS: readonly Operation[] = ALL;

/** The name of an operation. */
export type OperationName = (typeof ALL)[number]['name'];

type Definition<N extends OperationName> = Extract<(typeof ALL)[number], { name: N }>;

/** The input of an operation, as JSON. */
export type InputOf<N extends OperationName> = z.input<Definition<N>['input']>;

/** The result of an operation, as JSON: times are ISO text. */
export type ResultOf<N extends OperationName> = z.input<Definition<N>['result']>;

const BY_NAME = new Map(OPERATIONS.map((one) => [one.name, one]));
const BY_MESSAGE = new Map(OPERATIONS.flatMap((one) => (one.message ? [[one.message.type, one] as const] : [])));

/** An operation by its name or by the WebSocket message that calls it. */
export function findOperation(name: string): Operation | undefined {
  return BY_NAME.get(name) ?? BY_MESSAGE.get(name);
}

/** A call from a face: the caller, the input, and the member it acts for. */
export interface Call {
  readonly caller: Caller;
  readonly input: unknown;
  /** The member that a person speaks for. */
  readonly as?: string | undefined;
  /** Makes the call idempotent: sent again under the same id, it is done once. */
  readonly commandId?: string | undefined;
  readonly signal: AbortSignal;
  readonly progress?: (message: string) => void;
  /** The span that the call is part of, in W3C Trace Context format. */
  readonly traceparent?: string | undefined;
  /** Receives remarks on the answer. Without it, the caller gets no answer that needs one. */
  readonly notice?: (message: string) => void;
  /** Called if a list has more pages, with the cursor of the next one. */
  readonly more?: (after: Cursor) => void;
  /** Reports whether the answer was sent. */
  readonly whenAnswered?: WhenAnswered | undefined;
}

/** Checks the scope, parses the input and runs the operation. The only way from any face; refusals are rejections. */
export function callOperation(services: Services, name: string, call: Call): Promise<unknown> {
  const found = findOperation(name);
  if (!services.watch) return attempt(services, name, found, call);
  return services.watch(found?.name ?? 'unknown', call, () => attempt(services, name, found, call));
}

/** Not `async`: every call passes here, and one more promise costs 0.5 us. */
function attempt(services: Services, name: string, found: Operation | undefined, call: Call): Promise<unknown> {
  try {
    const { caller } = call;
    if (caller.scope !== 'lead' || caller.teamId === undefined) return perform(services, name, found, call);
    // The lead may have been replaced since it authenticated.
    return services.ledger
      .view(caller.teamId, (state) => presentCaller(caller, state))
      .then((present) => perform(services, name, found, { ...call, caller: present }));
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : new Error(String(error)));
  }
}

function unknownOperation(name: string): TeamError {
  const meant = findNearest(name.slice(0, 64), [...BY_NAME.keys(), ...BY_MESSAGE.keys()]);
  const hint =
    meant === undefined
      ? `an operation is a noun and a verb, as ${quote('task.list')}`
      : `did you mean ${quote(meant)}?`;
  return new TeamError('not_found', `There is no operation ${quote(name)}: ${hint}`);
}

function perform(services: Services, name: string, found: Operation | undefined, call: Call): Promise<unknown> {
  if (!found) throw unknownOperation(name);
  const { caller, commandId, signal, progress, more, whenAnswered } = call;
  const team = (call.input as { teamId?: unknown } | null | undefined)?.teamId;
  authorize(caller, found, typeof team === 'string' ? team : undefined);
  const { input: given, as } = name === found.name ? call : readFirstDesign(found, call);
  const input = parse(found.input, given ?? {});
  const { hostId } = services.daemon;
  const once = {
    ...(commandId !== undefined && {
      commandId: isChosenId(commandId) ? commandId : parse(ChosenId, commandId),
    }),
    // A person may act for a member through any daemon.
    ...(hostId !== undefined && caller.scope !== 'admin' && { onHost: hostId }),
  };
  const actor = actorOf(caller, found, as);
  const teamId = caller.teamId ?? team;
  if (typeof teamId === 'string') services.leases?.heard(teamId, actor);
  const context = {
    ...services,
    caller,
    actor,
    once,
    signal,
    ...(progress && { progress }),
    ...(more && { more }),
    ...(whenAnswered && { whenAnswered }),
  };
  const run = () => found.run(context, input);
  return found.scope === 'reader' && caller.scope === 'admin' && call.notice
    ? remember(services, run, call.notice)
    : run();
}

/** While the journal is unreachable, a person who only reads gets the last known state, with a notice. */
async function remember<R>(
  { ledger }: Services,
  run: () => Promise<R>,
  notice: NonNullable<Call['notice']>,
): Promise<R> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof JournalAwayError)) throw error;
    const answer = await ledger.fromMemory(run);
    notice(`${error.situation}: this answer may be out of date.`);
    return answer;
  }
}
