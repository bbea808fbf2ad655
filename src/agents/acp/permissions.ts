import type {
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk/unstable';
import type { AgentEvent } from '../agent.ts';
import type { AcpAgent } from './agents.ts';
import { askedInput, learn, textOf, toolName } from './tool.ts';
import type { KnownCall } from './tool.ts';

/** What the answer to an agent depends on. */
export interface Asking {
  readonly agent: AcpAgent;
  /** The name of the MCP server with the team's tools. */
  readonly tools: string | undefined;
  /** Denies everything but the team's tools, without asking anyone. */
  readonly denies: boolean;
  /** Allows everything, without asking anyone. */
  readonly grants?: boolean | undefined;
  /** What earlier updates said about the call. */
  readonly known: KnownCall | undefined;
  readonly emit: (event: AgentEvent) => void;
  /** Aborts when the turn is cancelled; otherwise the question would stay open forever. */
  readonly signal: AbortSignal;
  /** Called after a denial. */
  readonly onDenied: (tool: string, why: string | undefined) => void;
}

/** Answers an agent's question by asking the session's listener. */
export async function answerPermission(
  { toolCall, options }: RequestPermissionRequest,
  asking: Asking,
): Promise<RequestPermissionResponse> {
  const call = learn(asking.known, toolCall);
  if (isTeamTool(call, options, asking)) return choose(options, ['allow_always', 'allow_once']);
  const tool = toolName(call);
  const verdict = asking.denies || asking.grants ? { allow: !asking.denies } : await ask(call, tool, asking);
  if (verdict === 'cancelled') return { outcome: { outcome: 'cancelled' } };
  if (verdict.allow) return choose(options, ['allow_once', 'allow_always']);
  asking.onDenied(tool, verdict.message);
  return choose(options, ['reject_once', 'reject_always']);
}

function isTeamTool(call: KnownCall, options: readonly PermissionOption[], { agent, tools }: Asking): boolean {
  if (tools === undefined) return false;
  const { toolCallId: id, title = '', kind = 'other', rawInput } = call;
  return agent.isTeamTool({ id, title, kind, optionIds: options.map(({ optionId }) => optionId), rawInput }, tools);
}

/** The first offered option of the wanted kinds; if there is none, `cancelled`. */
function choose(
  options: readonly PermissionOption[],
  kinds: readonly PermissionOption['kind'][],
): RequestPermissionResponse {
  const option = kinds.flatMap((kind) => options.filter((one) => one.kind === kind)).at(0);
  if (!option) return { outcome: { outcome: 'cancelled' } };
  return { outcome: { outcome: 'selected', optionId: option.optionId } };
}

function ask(
  call: KnownCall,
  tool: string,
  { emit, signal }: Asking,
): Promise<{ allow: boolean; message?: string } | 'cancelled'> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve('cancelled');
    signal.addEventListener('abort', () => resolve('cancelled'), { once: true });
    const description = [call.title, textOf(call.content ?? [])].filter(Boolean).join('\n');
    const id = crypto.randomUUID();
    emit({ type: 'permission', id, tool, description, input: askedInput(call), answer: resolve });
  });
}
