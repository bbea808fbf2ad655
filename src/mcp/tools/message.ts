import { z } from 'zod';
import { tool } from '../tool.ts';
import { showInbox } from './inbox.ts';
import { LONGEST_WAIT, WaitSeconds } from './inputs.ts';
import { SendMessageInput, sendMessage } from './send.ts';

export const messageTools = [
  tool({
    name: 'SendMessage',
    description:
      'Write to a member; your plain output reaches nobody. message is a text or one of {type: shutdown_request, reason}, {type: plan_approval_request, plan}, {type: shutdown_response, request_id, approve, reason}, {type: plan_approval_response, request_id, approve, feedback}.',
    for: 'member',
    input: SendMessageInput,
    run: sendMessage,
  }),
  tool({
    name: 'Inbox',
    description: `Get your unread messages, and the requests that wait for your answer. With wait_seconds (up to ${LONGEST_WAIT}) it waits for one.`,
    for: 'member',
    input: z.strictObject({ wait_seconds: WaitSeconds }),
    run: showInbox,
  }),
];
