import type { Command } from '../../line/command.ts';
import { MEMBER, OPTIONAL_MEMBER, OPTIONAL_TEAM, TEAM } from '../../line/inputs.ts';

/** Commands that only show something. */
export const LOOK_COMMANDS: readonly Command[] = [
  {
    words: 'teams',
    summary: "List the teams; with --native, Claude Code's own teams",
    args: [],
    flags: [{ field: 'native', name: 'native', type: 'boolean', text: "Claude Code's own teams, read-only" }],
    scope: 'reader',
    load: () => import('../teams.ts'),
  },
  {
    words: 'ps',
    summary: 'List the running teammates, and what each does or waits for',
    args: [],
    flags: [OPTIONAL_TEAM],
    load: () => import('../ps.ts'),
  },
  {
    words: 'report',
    summary: 'Report what a team did, who did it, what it cost, what went wrong and what waits',
    args: [TEAM],
    flags: [
      { field: 'markdown', name: 'markdown', type: 'boolean', text: 'as Markdown, for a chat or a pull request' },
    ],
    scope: 'reader',
    more: 'Everything comes from the journal, also of a closed team. troupe up and troupe run end with the part about cost and trouble.',
    load: () => import('../report.ts'),
  },
  {
    words: 'attach',
    summary: 'Follow a member live and type to it',
    args: [MEMBER],
    flags: [OPTIONAL_TEAM],
    load: () => import('../member/attach.ts'),
  },
  {
    words: 'peek',
    summary: 'Show what a member is doing now',
    args: [MEMBER],
    flags: [OPTIONAL_TEAM],
    load: () => import('../member/peek.ts'),
  },
  {
    words: 'watch',
    summary: 'Follow a team live: tasks, members, messages',
    args: [TEAM],
    flags: [
      { field: 'after', name: 'after', type: 'number', text: 'start after this batch (default: the last ten)' },
      { field: 'plain', name: 'plain', type: 'boolean', text: 'one line per event, even on a terminal' },
    ],
    scope: 'reader',
    load: () => import('../watch.ts'),
  },
  {
    words: 'status',
    summary: 'Show the state and address of the daemon, and its teams',
    args: [],
    flags: [],
    operation: 'daemon.status',
    more: 'If no daemon runs, it starts one, like other commands. With TROUPE_NO_AUTOSTART=1 it starts none, and exits with 75.',
    load: () => import('../status.ts'),
  },
  {
    words: 'ui',
    summary: 'Open the dashboard in a browser, logged in; without a display, print its address',
    args: [],
    flags: [
      OPTIONAL_TEAM,
      { field: 'open', name: 'open', type: 'boolean', text: 'start a browser; --no-open only prints', default: true },
    ],
    operation: 'ui.login',
    load: () => import('../ui.ts'),
  },
  {
    words: 'export',
    summary: 'Write the history of a team into one file that any browser opens, without a daemon',
    args: [
      TEAM,
      {
        field: 'file',
        name: 'file',
        type: 'string',
        text: 'the file to write; - is standard output (default: TEAM.html, with --journal TEAM.troupe)',
        isPath: true,
      },
    ],
    flags: [
      {
        field: 'transcripts',
        name: 'transcripts',
        type: 'boolean',
        text: 'with what members and gates wrote, also with their secrets redacted',
      },
      {
        field: 'journal',
        name: 'journal',
        type: 'boolean',
        text: 'its journal and its branch instead, for troupe import on another machine',
      },
      { field: 'force', name: 'force', type: 'boolean', text: 'replace the file if it exists', short: 'f' },
    ],
    scope: 'lead',
    more: 'The file is the dashboard with the time line, tasks, differences, messages and numbers. Secrets are redacted by the rules of the log. It loads nothing and sends nothing. See docs/export.md.',
    load: () => import('../export.ts'),
  },
  {
    words: 'import',
    summary: 'Take in a team from a file of troupe export --journal, with all its members stopped',
    args: [{ field: 'file', name: 'file', type: 'string', text: 'the file', required: true }],
    flags: [{ field: 'name', name: 'as', type: 'string', text: 'another name for the team' }],
    scope: 'admin',
    more: 'Of a team whose members have workspaces: run it in a clone of the repository. What landed comes as a branch. Transcripts, approvals, hooks and secrets do not travel. See docs/export.md.',
    load: () => import('../import.ts'),
  },
  {
    words: 'logs',
    summary: "Show the transcript of a member, or the daemon's log",
    args: [OPTIONAL_MEMBER],
    flags: [
      OPTIONAL_TEAM,
      { field: 'daemon', name: 'daemon', type: 'boolean', text: "the daemon's own log" },
      { field: 'follow', name: 'follow', type: 'boolean', text: 'keep printing new entries', short: 'f' },
      {
        field: 'lines',
        name: 'lines',
        type: 'number',
        text: "the last N lines (default for the daemon's log: 100)",
        short: 'n',
      },
    ],
    load: () => import('../member/logs.ts'),
  },
  {
    words: 'doctor',
    summary: 'Check that Troupe can work here, and say how to fix problems',
    args: [],
    flags: [{ field: 'fix', name: 'fix', type: 'boolean', text: 'mend what can be mended without losing anything' }],
    more: 'With --fix it closes files of the state directory that are open to others, removes what killed processes left, and renews completions and the service. It installs nothing, ends no process and changes no journal.',
    load: () => import('../doctor.ts'),
  },
];
