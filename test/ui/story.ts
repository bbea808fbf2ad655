import type { Home } from '../../src/client/home.ts';
import type { Actor } from '../../src/core/actor.ts';
import { JoinInput } from '../../src/core/member.ts';
import { CreateTaskInput } from '../../src/core/task.ts';
import { CreateTeamInput } from '../../src/core/team.ts';
import type { NewCommand } from '../../src/ledger/ledger.ts';
import { HomeLedger } from './home-ledger.ts';
import { writeTranscript } from './story-transcript.ts';

const MINUTE = 60_000;

/** A task of the story: when it began and ended, in minutes, by whom, and how. */
interface Chapter {
  readonly title: string;
  readonly needs?: readonly number[];
  readonly by?: string;
  readonly from?: number;
  readonly to?: number;
  readonly priority?: 'low' | 'high' | 'critical';
  readonly sentBack?: readonly number[];
  readonly failed?: string;
}

const MEMBERS = [
  ['ada', 'storage', 'claude', 'sonnet'],
  ['bo', 'tasks', 'claude', 'sonnet'],
  ['cleo', 'tasks', 'codex', 'gpt'],
  ['dag', 'storage', 'claude', 'sonnet'],
  ['eve', 'mail', 'claude', 'haiku'],
  ['finn', 'reports', 'claude', 'sonnet'],
] as const;

const CHAPTERS: readonly Chapter[] = [
  { title: 'Read the journal format and write the schema', by: 'ada', from: 2, to: 9 },
  { title: 'Fixture repository with 40 commits', by: 'bo', from: 2, to: 7 },
  { title: 'Error codes and messages', by: 'cleo', from: 3, to: 8 },
  { title: 'Append with expected sequence', needs: [1], by: 'ada', from: 10, to: 21, priority: 'high' },
  { title: 'Follow without gap or repeat', needs: [1], by: 'dag', from: 10, to: 24 },
  { title: 'Claim is one compare-and-set', needs: [1, 3], by: 'bo', from: 11, to: 26, priority: 'critical' },
  { title: 'Fsync policy and crash test', needs: [4], by: 'ada', from: 22, to: 38, sentBack: [33] },
  { title: 'Replay from any sequence', needs: [4, 5], by: 'dag', from: 66 },
  { title: 'Stale epoch is refused', needs: [6], by: 'bo', from: 27, to: 41 },
  {
    title: 'Cycle check names the cycle',
    needs: [6],
    by: 'cleo',
    from: 28,
    sentBack: [36, 47, 58],
    failed:
      'The check visits each edge of a diamond twice: with 10,000 tasks it takes 14 s.\nThree tries did not find out why.',
  },
  { title: 'Mailbox: delivered and read marks', needs: [5], by: 'eve', from: 70 },
  { title: 'Retry policy with jitter', needs: [3], by: 'finn', from: 9, to: 19 },
  {
    title: 'Contract suite for three stores',
    needs: [7, 9],
    by: 'ada',
    from: 42,
    sentBack: [55, 63, 70],
    priority: 'high',
  },
  { title: 'Scrub the time line from the journal', needs: [8] },
  { title: 'Release a dead holder’s task', needs: [9], by: 'bo', from: 58 },
  { title: 'Unblock dependants after completion', needs: [10] },
  { title: 'Digest for the lead', needs: [12] },
  { title: 'Redelivery is marked', needs: [11] },
  { title: 'Snapshot and fast opening', needs: [13] },
  { title: 'Two daemons on one journal', needs: [13, 15] },
  { title: 'Chaos run: kill anything, lose nothing', needs: [19, 20], priority: 'high' },
  { title: 'Write the storage chapter of the manual', needs: [19], priority: 'low' },
  { title: 'Release notes', needs: [21, 22] },
  { title: 'Tidy the examples', priority: 'low' },
];

const TALK: readonly (readonly [from: Actor, to: string, minute: number, text: string])[] = [
  ['lead', 'ada', 9, 'Good schema. Please keep the checksum in its own column.'],
  [
    'dag',
    'ada',
    23,
    'Does `append` wait for the flush before it answers? I follow by the **bell file** and would see it early.',
  ],
  ['ada', 'dag', 24, 'It does. The bell rings after the commit:\n\n1. append\n2. fsync\n3. ring'],
  ['cleo', 'bo', 37, 'Your claim holds the lock while the graph is checked, is that on purpose?'],
  ['bo', 'cleo', 38, 'No lock at all, it is one compare-and-set. See `claim.ts`.'],
  ['lead', 'cleo', 48, 'Second time that the gate sends #10 back. What do you see?'],
  ['cleo', 'lead', 49, 'The cycle is named, but the 10,000 task case takes 14 s. Looking for a visited set.'],
  ['eve', 'lead', 71, 'May I use the same receipt table for read marks?'],
  ['@user', 'ada', 71, 'Please look at the third store first, it is the one customers use.'],
  ['finn', 'lead', 72, 'Plan for the digest is handed in.'],
];

/** Writes the story once for each test of a file. Its requests stay open for 24 hours, until the last test has run. */
export async function writeStories(home: Home, names: readonly string[], end = Date.now()): Promise<void> {
  for (const name of names) await writeStory(home, name, { end, within: 24 * 60 * MINUTE });
}

/** A team in the middle of its work, as a journal: 74 minutes, seven members, 24 tasks, three pending requests. */
export async function writeStory(
  home: Home,
  name = 'journal-v2',
  { end = Date.now(), within = 9 * MINUTE } = {},
): Promise<void> {
  const ledger = new HomeLedger(home);
  const start = end - 74 * MINUTE;
  const steps: { at: number; command: NewCommand }[] = [];
  const at = (minute: number, command: NewCommand): void => void steps.push({ at: start + minute * MINUTE, command });
  at(0, {
    type: 'team.create',
    by: '@user',
    ...CreateTeamInput.parse({
      name,
      description: 'The second journal: durable appends, replay from any sequence, nothing lost by a crash.',
      leadAgentType: 'claude',
      leadModel: 'opus',
      budget: { costUsd: 40 },
    }),
  });
  MEMBERS.forEach(([member, role, agentType, model], i) => {
    at(0.5 + i / 10, { type: 'member.join', by: 'lead', ...JoinInput.parse({ name: member, role, agentType, model }) });
  });
  CHAPTERS.forEach(({ title, needs = [], priority = 'medium' }, i) => {
    at(1 + i / 30, {
      type: 'task.create',
      by: 'lead',
      ...CreateTaskInput.parse({
        title,
        priority,
        dependencies: needs.map(String),
        description: `**${title}**\n\nDone when the suite in \`test/\` shows it with real files and a real kill.`,
      }),
    });
  });
  CHAPTERS.forEach(({ by, from, to, sentBack = [], failed, title }, i) => {
    const taskId = String(i + 1);
    if (by === undefined || from === undefined) return;
    at(from, { type: 'task.claim', by, taskId });
    const last = to ?? (failed === undefined ? 73 : 60);
    for (let minute = from + 2; minute < last; minute += 3) {
      const scale = by === 'cleo' ? 1.6 : 1;
      at(minute + i / 100, {
        type: 'usage.record',
        by,
        memberId: by,
        taskId,
        usage: {
          inputTokens: Math.round(21_000 * scale + 700 * i),
          outputTokens: Math.round(1_900 * scale),
          cacheReadTokens: 9_000 + 400 * i,
          cacheWriteTokens: 1_200,
          turns: 1,
          costUsd: 0.11 * scale + 0.004 * i,
          estimated: false,
        },
        context: { used: Math.round(18_000 * scale + (((minute - from) * 4_600 * scale) % 160_000)), size: 200_000 },
      });
    }
    for (const minute of sentBack) {
      at(minute, {
        type: 'task.reject',
        by: '@system',
        taskId,
        feedback: `npm test: 1 failed\n\n  ${title}\n  expected 0 violations, found 2`,
      });
    }
    if (failed !== undefined) at(61, { type: 'task.fail', by, taskId, reason: failed });
    else if (to !== undefined) {
      at(to, { type: 'task.complete', by, taskId, result: `${title}: done, with 14 tests. See \`src/journal/\`.` });
    }
  });
  TALK.forEach(([by, toId, minute, content], i) => {
    const messageId = `m${i}`;
    const priority = by === '@user' ? 'urgent' : 'normal';
    at(minute, { type: 'message.send', by, messageId, toId, content, priority, messageType: 'direct' });
  });
  at(68, {
    type: 'request.raise',
    by: '@system',
    kind: 'gate',
    memberId: 'ada',
    taskId: '13',
    content:
      'The gate sent the work back three times: npm test, 1 failed. Accept it as it is, or send it back with what has to change.',
  });
  at(72, {
    type: 'plan.submit',
    by: 'finn',
    content:
      '# Digest for the lead\n\n1. Collect what changed since the last digest, by batch\n2. Group by task; a task that went through three states is told once\n3. At most 12 lines; the rest as a count\n4. Tests with a team of 50\n\nTouches `src/runtime/digest.ts` and `src/core/view.ts`.',
  });
  at(73.3, {
    type: 'request.raise',
    by: 'eve',
    kind: 'permission',
    memberId: 'eve',
    taskId: '11',
    content: 'npm install nodemailer@8',
    within,
  });
  for (const [member, minute] of [
    ['lead', 0.4],
    ['finn', 20],
  ] as const) {
    at(minute, { type: 'member.change', by: member, memberId: member, status: member === 'finn' ? 'idle' : 'active' });
  }
  for (let minute = 4; minute < 73; minute += 5) {
    at(minute, {
      type: 'usage.record',
      by: 'lead',
      memberId: 'lead',
      usage: {
        inputTokens: 52_000,
        outputTokens: 3_100,
        cacheReadTokens: 22_000,
        cacheWriteTokens: 2_000,
        turns: 1,
        costUsd: 0.62,
        estimated: false,
      },
      context: { used: 9_000 + 1_050 * minute, size: 200_000 },
    });
  }
  steps.sort((a, b) => a.at - b.at);
  for (const { at, command } of steps) await ledger.execute(name, { ...command, at }, () => undefined);
  await ledger.close();
  writeTranscript(home, name, start);
}
