import type { ModelReply } from '../models/script.ts';
import type { NativeVersion } from './versions.ts';

/** A call of a tool, as a scripted model makes it. */
export type Call = NonNullable<ModelReply['calls']>[number];

/** The tool calls of a native model. Tools and their inputs differ between versions. */
export interface Words {
  /** Creates the team. Empty for the newest version, which has a team from its start and no such tool. */
  readonly createTeam: (name: string) => Call[];
  readonly spawn: (teammate: { name: string; prompt: string; team: string; plan?: boolean; type?: string }) => Call;
  readonly send: (to: string, text: string, summary?: string) => Call;
  readonly requestShutdown: (to: string, reason?: string) => Call;
  readonly answerShutdown: (requestId: string, approve: boolean, reason?: string) => Call;
  readonly answerPlan: (to: string, requestId: string, approve: boolean, feedback?: string) => Call;
  readonly createTask: (subject: string, description?: string) => Call;
  readonly updateTask: (taskId: string, change: Readonly<Record<string, unknown>>) => Call;
}

/** The tool calls of a version. */
export function wordsOf(version: NativeVersion): Words {
  const old = version === '2.1.37';
  const call = (name: string, input: Readonly<Record<string, unknown>>): Call => ({ name, input });
  return {
    createTeam: (name) => (version === '2.1.325' ? [] : [call('TeamCreate', { team_name: name })]),
    spawn: ({ name, prompt, team, plan = false, type = 'general-purpose' }) =>
      call(old ? 'Task' : 'Agent', {
        description: `Start ${name}`,
        prompt,
        subagent_type: type,
        name,
        ...(version !== '2.1.325' && { team_name: team, ...(plan && { mode: 'plan' }) }),
      }),
    send: (to, text, summary = 'a message') =>
      call(
        'SendMessage',
        old ? { type: 'message', recipient: to, content: text, summary } : { to, message: text, summary },
      ),
    requestShutdown: (to, reason = 'all is done') =>
      call(
        'SendMessage',
        old
          ? { type: 'shutdown_request', recipient: to, content: reason }
          : { to, message: { type: 'shutdown_request', reason } },
      ),
    answerShutdown: (requestId, approve, reason = 'still busy') =>
      call(
        'SendMessage',
        old
          ? { type: 'shutdown_response', request_id: requestId, approve, content: reason }
          : {
              to: 'team-lead',
              message: { type: 'shutdown_response', request_id: requestId, approve, ...(!approve && { reason }) },
            },
      ),
    answerPlan: (to, requestId, approve, feedback = 'not like this') =>
      call(
        'SendMessage',
        old
          ? { type: 'plan_approval_response', request_id: requestId, recipient: to, approve, content: feedback }
          : {
              to,
              message: {
                type: 'plan_approval_response',
                request_id: requestId,
                approve,
                ...(!approve && { feedback }),
              },
            },
      ),
    createTask: (subject, description = subject) => call('TaskCreate', { subject, description }),
    updateTask: (taskId, change) => call('TaskUpdate', { taskId, ...change }),
  };
}
