import { USER } from '../core/actor.ts';
import type { AnswerRequestInput, TeamRequest } from '../core/request.ts';
import type { TeamState } from '../core/state.ts';
import type { HandedIn } from '../core/work.ts';
import { acceptWork } from './hand-in.ts';
import type { WorkSaver } from './hand-in.ts';
import type { Ledger } from './ledger.ts';

/** An answer of a person. */
export interface Answer {
  readonly teamId: string;
  readonly input: AnswerRequestInput;
  readonly once: { readonly commandId?: string; readonly onHost?: string };
}

/** A request after its answer. */
export interface AnsweredRequest extends TeamRequest {
  /** Of accepted work: what was in no save, so that it did not land. */
  readonly unsaved?: string[];
}

/** Answers a request. A yes to work that a gate rejected completes its task, and the work lands as it is. */
export async function answerRequest(
  ledger: Ledger,
  works: WorkSaver | undefined,
  { teamId, input, once }: Answer,
): Promise<AnsweredRequest> {
  const { requestId, approve } = input;
  const command = { type: 'request.answer', by: USER, ...once, ...input } as const;
  const view = <V>(pick: (state: TeamState) => V): Promise<V> => ledger.view(teamId, pick);
  const record = (work?: HandedIn): Promise<TeamRequest> =>
    ledger.execute(teamId, { ...command, work }, (state) => state.requests.get(requestId) as TeamRequest);
  const about = await view(({ requests }) => requests.get(requestId));
  const isWork = about?.kind === 'gate' && about.detail?.['conflicted'] !== true;
  if (!works || !approve || !isWork) return record();
  const said = about.detail?.['result'];
  const result = typeof said === 'string' ? said : undefined;
  // One about no task is about nobody's work.
  const { taskId = '' } = about;
  const { recorded, unsaved } = await acceptWork(works, { teamId, taskId, result }, { view, record });
  return unsaved.length === 0 ? recorded : { ...recorded, unsaved: [...unsaved] };
}
