import { expect, test } from 'vitest';
import { ACP_AGENTS } from '../../src/agents/acp/agents.ts';
import { answerPermission } from '../../src/agents/acp/permissions.ts';
import { AcpSession } from '../../src/agents/acp/session.ts';

const toolCall = { toolCallId: '1', title: 'cat /etc/hosts', kind: 'execute' as const };
const options = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' as const },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' as const },
];
const request = { sessionId: 's', toolCall, options };
const chosen = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } });

test('of an agent that asks in every mode, nobody is asked in full, and everything is denied while it plans', async () => {
  const answerIn = (mode: 'full' | 'plan') => {
    const about = { agent: ACP_AGENTS.opencode, mode, tools: undefined, preface: undefined, isNew: true };
    return new AcpSession('s', undefined as never, about).answer(request);
  };
  expect(await answerIn('full')).toEqual(chosen('yes'));
  expect(await answerIn('plan')).toEqual(chosen('no'));
});

test('a denial comes before a grant', async () => {
  const asking = { agent: ACP_AGENTS.opencode, tools: undefined, known: undefined, emit: () => {}, onDenied: () => {} };
  const { signal } = new AbortController();
  expect(await answerPermission(request, { ...asking, signal, denies: true, grants: true })).toEqual(chosen('no'));
});
