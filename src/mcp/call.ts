import { wordError } from '../core/error-words.ts';
import type { Naming } from '../core/error-words.ts';
import { TeamError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import { parse } from '../core/parse.ts';
import { quote } from '../core/text.ts';
import { callOperation, findOperation } from '../operations/index.ts';
import type { OperationName } from '../operations/index.ts';
import type { Services, TakeWait } from '../operations/operation.ts';
import { accessOf } from './access.ts';
import type { LongAnswer } from './answer.ts';
import { settleHanded } from './handed.ts';
import { memberOf } from './session.ts';
import type { RequestId, Session } from './session.ts';
import type { Answer, CallOptions, Tool, Visit } from './tool.ts';
import { inputOf, TOOLS } from './tools.ts';
import { fromTaskIds, toFieldName } from './words.ts';

const NAMING: Naming = {
  field: toFieldName,
  speaker: 'connect with troupe mcp --as NAME',
  // The tools of a model have no such inputs.
  option: () => undefined,
};

/** A tool call of a client. */
export interface ToolCall {
  readonly name: string;
  readonly input: unknown;
  /** The client's id of the request. */
  readonly request?: RequestId | undefined;
  readonly signal: AbortSignal;
  /** Counts this call among the waiting ones, if it waits. */
  readonly takeWait?: TakeWait | undefined;
  /** Holds the place for its long answers. */
  readonly answer: LongAnswer;
  readonly progress?: ((message: string) => void) | undefined;
  /** Makes retries safe: calls with the same id run once. */
  readonly commandId?: string | undefined;
  /** The parent span, in the format of W3C Trace Context. */
  readonly traceparent?: string | undefined;
}

/** What a client gets. */
export interface ToolResult {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}

/** Runs a tool, or says why not. Undefined if this session has no such tool. */
export async function callTool(
  services: Services,
  session: Session,
  call: ToolCall,
  report: (error: unknown) => void,
): Promise<ToolResult | undefined> {
  const tool = TOOLS.find(({ name }) => name === call.name);
  if (!tool || !session.teams) return undefined;
  const { traceparent } = call;
  const traced = traceparent === undefined ? services : tracedServices(services, traceparent);
  try {
    await settleHanded(traced, session, call);
    return await run(traced, session, tool, call);
  } catch (error) {
    if (error instanceof TeamError) {
      return refuse(error.code, wordError(error, NAMING));
    }
    report(error);
    return refuse('internal', `${tool.name} failed because of a bug in Troupe: see the log of the daemon`);
  }
}

/** The same services, but their calls belong to the client's trace. */
function tracedServices(services: Services, traceparent: string): Services {
  const { watch } = services;
  if (!watch) return services;
  return { ...services, watch: (operation, call, work) => watch(operation, { ...call, traceparent }, work) };
}

async function run(services: Services, session: Session, tool: Tool, call: ToolCall): Promise<Answer> {
  const { team_name, ...input } = parse(inputOf(tool), forgive(call.input));
  const teamId = tool.teamless ? session.team : ((team_name as string | undefined) ?? session.team);
  requireOwnTeam(session, teamId);
  const { tools, delegating } = await accessOf(services, session, teamId);
  if (!tools.includes(tool)) throw notOffered(tool, session, delegating);
  if (teamId === undefined && !tool.teamless) {
    throw new TeamError('invalid', 'team_name: say which team it is about, or make one with TeamCreate');
  }
  // A call that waits for an event holds no place while it waits.
  const waits = Number(input['wait_seconds'] ?? 0) > 0;
  const visit: Visit = {
    services,
    session,
    teamId: teamId ?? '',
    memberId: memberOf(session),
    request: call.request,
    signal: call.signal,
    progress: call.progress,
    call<R>(name: OperationName, values: object, { once, signal = call.signal }: CallOptions = {}) {
      const given = {
        caller: session.caller,
        input: values,
        as: session.as,
        commandId: commandIdOf(call, once),
        signal,
        ...(call.progress && { progress: call.progress }),
      };
      const isLong = findOperation(name)?.long === true;
      const work = (): Promise<unknown> => callOperation(services, name, given);
      return (isLong ? call.answer.make(work, { waits }) : work()) as Promise<R>;
    },
  };
  const over = waits ? call.takeWait?.() : undefined;
  try {
    return await tool.run(visit, tool.teamless ? { team_name, ...input } : input);
  } finally {
    over?.();
  }
}

/** Checked before the call reads anything of another team. Operations check it again. */
function requireOwnTeam({ caller }: Session, teamId: string | undefined): void {
  if (caller.teamId === undefined || teamId === undefined || caller.teamId === teamId) return;
  throw new TeamError('not_allowed', `This credential is for team ${caller.teamId}, not ${quote(teamId)}`);
}

function commandIdOf({ commandId }: ToolCall, once: true | string | undefined): string | undefined {
  if (commandId === undefined || once === undefined) return undefined;
  return once === true ? commandId : `${commandId}.${once}`;
}

/**
 * Accepts common mistakes of models that can mean only one thing: a task id as a number or with a `#`, one id in place
 * of a list, a number as text.
 */
function forgive(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input ?? {};
  const given: Record<string, unknown> = { ...input };
  for (const name of ['taskId', 'of']) {
    if (given[name] !== undefined) given[name] = fromTaskIds(given[name]);
  }
  for (const name of ['addBlocks', 'addBlockedBy', 'blockedBy']) {
    const ids = given[name];
    if (ids !== undefined) given[name] = fromTaskIds(Array.isArray(ids) ? ids : [ids]);
  }
  for (const name of ['wait_seconds', 'epoch']) {
    const text = given[name];
    if (typeof text === 'string' && text.trim() !== '') given[name] = Number(text);
  }
  return given;
}

function notOffered(
  { name, works, apart, reviews, for: whom }: Tool,
  session: Session,
  delegating: boolean,
): TeamError {
  if (delegating && works) {
    return new TeamError(
      'not_allowed',
      `${name} is not for a lead in delegate mode: give the work to a teammate (TaskUpdate, owner)`,
    );
  }
  if (reviews) return new TeamError('not_allowed', `${name} is for the member that reviews the team's work`);
  if (apart) {
    return new TeamError('not_allowed', `${name} is for teams with workspaces: here, all members share a folder`);
  }
  const who = memberOf(session) ?? 'this credential';
  return new TeamError(
    'not_allowed',
    `${name} is for ${whom === 'lead' ? 'the lead' : 'members'}, and ${who} is not one`,
  );
}

function refuse(code: ErrorCode, message: string): ToolResult {
  return { text: `${code}: ${message}`, data: { error: { code, message } }, isError: true };
}
