import type { TeamNote } from './note.ts';
import type { TeamRequest } from './request.ts';
import { messageFrom, messageRow, taskFrom, taskRow } from './rows.ts';
import type { MessageRow, TaskRow } from './rows.ts';
import { createState } from './state.ts';
import type { MemberRecord, Receipt, TaskRecord, TeamRecord, TeamState } from './state.ts';
import { putMember, putMessage, putRequest, putTask } from './tables.ts';
import type { Usage } from './usage.ts';

/** Increased when the form below changes. A snapshot of another form is ignored, and the batches are replayed. */
const FORMAT = 9;

interface Form {
  format: number;
  team: TeamRecord | undefined;
  members: MemberRecord[];
  tasks: TaskRow[];
  deleted: string[];
  /** Why tasks cannot be claimed. That concerns few tasks, and never for long, so it is not in their rows. */
  kept: [string, Pick<TaskRecord, 'unjudged' | 'withheld'>][];
  messages: MessageRow[];
  broadcasts: [string, string[]][];
  requests: TeamRequest[];
  notes: TeamNote[];
  memberUsage: [string, Usage][];
  taskUsage: [string, Usage][];
  receipts: [string, Receipt][];
  nextTask: number;
  completions: number;
  nextNote: number;
}

/** A state as text. */
export function takeSnapshot(state: TeamState): string {
  const form: Form = {
    format: FORMAT,
    team: state.team,
    members: [...state.members.values()],
    tasks: Array.from(state.tasks.values(), taskRow),
    deleted: [...state.deleted],
    kept: [...state.tasks.values()].flatMap(({ id, unjudged, withheld }) =>
      unjudged || withheld !== undefined ? [[id, { unjudged, withheld }]] : [],
    ),
    messages: Array.from(state.messages.values(), messageRow),
    broadcasts: [...state.broadcasts],
    requests: [...state.requests.values()],
    notes: [...state.notes.values()],
    memberUsage: [...state.memberUsage],
    taskUsage: [...state.taskUsage],
    receipts: [...state.receipts],
    nextTask: state.nextTask,
    completions: state.completions,
    nextNote: state.nextNote,
  };
  return JSON.stringify(form);
}

/** The state in a snapshot, or undefined if the text is none of ours. Indexes are rebuilt. */
export function openSnapshot(teamId: string, body: string): TeamState | undefined {
  const form = read(body);
  if (form?.format !== FORMAT) return undefined;
  const state = createState(teamId);
  state.team = form.team && revive(form.team, ['createdAt', 'closedAt']);
  for (const member of form.members) {
    putMember(state, member.id, revive(member, ['joinedAt', 'statusSince', 'stoppedAt']));
  }
  const kept = new Map(form.kept);
  for (const row of form.tasks) {
    const task = taskFrom(teamId, row);
    putTask(state, task.id, kept.size > 0 && kept.has(task.id) ? { ...task, ...kept.get(task.id) } : task);
  }
  for (const id of form.deleted) state.deleted.add(id);
  for (const row of form.messages) putMessage(state, row[0], messageFrom(teamId, row));
  fill(state.broadcasts, form.broadcasts);
  for (const request of form.requests) {
    putRequest(state, request.id, revive(request, ['requestedAt', 'answeredAt', 'deadline']));
  }
  for (const note of form.notes) state.notes.set(note.id, revive(note, ['createdAt', 'updatedAt']));
  fill(state.memberUsage, form.memberUsage);
  fill(state.taskUsage, form.taskUsage);
  fill(state.receipts, form.receipts);
  state.nextTask = form.nextTask;
  state.completions = form.completions;
  state.nextNote = form.nextNote;
  return state;
}

function read(body: string): Form | undefined {
  try {
    return JSON.parse(body) as Form;
  } catch {
    return undefined;
  }
}

/** Times are text in JSON. */
function revive<T extends object>(record: T, keys: readonly (keyof T)[]): T {
  for (const key of keys) {
    const value = record[key] as unknown;
    if (value !== undefined) record[key] = new Date(value as string) as T[keyof T];
  }
  return record;
}

function fill<V>(map: Map<string, V>, entries: [string, V][]): void {
  for (const [key, value] of entries) map.set(key, value);
}
