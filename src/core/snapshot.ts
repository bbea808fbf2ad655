import type { Account } from './account.ts';
import { MESSAGE_COLUMNS, TASK_COLUMNS } from './columns.ts';
import type { Columns } from './columns.ts';
import type { TeamNote } from './note.ts';
import type { OverlapRecord } from './overlap.ts';
import type { TeamRequest } from './request.ts';
import { createState } from './state.ts';
import type { MemberRecord, Receipt, TeamRecord, TeamState } from './state.ts';
import { putMember, putMessage, putRequest, putTask } from './tables.ts';
import type { Usage } from './usage.ts';

/** Increased when the form below changes. A snapshot of another form is ignored, and the batches are replayed. */
const FORMAT = 15;

/** Part of the form: a new field of a task or a message needs no new number. */
const FIELDS = { task: TASK_COLUMNS.fields, message: MESSAGE_COLUMNS.fields };

interface Form {
  format: number;
  fields: typeof FIELDS;
  team: TeamRecord | undefined;
  members: MemberRecord[];
  tasks: Columns;
  deleted: string[];
  messages: Columns;
  broadcasts: [string, string[]][];
  requests: TeamRequest[];
  notes: TeamNote[];
  memberUsage: [string, Usage][];
  taskUsage: [string, Usage][];
  accounts: [string, Account][];
  overlaps: [string, OverlapRecord][];
  receipts: [string, Receipt][];
  nextTask: number;
  completions: number;
  nextNote: number;
}

/** A state as text. */
export function takeSnapshot(state: TeamState): string {
  const form: Form = {
    format: FORMAT,
    fields: FIELDS,
    team: state.team,
    members: [...state.members.values()],
    tasks: TASK_COLUMNS.take([...state.tasks.values()]),
    deleted: [...state.deleted],
    messages: MESSAGE_COLUMNS.take([...state.messages.values()]),
    broadcasts: [...state.broadcasts],
    requests: [...state.requests.values()],
    notes: [...state.notes.values()],
    memberUsage: [...state.memberUsage],
    taskUsage: [...state.taskUsage],
    accounts: [...state.accounts],
    overlaps: [...state.overlaps],
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
  if (form?.format !== FORMAT || JSON.stringify(form.fields) !== JSON.stringify(FIELDS)) return undefined;
  const state = createState(teamId);
  state.team = form.team && revive(form.team, ['createdAt', 'closedAt']);
  for (const member of form.members) {
    putMember(state, member.id, revive(member, ['joinedAt', 'statusSince', 'stoppedAt']));
  }
  for (const task of TASK_COLUMNS.open(form.tasks)) putTask(state, task.id, task);
  for (const id of form.deleted) state.deleted.add(id);
  for (const message of MESSAGE_COLUMNS.open(form.messages)) putMessage(state, message.id, message);
  fill(state.broadcasts, form.broadcasts);
  for (const request of form.requests) {
    putRequest(state, request.id, revive(request, ['requestedAt', 'answeredAt', 'deadline']));
  }
  for (const note of form.notes) state.notes.set(note.id, revive(note, ['createdAt', 'updatedAt']));
  fill(state.memberUsage, form.memberUsage);
  fill(state.taskUsage, form.taskUsage);
  fill(state.accounts, form.accounts);
  fill(state.overlaps, form.overlaps);
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
