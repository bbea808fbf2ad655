import { z } from 'zod';
import { tool } from '../tool.ts';
import { showInbox } from './inbox.ts';
import { LONGEST_WAIT, WaitSeconds } from './inputs.ts';
import { SendMessageInput, sendMessage } from './send.ts';

export const messageTools = [
  tool({
    name: 'SendMessage',
    description:
      'Write to a member; your plain output reaches nobody. message is a text, or an object of type shutdown_request (reason), plan_approval_request (plan), shutdown_response (request_id, approve, reason) or plan_approval_response (request_id, approve, feedback).',
    for: 'member',
    input: SendMessageInput,
    run: sendMessage,
  }),
  tool({
    name: 'Inbox',
    description: `Get your unread messages, and the requests that wait for your answer. wait_seconds (up to ${LONGEST_WAIT}) waits for one.`,
    for: 'member',
    input: z.strictObject({ wait_seconds: WaitSeconds }),
    run: showInbox,
  }),
];
