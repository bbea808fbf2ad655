/**
 * Every limit on a team's data, with its reason. A value over its limit is refused, never cut: a shortened message is a
 * lost one.
 */

/** Names stay short enough for file names, pane titles and one column of a terminal. */
export const NAME_LENGTH = 64;

/** A title is one line in a list; Claude Code's titles are much shorter. Characters. */
export const TITLE_LENGTH = 500;

/** A model reads the whole description: 64 KiB is about 16,000 tokens. Bytes. */
export const DESCRIPTION_BYTES = 64 * 1024;

/** The result of a task, or why it failed; the lead reads all of it. Bytes. */
export const RESULT_BYTES = 64 * 1024;

/** A model reads the whole message; longer texts belong in a file that the message names. Bytes. */
export const MESSAGE_BYTES = 64 * 1024;

/** A plan is a separate document, which a person reads. Bytes. */
export const PLAN_BYTES = 256 * 1024;

/** A spawn prompt may carry a role, conventions and a brief. Bytes. */
export const PROMPT_BYTES = 128 * 1024;

/** A file that a member reads before it begins. */
export const SKILL_BYTES = 64 * 1024;

/** One short line: summaries, roles, models, reasons. Characters. */
export const LINE_LENGTH = 1000;

/** Free data of other programs; it is copied with every change of its record. Bytes of JSON. */
export const METADATA_BYTES = 16 * 1024;

/** V8 parses deeper JSON but cannot serialize it (RangeError at about 10,000 levels). */
export const JSON_DEPTH = 64;

/** The cost of claims and cycle checks grows with it. A task that waits for more should wait for one gathering task. */
export const DEPENDENCIES_PER_TASK = 64;

/** The highest id that a caller may choose. Later tasks count on from it, and ids end at 10^15: enough for any team. */
export const CHOSEN_TASK_ID = 10 ** 12;

/** People and models do not read longer lists; deleted tasks do not count. */
export const TASKS_PER_TEAM = 10_000;

/** How many deleted tasks can be reopened; older ones leave memory and snapshots. 100,000 of them took 67 MB. */
export const DELETED_TASKS = 1_000;

/** How deep teams may be inside of teams, unless the outermost says otherwise: each level multiplies what is spent. */
export const DEFAULT_DEPTH = 2;

/** The most that a team may say. */
export const MAX_DEPTH = 4;

/** The file of a team that runs a member. It is stored with the member. Bytes. */
export const TEAM_FILE_BYTES = 64 * 1024;

/** The files of a team and of all teams inside it. */
export const INNER_FILES = 16;

/** Few enough to follow, and a limit on what a runaway lead can spend. */
export const DEFAULT_TEAMMATES = 8;

/** The highest value for the default above. The lead does not count. */
export const MAX_TEAMMATES = 32;

/** What one member may send on average, and a third of it at once: enough to work together, too little to flood. */
export const MESSAGES_PER_MINUTE = 30;

/** The highest value that a person may set: as good as no limit. */
export const MAX_MESSAGES_PER_MINUTE = 1_000_000;

/** How many other teams one team exchanges messages with. */
export const PEERS_PER_TEAM = 32;

/** What all members of one other team may send to a team, and as many at once after a pause: 260 in a night. */
export const PEER_MESSAGES_PER_HOUR = 20;

/** A message from another team: less than one from a member, because its reader did not ask for it. Bytes. */
export const PEER_MESSAGE_BYTES = 16 * 1024;

/** How many members an agent that leads may start; people have no such limit. */
export const SPAWNS_PER_MINUTE = 10;

/** Messages delivered, acknowledged or marked read in one step. */
export const MESSAGES_PER_STEP = 1_000;

/** How many earlier sessions a message remembers: older ones are not expected to be alive. */
export const FORMER_SESSIONS = 16;

/** How many past commands a team remembers, so that a retry after a lost answer has no second effect. */
export const REMEMBERED_COMMANDS = 4_096;

/** An id chosen by a caller (message, command, session). Characters. */
export const ID_LENGTH = 128;

/** The limit for each count in one usage record: thousands of the largest still add up exactly. */
export const USAGE_COUNT = 10 ** 12;

/** The limit for the cost in one usage record: no sum of them exceeds what JSON can hold. US dollars. */
export const USAGE_COST = 10 ** 9;

/** A note is a line or a paragraph; documents belong in files. Bytes. */
export const NOTE_BYTES = 16 * 1024;

/** As many as tasks: each task may leave a note. */
export const NOTES_PER_TEAM = 10_000;

/** How many paths of a work the journal names; git has the others. */
export const PATHS_PER_WORK = 200;

/** How many paths the journal names of what two members changed alike. */
export const PATHS_PER_OVERLAP = 50;

/** Patterns of files on a task. Claims compare them with those of all tasks in progress. */
export const FILES_PER_TASK = 16;

/** One pattern of files: a path with wildcards. Characters. */
export const PATTERN_LENGTH = 200;

/** How many works are judged together. If they are rejected, finding out which takes three more runs of the gates. */
export const WORKS_PER_LANDING = 8;

/** Hooks run one after another before a completion counts. */
export const HOOKS_PER_TEAM = 32;

/** How often a gate may reject the same work before a person has to look at it. */
export const REJECTIONS_PER_TASK = 5;

/** How often the work for a task may conflict with what landed before a person has to look at it. */
export const CONFLICTS_PER_TASK = 5;

/** How many comments a review has. */
export const COMMENTS_PER_REVIEW = 100;

/** A comment of a review. */
export const COMMENT_BYTES = 4 * 1024;

/** What a holder gets of a review. */
export const REVIEW_BYTES = 32 * 1024;

/** When an unanswered request to a person counts as rejected; soon for a permission: an agent waits. Milliseconds. */
export const ANSWER_WITHIN = {
  permission: 10 * 60_000,
  gate: 24 * 3_600_000,
  budget: 24 * 3_600_000,
  restart: 24 * 3_600_000,
  hang: 24 * 3_600_000,
  account: 24 * 3_600_000,
  work: 24 * 3_600_000,
  /** After that, a person is asked in the reviewer's place. */
  review: 3_600_000,
  question: 24 * 3_600_000,
} as const;

/** How long a teammate may take to answer its lead's shutdown request; it may be in the middle of a task. Milliseconds. */
export const SHUTDOWN_WITHIN = 10 * 60_000;

/** A question is read on a phone, too; longer texts belong in a file that the question names. Bytes. */
export const QUESTION_BYTES = 8 * 1024;

/** As many answers as a person compares at a glance. */
export const CHOICES_PER_QUESTION = 8;

/** A choice is a button. Characters. */
export const CHOICE_LENGTH = 120;

/** Open questions of one member; a person who gets more reads none of them. */
export const QUESTIONS_PER_MEMBER = 3;

/** How long members take new work after their lead has left for good. They finish tasks they hold. Milliseconds. */
export const LEAD_GRACE_MS = 60_000;

/** Restarts of a crashing member per minute: prevents hot loops, and teams that only seem alive. */
export const RESTARTS = 3;

/** Restarts of a crashing member in 12 hours, unless its team says otherwise: each begins its task over and costs. */
export const RESTARTS_PER_NIGHT = 20;

/** The most that a team may say. */
export const MAX_RESTARTS_PER_NIGHT = 100;

/** A lease of a task: a client may need a while for a call, and a week is no lease any more. */
export const SHORTEST_LEASE_MS = 1_000;
export const LONGEST_LEASE_MS = 7 * 24 * 3_600_000;
