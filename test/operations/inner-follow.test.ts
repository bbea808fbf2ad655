import { expect, test } from 'vitest';
import { ADMIN } from '../../src/operations/caller.ts';
import { standingOf } from '../../src/runtime/inner/standing.ts';
import { INNER_OPERATIONS } from '../samples/inner.ts';
import { setStage } from '../server/stage.ts';

test('a call that follows a team in which nothing happens ends when its caller has gone', async () => {
  const stage = await setStage();
  const { input } = await INNER_OPERATIONS['inner.follow'](stage);
  const { teamId: innerId } = await stage.act('inner.follow', input, 'rev');
  const { leadId } = await stage.act('team.show', { teamId: innerId });
  await stage.act('member.stop', { teamId: innerId, memberId: leadId });
  expect((await standingOf(stage.ledger, innerId)).kind).toBe('stuck');
  const caller = new AbortController();
  const call = { caller: ADMIN, input: { ...input, wait: 60_000 }, as: 'rev', signal: caller.signal };
  const following = stage.hub.call('inner.follow', call);
  // While it waits whether the team is quiet.
  await new Promise((resolve) => setImmediate(resolve));
  caller.abort();
  expect(await following).toMatchObject({ state: 'working', lines: [] });
});
