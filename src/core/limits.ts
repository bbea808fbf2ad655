/**
 * Every bound on a team's data, each with its reason. A value over its bound is refused, never cut: a shortened message
 * is a lost one.
 */

/** Slugs stay short enough for file names, pane titles and one column of a terminal. */
export const NAME_LENGTH = 64;

/** A title is one line in a list; Claude Code's subjects stay far below. Characters. */
export const TITLE_LENGTH = 500;

/** A description is read whole by a model: 64 KiB is about 16,000 tokens. Bytes. */
export const DESCRIPTION_BYTES = 64 * 1024;

/** What a task produced, or why it failed; read whole by the lead. Bytes. */
export const RESULT_BYTES = 64 * 1024;

/** A message is read whole by a model; longer texts belong in a file that the message names. Bytes. */
export const MESSAGE_BYTES = 64 * 1024;

/** A plan is a document of its own, read by a person. Bytes. */
export const PLAN_BYTES = 256 * 1024;

/** A spawn prompt may carry a role, conventions and a brief. Bytes. */
export const PROMPT_BYTES = 128 * 1024;

/** One short line: summaries, roles, models, reasons. Characters. */
export const LINE_LENGTH = 1000;

/** Free data of others; it is copied with every change of its record. Bytes of JSON. */
export const METADATA_BYTES = 16 * 1024;

/** Deeper JSON parses in V8 but cannot be written back (RangeError at about 10,000 levels). */
export const JSON_DEPTH = 64;

/** The cost of a claim and of a cycle check grows with it; a task that waits for more wants a gathering task between. */
export const DEPENDENCIES_PER_TASK = 64;

/** The next task gets the number after it, and numbers end at 10^15: whoever chooses one leaves room for more than a team can have. */
export const CHOSEN_TASK_ID = 10 ** 12;

/** Above it a list is no longer something people or models look at; deleted tasks do not count. */
export const TASKS_PER_TEAM = 10_000;

/** So many deleted tasks can be reopened; what was deleted before them leaves the memory and the snapshots. 100,000 of them took 67 MB. */
export const DELETED_TASKS = 1_000;

/** Few enough to follow, and a bound on what a runaway lead can spend. */
export const DEFAULT_TEAMMATES = 8;

/** Where the default may be raised to. The lead does not count. */
export const MAX_TEAMMATES = 32;

/** What one member may send in the long run, and a third of it at once: enough to work together, too little to flood. */
export const MESSAGES_PER_MINUTE = 30;

/** Where a person may raise it to: as good as no limit. */
export const MAX_MESSAGES_PER_MINUTE = 1_000_000;

/** What an agent that leads may start; a person is not held up. */
export const SPAWNS_PER_MINUTE = 10;

/** Messages handed over, acknowledged or marked read in one step. */
export const MESSAGES_PER_STEP = 1_000;

/** Sessions that a message remembers it was handed to before: who lives on after so many newer ones is not expected. */
export const FORMER_SESSIONS = 16;

/** How many past commands a team remembers, so that one sent again after a lost answer is not done twice. */
export const REMEMBERED_COMMANDS = 4_096;

/** An id chosen by a caller (message, command, session). Characters. */
export const ID_LENGTH = 128;

/** One record of usage, each count of it: thousands of the largest still add up exactly. */
export const USAGE_COUNT = 10 ** 12;

/** One record of usage, its cost: no sum of these leaves what JSON can write. US dollars. */
export const USAGE_COST = 10 ** 9;

/** A note is a line or a paragraph for others to find; documents belong in files. Bytes. */
export const NOTE_BYTES = 16 * 1024;

/** As many as tasks: each task may leave one. */
export const NOTES_PER_TEAM = 10_000;

/** Hooks run one after another before a completion counts. */
export const HOOKS_PER_TEAM = 32;

/** How often the same work may come back from a gate before a person has to look at it. */
export const REJECTIONS_PER_TASK = 5;

/** When a request that only a person answers counts as answered with no: an agent waits for a permission. Milliseconds. */
export const ANSWER_WITHIN = {
  permission: 10 * 60_000,
  gate: 24 * 3_600_000,
  budget: 24 * 3_600_000,
  restart: 24 * 3_600_000,
} as const;

/** How long the others take new work after their lead has gone for good; what they hold they finish. Milliseconds. */
export const LEAD_GRACE_MS = 60_000;

/** A member that crashes is started again so often within a minute: never a hot loop, never a team that only seems alive. */
export const RESTARTS = 3;
