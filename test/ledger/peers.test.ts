import { describe, expect, onTestFinished, test } from 'vitest';
import { MAX_MESSAGES_PER_MINUTE } from '../../src/core/limits.ts';
import { parse } from '../../src/core/parse.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { Mailbox } from '../../src/ledger/mailbox.ts';
import { openLedger, PLACES } from './places.ts';

async function createTeam(ledger: Ledger, name: string, peers: string[]): Promise<void> {
  const input = parse(CreateTeamInput, {
    name,
    leadName: `${name}-lead`,
    peers,
    messagesPerMinute: MAX_MESSAGES_PER_MINUTE,
  });
  await ledger.execute(name, { type: 'team.create', by: '@user', ...input }, () => undefined);
}

describe.each(PLACES)('mail between teams on $name', ({ makePlace }) => {
  async function open(): Promise<{ ledger: Ledger; mailbox: Mailbox; other: Mailbox }> {
    const place = makePlace();
    const ledger = openLedger(place.open());
    await createTeam(ledger, 'alpha', ['beta']);
    await createTeam(ledger, 'beta', ['alpha']);
    const mailboxes = [new Mailbox(ledger), new Mailbox(openLedger(place.open()))] as const;
    onTestFinished(() => mailboxes.forEach((mailbox) => mailbox.close()));
    return { ledger, mailbox: mailboxes[0], other: mailboxes[1] };
  }
  const setPeers = (ledger: Ledger, teamId: string, peers: string[]): Promise<void> =>
    ledger.execute(teamId, { type: 'team.update', by: '@user', peers }, () => undefined);

  test('is stored once, in the team of its recipient', async () => {
    const { ledger, mailbox, other } = await open();
    const input = { toId: 'lead@beta', content: 'hello' };
    const sent = await mailbox.send('alpha', 'alpha-lead', input, { messageId: 'm1' });
    expect(sent).toMatchObject({ teamId: 'beta', toId: 'beta-lead', fromId: 'alpha-lead@alpha' });
    // Retries after a lost answer, through another process as well, and after the teams were parted.
    expect(await other.send('alpha', 'alpha-lead', input, { messageId: 'm1' })).toEqual(sent);
    await setPeers(ledger, 'alpha', []);
    await setPeers(ledger, 'beta', []);
    expect(await mailbox.send('alpha', 'alpha-lead', input, { messageId: 'm1' })).toEqual(sent);
    expect(await other.getInbox('beta', 'beta-lead')).toEqual([sent]);
    expect(await ledger.view('alpha', ({ messages }) => messages.size)).toBe(0);
    // The answer goes back by the address in the message.
    await setPeers(ledger, 'alpha', ['beta']);
    await setPeers(ledger, 'beta', ['alpha']);
    const back = await mailbox.send('beta', 'beta-lead', { toId: sent.fromId, content: 'hi' });
    expect(back).toMatchObject({ teamId: 'alpha', toId: 'alpha-lead', fromId: 'beta-lead@beta' });
  });

  test('is refused if one of the teams does not list the other, and by teams that are closed or unknown', async () => {
    const { ledger, mailbox } = await open();
    const send = (toId: string): Promise<unknown> => mailbox.send('alpha', 'alpha-lead', { toId, content: 'hello' });
    await expect(send('lead@gamma')).rejects.toThrow('Team alpha does not list gamma in its peers');
    await setPeers(ledger, 'alpha', ['beta', 'gamma']);
    await expect(send('lead@gamma')).rejects.toThrow('There is no team "gamma"');
    await setPeers(ledger, 'beta', []);
    await expect(send('lead@beta')).rejects.toThrow('Team beta does not list alpha in its peers');
    // Without a word about its members.
    await expect(send('nobody@beta')).rejects.toThrow('Team beta does not list alpha in its peers');
    await setPeers(ledger, 'beta', ['alpha']);
    await expect(send('nobody@beta')).rejects.toThrow('Team beta has no member "nobody"');
    await ledger.execute('beta', { type: 'team.close', by: '@user', force: true }, () => undefined);
    await expect(send('lead@beta')).rejects.toThrow('Team beta is closed');
    expect(await ledger.teams()).toEqual(['alpha', 'beta']);
  });

  test('takes an address in the own team as the plain name, and lets a person write anywhere', async () => {
    const { mailbox } = await open();
    const own = await mailbox.send('alpha', 'alpha-lead', { toId: 'lead@alpha', content: 'to me', priority: 'urgent' });
    expect(own).toMatchObject({ teamId: 'alpha', toId: 'alpha-lead', fromId: 'alpha-lead', priority: 'urgent' });
    const person = await mailbox.send('alpha', '@user', { toId: 'lead@beta', content: 'from me' });
    expect(person).toMatchObject({ teamId: 'beta', toId: 'beta-lead', fromId: '@user' });
  });
});
