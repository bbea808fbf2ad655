import type { Client } from '../../src/client/client.ts';

const MINUTE = 60_000;

/** Makes a team with a member, which has done nothing yet; functions need no process. */
async function makeTeam(client: Client, teamId: string, ...titles: readonly string[]): Promise<void> {
  await client.call('team.create', { name: teamId });
  await client.call('member.add', { teamId, name: 'ann', status: 'idle', agent: { kind: 'function' } });
  for (const title of titles) await client.call('task.create', { teamId, title });
}

/** Makes one team for each state in which something helps: named `asks`, `stuck`, `empty`, `limited`, `silent`, `failed`. */
export async function makeTeams(client: Client): Promise<void> {
  await makeTeam(client, 'asks', 'Send the letters');
  await client.call('task.claim', { teamId: 'asks', taskId: '1' }, { as: 'ann' });
  const asked = { kind: 'permission', memberId: 'ann', content: 'npm publish' } as const;
  await client.call('request.raise', { teamId: 'asks', ...asked }, { as: 'ann' });

  await makeTeam(client, 'stuck', 'Draw the map');
  const after = { teamId: 'stuck', dependencies: ['1'] };
  for (const title of ['Colour it', 'Print it']) await client.call('task.create', { ...after, title });
  await client.call('task.claim', { teamId: 'stuck', taskId: '1' }, { as: 'ann' });
  await client.call('task.fail', { teamId: 'stuck', taskId: '1', reason: 'no paper' }, { as: 'ann' });
  await client.call('member.update', { teamId: 'stuck', memberId: 'ann', status: 'idle' }, { as: 'ann' });

  await makeTeam(client, 'empty', 'Water the plants', 'Feed the cat');
  await client.call('member.stop', { teamId: 'empty', memberId: 'ann' });

  await makeTeam(client, 'limited', 'Count the stars');
  await client.call('member.update', { teamId: 'limited', memberId: 'ann', account: 'claude' }, { as: 'ann' });
  const limit = { cause: 'limited', resetsAt: Date.now() + 60 * MINUTE, reason: 'usage limit' } as const;
  await client.call('account.report', { teamId: 'limited', memberId: 'ann', ...limit }, { as: 'ann' });

  await makeTeam(client, 'silent', 'Read the archive');
  await client.call('task.claim', { teamId: 'silent', taskId: '1' }, { as: 'ann' });
  const waiting = { reason: 'nothing heard', silentSince: Date.now() - 12 * MINUTE };
  await client.call('member.update', { teamId: 'silent', memberId: 'ann', metadata: { waiting } }, { as: 'ann' });

  await makeTeam(client, 'failed', 'Call the printer');
  await client.call('task.claim', { teamId: 'failed', taskId: '1' }, { as: 'ann' });
  await client.call('task.fail', { teamId: 'failed', taskId: '1', reason: 'nobody answers' }, { as: 'ann' });
  await client.call('member.update', { teamId: 'failed', memberId: 'ann', status: 'idle' }, { as: 'ann' });
}
