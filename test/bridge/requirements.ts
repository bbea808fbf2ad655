import { test } from 'vitest';
import type { TestContext } from 'vitest';

/** The versions of Claude Code whose behaviour was measured. */
export const VERSIONS = ['2.1.37', '2.1.177', '2.1.325'] as const;

interface Requirement {
  /** What the program does and the bridge relies on. */
  readonly says: string;
  /** The first and the last version that do it. */
  readonly from: (typeof VERSIONS)[number];
  readonly to: (typeof VERSIONS)[number];
}

const ALL = { from: '2.1.37', to: '2.1.325' } as const;
const NEWER = { from: '2.1.177', to: '2.1.325' } as const;
const NEWEST = { from: '2.1.325', to: '2.1.325' } as const;
const OLDER = { from: '2.1.37', to: '2.1.177' } as const;
const OLDEST = { from: '2.1.37', to: '2.1.37' } as const;

/** Every behaviour of Claude Code that the bridge relies on. Each has a test that names it. */
export const REQUIREMENTS = {
  'layout-paths': { says: 'teams/T/config.json, teams/T/inboxes/N.json, tasks/T/ID.json', ...ALL },
  'layout-root': { says: 'CLAUDE_CONFIG_DIR, else ~/.claude', ...ALL },
  'layout-session-tasks': { says: 'a session without a team keeps its tasks under its UUID', ...ALL },
  'layout-modes': {
    says: 'files 0644 and directories 0755 with the usual umask, which every user of the machine can read',
    ...ALL,
  },
  'json-form': { says: 'two spaces, no line end after the last line', ...ALL },
  'json-torn': { says: 'files written in place are at moments empty, half, or new over old', ...ALL },
  'config-full': { says: 'name, leadAgentId, members with agentId and name', ...ALL },
  'config-simple': { says: 'a simplified form with teamName and bare members exists', ...ALL },
  'config-lead-process': { says: 'leadProcess names the pid and start of the lead', ...NEWEST },
  'config-needs-lead-id': { says: 'without leadAgentId a teammate notifies itself for ever', ...OLDEST },
  'config-unknown-kept': { says: 'unknown fields stay, at the top and in members', ...ALL },
  'config-lock': { says: 'config.json.lock is taken for changes', ...NEWER },
  'config-active': { says: 'teammates in panes keep isActive', ...ALL },
  'task-form': { says: 'id, subject, description, activeForm, owner, status, blocks, blockedBy, metadata', ...ALL },
  'task-id': { says: 'the next id is one more than all ids and the high-water mark', ...ALL },
  'task-metadata-kept': { says: 'metadata survives a rewrite, other unknown fields do not', ...ALL },
  'task-delete': { says: 'deleting removes the file and raises the high-water mark', ...ALL },
  'task-create-lock': { says: 'tasks/T/.lock.lock is taken to make a task', ...ALL },
  'task-lock': { says: 'tasks/T/ID.json.lock is taken to change a task', ...NEWER },
  'task-internal': { says: 'a task with metadata _internal stands for a teammate and is hidden', ...OLDEST },
  'task-no-lock': { says: 'tasks are rewritten in place without any lock', ...OLDEST },
  'task-claims-unchecked': { says: 'a claim succeeds on a task that is held or blocked', ...ALL },
  'inbox-form': { says: 'from, text, summary, timestamp, color, read', ...ALL },
  'inbox-ids': { says: 'entries have msg_id and type', ...NEWEST },
  'inbox-marks-read': { says: 'a delivered entry stays, with read true', ...OLDEST },
  'inbox-removes-read': { says: 'a delivered entry is taken out', ...NEWER },
  'inbox-drops-malformed': { says: 'entries without text or timestamp are dropped', ...NEWEST },
  'inbox-unknown-kept': { says: 'unknown fields of entries stay', ...ALL },
  'inbox-lock-loses': { says: 'what is sent to an inbox that is locked is lost', ...OLDEST },
  'inbox-lock-retries': { says: 'an inbox that is locked is tried 11 times within 0.7 s', ...NEWEST },
  'lock-mkdir': {
    says: 'a lock is a directory FILE.lock: made to take it (0777 less the umask), removed to give it back',
    ...ALL,
  },
  'lock-stale': { says: 'a lock older than 10 s is taken over', ...ALL },
  'resume-keeps-tasks': {
    says: 'a clean exit removes the team and keeps its tasks; resumed, the team is made again with its lead alone',
    ...NEWEST,
  },
  'lead-killed': { says: 'the files of a lead that was killed stay, and so do its panes', ...ALL },
  'delete-removes-tasks': { says: 'deleting a team removes its tasks, too', ...OLDEST },
  'external-members': { says: 'a member that somebody else put into config.json can be written to', ...ALL },
  'external-sender': { says: 'a message reaches its reader whoever wrote it into the inbox', ...ALL },
  'external-shutdown': {
    says: 'one that it did not start is asked to stop, and must leave config.json itself',
    ...ALL,
  },
  'idle-notice': { says: 'idle_notification tells the lead that a teammate has nothing to do', ...ALL },
  'lead-polls': { says: 'the lead reads its inbox only while it has a teammate that it started', ...NEWEST },
  'teammate-command': { says: 'CLAUDE_CODE_TEAMMATE_COMMAND is run in the pane, with the flags of a teammate', ...ALL },
  'teammate-listed-late': { says: 'a teammate in a pane is started before it is listed and has its prompt', ...OLDEST },
  'shutdown-unasked': { says: 'shutdown_approved without a request takes a teammate off the list', ...OLDER },
  'permission-strict': {
    says: 'a permission_request for Bash with a key that it does not know ends the program',
    ...OLDEST,
  },
  'permission-answers': { says: "its person's answer comes as permission_response, its model sees neither", ...ALL },
  'plan-answers': {
    says: "a plan_approval_request is shown to the lead's model, whose answer comes back by id",
    ...ALL,
  },
  'lead-signs': { says: 'what the lead writes to teammates in panes has lead_sig', ...NEWEST },
  'protocol-text': { says: 'a text that is JSON with a type is protocol', ...ALL },
  'teammate-flags': { says: 'a program that we start with an identity is a teammate of our team', ...ALL },
  'teammate-session': { says: 'it takes --session-id, and --resume goes on with that conversation', ...ALL },
  'teammate-record': { says: 'projects/*/ID.jsonl has prompts, answers, usage and the end of each turn', ...ALL },
  'teammate-plan': { says: 'with --plan-mode-required it asks its lead, and does as it is answered', ...ALL },
  'teammate-permission': {
    says: 'what it may not do it asks its lead for, and runs the input that it is given',
    ...ALL,
  },
  'teammate-shutdown': { says: 'it approves or rejects a request to shut down, and ends after it approved', ...ALL },
  'teammate-mail-between-turns': { says: 'mail that comes in a turn becomes a turn of its own', ...ALL },
} as const satisfies Record<string, Requirement>;

/** A requirement's name. */
export type RequirementId = keyof typeof REQUIREMENTS;

/** Names the behaviours that a test of another form shows. */
export function shows(...ids: readonly RequirementId[]): void {
  for (const id of ids) if (!(id in REQUIREMENTS)) throw new Error(`${id} is not in the manifest`);
}

/** A test that shows how the bridge copes with behaviours of the program. */
export function proves(
  ids: RequirementId | readonly RequirementId[],
  title: string,
  run: (context: TestContext) => unknown,
  timeout?: number,
): void {
  for (const id of [ids].flat()) {
    if (!(id in REQUIREMENTS)) throw new Error(`${id} is not in the manifest`);
  }
  test(title, async (context) => void (await run(context)), timeout);
}
