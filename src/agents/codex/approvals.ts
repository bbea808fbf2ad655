import type { AgentEvent } from '../agent.ts';
import { Approval, Elicitation } from './protocol.ts';
import type { Item } from './protocol.ts';

/** What is known when Codex asks. */
export interface Asked {
  readonly method: string;
  readonly params: unknown;
  /** The item that it asks about, if it was reported before. */
  readonly itemOf: (id: string) => Item | undefined;
  /** The MCP server with the team's tools. */
  readonly teamServer: string | undefined;
  /** Denies everything, without asking anyone. */
  readonly denies: boolean;
  readonly emit: (event: AgentEvent) => void;
}

/** A question for whoever decides. */
interface Question {
  readonly tool: string;
  readonly description: string;
  readonly input: unknown;
}

/** Answers a question of Codex by asking the session's listener. Undefined for unknown questions. */
export async function answerApproval(asked: Asked): Promise<object | undefined> {
  switch (asked.method) {
    case 'item/commandExecution/requestApproval':
      return { decision: (await isAllowed(asked, commandQuestion(asked))) ? 'accept' : 'decline' };
    case 'item/fileChange/requestApproval':
      return { decision: (await isAllowed(asked, changeQuestion(asked))) ? 'accept' : 'decline' };
    case 'item/permissions/requestApproval': {
      const { permissions, reason } = Approval.parse(asked.params);
      const description = reason ?? 'more permissions for this turn';
      const allowed = await isAllowed(asked, { tool: 'permissions', description, input: permissions });
      return { permissions: allowed ? permissions : {}, scope: 'turn' };
    }
    case 'mcpServer/elicitation/request':
      return answerElicitation(asked);
    case 'item/tool/requestUserInput':
      // Nobody is in front of it; questions to people go through the team's tools.
      return { answers: {} };
    default:
      return undefined;
  }
}

function commandQuestion({ params }: Asked): Question {
  const { command, cwd, reason } = Approval.parse(params);
  const description = [command ?? 'a command', reason].filter(Boolean).join('\n');
  return { tool: 'shell', description, input: { command: command && plainCommand(command), cwd, reason } };
}

/** The command inside a plain `sh -c`, because people's rules are about that command. */
function plainCommand(command: string): string {
  const [, word = ''] = /^(?:\S*\/)?(?:ba|z|da)?sh -l?c (.+)$/s.exec(command) ?? [];
  const [, single] = /^'([^']*)'$/s.exec(word) ?? [];
  const [, double] = /^"((?:[^"\\]|\\.)*)"$/s.exec(word) ?? [];
  if (double !== undefined) return double.replaceAll(/\\(["\\$`])/g, '$1');
  return single ?? (/^[\w./:=@-]+$/.test(word) ? word : command);
}

function changeQuestion({ params, itemOf }: Asked): Question {
  const { itemId = '', reason, grantRoot } = Approval.parse(params);
  const paths = itemOf(itemId)?.changes?.map(({ path }) => path) ?? [];
  const description = [`Change ${paths.join(', ') || grantRoot || 'files'}`, reason].filter(Boolean).join('\n');
  return { tool: 'edit', description, input: { paths, reason } };
}

async function answerElicitation(asked: Asked): Promise<object> {
  const { serverName, message, _meta } = Elicitation.parse(asked.params);
  const decided = (allow: boolean) => ({
    action: allow ? 'accept' : 'decline',
    content: allow ? {} : null,
    _meta: null,
  });
  // Forms and links are for people at a screen.
  if (_meta?.codex_approval_kind !== 'mcp_tool_call') return decided(false);
  if (serverName === asked.teamServer) return decided(true);
  const tool = `mcp__${serverName}${_meta.tool_name === undefined ? '' : `__${_meta.tool_name}`}`;
  return decided(await isAllowed(asked, { tool, description: message, input: _meta.tool_params }));
}

function isAllowed({ denies, emit }: Asked, question: Question): Promise<boolean> {
  if (denies) return Promise.resolve(false);
  return new Promise((resolve) => {
    emit({ type: 'permission', id: crypto.randomUUID(), ...question, answer: ({ allow }) => resolve(allow) });
  });
}
