import { ALL_CHARS } from '../src/cli/commands/export/read-diffs.ts';
import type { RecordedDiff, RunRecord } from '../src/client/record.ts';
import type { Batch } from '../src/client/replica.ts';
import { JoinInput } from '../src/core/member.ts';
import { CreateTaskInput } from '../src/core/task.ts';
import { CreateTeamInput } from '../src/core/team.ts';
import { memoryJournal } from '../src/journal/memory.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import type { NewCommand } from '../src/ledger/ledger.ts';

const MEMBERS = 8;
const MINUTES = 24 * 60;
/** How long a task takes, and how often a turn ends. */
const TASK_MINUTES = 20;
const TURN_MINUTES = 3;
const START = Date.UTC(2026, 0, 5);

const WORDS =
  'the parser reads each line of a file and keeps what it found in a table so that later calls are fast when tests run on slow machines with many workers we saw two failures in the lexer which came from a missing check for empty input now both cases have a test please look at src core journal index before you change the writer because another task waits for it'.split(
    ' ',
  );

/**
 * A day of a team of eight that works without a pause: 568 tasks, 3,408 turns, 1,136 messages, and as many lines of
 * differences as a record takes.
 */
export async function makeDay(random: () => number, teamId = 'day'): Promise<{ record: RunRecord; batches: number }> {
  const journal = memoryJournal();
  const ledger = new Ledger(journal, { exclusive: true });
  for (const { at, command } of dayOf(random, teamId)) {
    await ledger.execute(teamId, { ...command, at }, () => undefined);
  }
  const batches: Batch[] = [];
  for await (const { seq, events } of journal.read(teamId, 0)) batches.push({ seq, events: [...events] });
  await ledger.close();
  const line = { id: teamId, name: teamId, seq: batches.length } as RunRecord['teams'][number]['line'];
  const team = { line, stream: '', batches, diffs: diffsOf(random), work: {} };
  return { record: { teams: [team] }, batches: batches.length };
}

function dayOf(random: () => number, name: string): { at: number; command: NewCommand }[] {
  const steps: { at: number; command: NewCommand }[] = [];
  const at = (minute: number, command: NewCommand): void =>
    void steps.push({ at: START + Math.round(minute * 60_000), command });
  at(0, { type: 'team.create', by: '@user', ...CreateTeamInput.parse({ name, description: say(random, 40) }) });
  const members = Array.from({ length: MEMBERS }, (_, i) => `member-${i + 1}`);
  for (const member of members) at(0.1, { type: 'member.join', by: 'lead', ...JoinInput.parse({ name: member }) });
  let lastTask = 0;
  for (let from = 1; from + TASK_MINUTES < MINUTES; from += TASK_MINUTES) {
    for (const [i, by] of members.entries()) {
      const taskId = String(++lastTask);
      const made = CreateTaskInput.parse({ title: say(random, 8), description: say(random, 120) });
      at(from + i / 100, { type: 'task.create', by: 'lead', ...made });
      at(from + 0.5 + i / 100, { type: 'task.claim', by, taskId });
      for (let minute = TURN_MINUTES; minute < TASK_MINUTES; minute += TURN_MINUTES) {
        at(from + minute + i / 100, usage(random, by, taskId));
      }
      const end = from + TASK_MINUTES - 1 + i / 100;
      at(end, { type: 'task.complete', by, taskId, result: say(random, 60) });
      at(end, message(by, 'lead', `${taskId}-done`, say(random, 70)));
      at(end + 0.1, message('lead', by, `${taskId}-next`, say(random, 50)));
    }
  }
  return steps.sort((a, b) => a.at - b.at);
}

function usage(random: () => number, memberId: string, taskId: string): NewCommand {
  const inputTokens = Math.round(20_000 * random());
  const counts = { inputTokens, outputTokens: 1_900, cacheReadTokens: 9_000, cacheWriteTokens: 1_200 };
  return {
    type: 'usage.record',
    by: memberId,
    memberId,
    taskId,
    usage: { ...counts, turns: 1, costUsd: random(), estimated: false },
    context: { used: Math.round(200_000 * random()), size: 200_000 },
  };
}

function message(by: string, toId: string, messageId: string, content: string): NewCommand {
  return { type: 'message.send', by, messageId, toId, content, priority: 'normal', messageType: 'direct' };
}

/** Differences whose lines have as many characters as a record takes. */
function diffsOf(random: () => number): RecordedDiff[] {
  const diffs: RecordedDiff[] = [];
  for (let chars = 0; chars < ALL_CHARS;) {
    const lines: [string, RecordedDiff['lines'][string]][] = [];
    for (let file = 0; file < 5; file++) {
      const own = Array.from({ length: 60 }, () => codeLine(random));
      chars += own.reduce((sum, line) => sum + line.length + 3, 60);
      const hunk = { oldStart: 1, newStart: 1, heading: '', isRest: false, lines: own, cut: [] };
      lines.push([`src/${say(random, 2).replaceAll(' ', '-')}-${file}.ts`, { hunks: [hunk], lines: own.length }]);
    }
    const [from, to] = [commitId(random), commitId(random)];
    const changes = lines.map(([path]) => ({
      path,
      status: 'modified' as const,
      added: 30,
      removed: 30,
      oldMode: '100644',
      newMode: '100644',
    }));
    const head = { title: say(random, 8), from, to, files: lines.length, added: 150, removed: 150 };
    const asked = [{ of: String(diffs.length + 1) }];
    diffs.push({ asked, files: { ...head, changes }, lines: Object.fromEntries(lines) });
  }
  return diffs;
}

function codeLine(random: () => number): string {
  const [a = '', b = '', c = ''] = say(random, 3).split(' ');
  const sign = ' +-'[Math.floor(random() * 3)];
  return `${sign}  const ${a}${Math.floor(random() * 100)} = ${b}.${c}(${a}, ${Math.floor(random() * 1_000)});`;
}

function say(random: () => number, count: number): string {
  return Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');
}

function commitId(random: () => number): string {
  return Array.from({ length: 40 }, () => Math.floor(random() * 16).toString(16)).join('');
}
