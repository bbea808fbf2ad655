import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { TeamMessage } from '../../src/core/message.ts';
import type { Mailbox } from '../../src/ledger/mailbox.ts';
import { addMember, fillable, member, readList, readTeam, setStage, TEAM } from './stage.ts';

const find = async (mail: Mailbox, to: string): Promise<TeamMessage> => {
  const found = (await mail.getInbox(TEAM, to)).find(({ content }) => content === 'IMPORTANT');
  if (!found) throw new Error('it is not in the inbox of our side');
  return found;
};
const entry = { from: 'bob', text: 'old', timestamp: '2026-11-15T00:00:00.000Z', read: true };

/** Writes an inbox as the newer versions do. */
function replace(path: string, list: unknown[]): void {
  writeFileSync(`${path}.tmp.01234567`, JSON.stringify(list));
  renameSync(`${path}.tmp.01234567`, path);
}

describe('a message to a native member', () => {
  test('F20: that was overwritten unread is written once more, with a notice', async () => {
    const { bridge, mail, paths, settled } = await setStage();
    writeFileSync(paths.inbox('alice'), JSON.stringify([entry]));
    await settled();
    await mail.send(TEAM, 'codex-1', { toId: 'alice', content: 'IMPORTANT' });
    await settled();
    const lies = (): boolean => readFileSync(paths.inbox('alice'), 'utf8').includes('IMPORTANT');
    expect(lies()).toBe(true);
    // The writer read the file before our write, and writes it after that.
    writeFileSync(paths.inbox('alice'), JSON.stringify([entry]));
    await settled();
    expect(lies()).toBe(true);
    expect(readList(paths.inbox('alice'))).toHaveLength(2);
    expect(await find(mail, 'alice')).toMatchObject({ redeliveries: 1 });
    expect((await find(mail, 'alice')).acknowledgedAt).toBeUndefined();
    expect(bridge.joined()[0]?.notices.join()).toContain('was written again');
  });

  test('counts as read if a version that removes delivered entries has removed it', async () => {
    const { mail, paths, settled } = await setStage({ leadProcess: { pid: process.pid } });
    await mail.send(TEAM, 'codex-1', { toId: 'alice', content: 'IMPORTANT' });
    await settled();
    replace(paths.inbox('alice'), []);
    await settled();
    expect((await find(mail, 'alice')).acknowledgedAt).toBeInstanceOf(Date);
    expect(readList(paths.inbox('alice'))).toEqual([]);
  });

  test('counts as read even if only the way of writing shows the version', async () => {
    const { mail, paths, settled } = await setStage();
    await mail.send(TEAM, 'codex-1', { toId: 'alice', content: 'IMPORTANT' });
    await settled();
    replace(paths.inbox('alice'), []);
    await settled();
    expect((await find(mail, 'alice')).acknowledgedAt).toBeInstanceOf(Date);
  });

  test('F26: is delivered again if a resumed lead has removed the inboxes', async () => {
    const { mail, paths, settled } = await setStage({ leadProcess: { pid: process.pid } });
    await mail.send(TEAM, 'codex-1', { toId: 'team-lead', content: 'IMPORTANT' });
    await settled();
    rmSync(paths.inboxes, { recursive: true });
    await settled();
    const lies = readFileSync(paths.inbox('team-lead'), 'utf8');
    expect(lies).toContain('IMPORTANT');
    expect((await find(mail, 'team-lead')).acknowledgedAt).toBeUndefined();
    replace(paths.inbox('team-lead'), []);
    await settled();
    expect((await find(mail, 'team-lead')).acknowledgedAt).toBeInstanceOf(Date);
  });

  test('F20: does not count as read if its inbox is half written when a daemon starts', async () => {
    const { bridge, mail, paths, settled, open, journal } = await setStage({ leadProcess: { pid: process.pid } });
    await mail.send(TEAM, 'codex-1', { toId: 'alice', content: 'IMPORTANT' });
    await settled();
    await bridge.close();
    const whole = readFileSync(paths.inbox('alice'), 'utf8');
    writeFileSync(paths.inbox('alice'), whole.slice(0, 20));
    const later = open('home', journal);
    await later.bridge.start();
    await later.bridge.settled(TEAM);
    await later.bridge.settled(TEAM);
    expect((await find(later.mail, 'alice')).acknowledgedAt).toBeUndefined();
    expect(readFileSync(paths.inbox('alice'), 'utf8')).toBe(whole.slice(0, 20));
    replace(paths.inbox('alice'), []);
    await expect
      .poll(async () => {
        await later.bridge.settled(TEAM);
        return (await find(later.mail, 'alice')).acknowledgedAt;
      })
      .toBeInstanceOf(Date);
  });
});

test('a message of a native teammate whose pane was just opened has its sender, and can be answered', async () => {
  const { ledger, mail, paths, settled } = await setStage();
  const config = readTeam(paths.config);
  // As the older versions list a teammate until its first turn is over.
  const bob = { ...member('bob'), backendType: 'tmux', tmuxPaneId: '%1', joinedAt: Date.now() };
  writeFileSync(paths.config, JSON.stringify({ ...config, members: [...config.members, bob] }));
  await settled();
  const isMember = () => ledger.view(TEAM, ({ members }) => members.has('bob'));
  expect(await isMember()).toBe(false);
  const word = { from: 'bob', text: 'good day', timestamp: '2026-11-15T00:00:00.000Z', read: false };
  writeFileSync(paths.inbox('codex-1'), JSON.stringify([word]));
  await expect.poll(() => mail.getInbox(TEAM, 'codex-1')).toHaveLength(1);
  expect(await mail.getInbox(TEAM, 'codex-1')).toMatchObject([{ fromId: 'bob', content: 'good day' }]);
  await mail.send(TEAM, 'codex-1', { toId: 'bob', content: 'and to you' });
  await settled();
  expect(readList(paths.inbox('bob'))).toMatchObject([{ from: 'codex-1', text: 'and to you' }]);
});

test('messages of a native teammate stay in order when their recipient comes back in between', async () => {
  const { ledger, mail, paths, settled } = await setStage();
  await ledger.execute(
    TEAM,
    { type: 'member.leave', by: '@user', memberId: 'codex-1', returning: false },
    () => undefined,
  );
  const execute = ledger.execute.bind(ledger);
  let isBack = false;
  ledger.execute = async (...input) => {
    try {
      return await execute(...input);
    } catch (error) {
      if (!isBack) await addMember(ledger, 'codex-1');
      isBack = true;
      throw error;
    }
  };
  const write = (text: string, at: number): object => {
    const timestamp = `2026-11-15T00:00:0${at}.000Z`;
    return { from: 'alice', text, timestamp, read: false };
  };
  replace(paths.inbox('codex-1'), [write('first', 1), write('second', 2), write('third', 3)]);
  await expect
    .poll(async () => {
      await settled();
      return mail.getInbox(TEAM, 'codex-1');
    })
    .toHaveLength(3);
  expect(isBack).toBe(true);
  expect((await mail.getInbox(TEAM, 'codex-1')).map(({ content }) => content)).toEqual(['first', 'second', 'third']);
});

test('messages of a native teammate stay in order when the journal cannot store one of them', async () => {
  const { bridge, ledger, journal, open, paths } = await setStage();
  await bridge.close();
  await ledger.close();
  let refusals = 0;
  const later = open(
    'home',
    fillable(journal, () => refusals > 0 && refusals-- > 0),
  );
  await later.bridge.start();
  await later.bridge.settled(TEAM);
  refusals = 1;
  const write = (text: string, at: number): object => {
    const timestamp = `2026-11-15T00:00:0${at}.000Z`;
    return { from: 'alice', text, timestamp, read: false };
  };
  replace(paths.inbox('codex-1'), [write('first', 1), write('second', 2), write('third', 3)]);
  const inbox = () => later.mail.getInbox(TEAM, 'codex-1');
  await expect.poll(inbox).toHaveLength(3);
  expect(refusals).toBe(0);
  expect((await inbox()).map(({ content }) => content)).toEqual(['first', 'second', 'third']);
});
