import { describe, expect, test } from 'vitest';
import { geminiTrouble, openCodeTrouble, troubleIn } from '../../src/agents/acp/troubles.ts';
import { windowsOf } from '../../src/agents/claude/limits.ts';
import { troubleOfStatus, troubleOfText } from '../../src/core/trouble.ts';

describe('the trouble of a turn', () => {
  test('follows from the status of its model', () => {
    expect([429, 503, 529].map(troubleOfStatus)).toEqual(['overloaded', 'overloaded', 'overloaded']);
    expect([401, 413, 400, 500, undefined, '429'].map(troubleOfStatus)).toEqual([
      'unauthorised',
      'context',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.for([
    ['API key not valid. Please pass a valid API key.', 'unauthorised'],
    ['invalid x-api-key', 'unauthorised'],
    ['Incorrect API key provided: dummy', 'unauthorised'],
    ['Not logged in · Please run /login', 'unauthorised'],
    ['Your credit balance is too low to access the API', 'limited'],
    ['insufficient_quota', 'limited'],
    ['Rate limit reached for requests', 'overloaded'],
    ['Resource has been exhausted (e.g. check quota).', 'overloaded'],
    ['The input token count exceeds the maximum number of tokens allowed (1048576).', 'context'],
    ['prompt is too long: 200001 tokens > 200000 maximum', 'context'],
    ["This model's maximum context length is 128000 tokens", 'context'],
    ['TypeError: fetch failed', 'overloaded'],
    ['connect ECONNREFUSED 127.0.0.1:443', 'overloaded'],
    ['full of cats', undefined],
  ] as const)('is found in the words of a provider: %s', ([text, trouble]) => {
    expect(troubleOfText(text)).toBe(trouble);
  });

  test('of Gemini has the time that its text names', () => {
    const at = (message: string) => geminiTrouble({ code: 429, message }, () => 1_000);
    expect(at('You have exhausted your daily quota on this model.')).toEqual({ trouble: 'limited' });
    expect(at('Please retry in 1h2m3.5s.')).toEqual({ trouble: 'limited', resetsAt: 1_000 + 3_723_500 });
    expect(at('{"retryDelay":"400s"}')).toEqual({ trouble: 'limited', resetsAt: 401_000 });
    expect(at('Resource exhausted')).toEqual({ trouble: 'overloaded' });
  });

  test('of other ACP agents is in the code of their refusal, or in the name of their error', () => {
    expect(troubleIn({ code: -32_000, message: 'Authentication required' })).toEqual({ trouble: 'unauthorised' });
    expect(troubleIn({ code: -32_603, message: 'full of cats' })).toBeUndefined();
    const refusal = { code: -32_603, message: 'no', data: { errorName: 'ProviderAuthError' } };
    expect(openCodeTrouble(refusal)).toEqual({ trouble: 'unauthorised' });
  });
});

describe('the windows that Claude Code reports', () => {
  test('are those of its newest form, or the one that older versions name', () => {
    const unifiedWindows = { five_hour: { utilization: 0.5, resetsAt: 7 }, seven_day: { utilization: null } };
    expect(windowsOf({ status: 'allowed', unifiedWindows })).toEqual([
      { name: 'five_hour', used: 0.5, resetsAt: 7_000 },
    ]);
    expect(windowsOf({ status: 'rejected', rateLimitType: 'five_hour', resetsAt: 7 })).toEqual([
      { name: 'five_hour', used: 1, resetsAt: 7_000 },
    ]);
    expect(windowsOf({ status: 'allowed_warning', rateLimitType: 'five_hour', resetsAt: 7 })).toEqual([]);
  });
});
