import type { Arguments } from './arguments.ts';
import type { Command, Input } from './command.ts';
import type { Screen } from './screen.ts';

/** What a command of the command line's own works with. */
export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  readonly screen: Screen;
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal;
}

/** A command that is more than one operation, or none. Its code is loaded when it is called. */
export interface OwnCommand extends Command {
  load(): Promise<{ run(given: Arguments, surroundings: Surroundings): Promise<number> }>;
}

const TEAM: Input = { field: 'teamId', name: 'team', type: 'string', text: 'the team', required: true };

const OPTIONAL_TEAM: Input = { field: 'teamId', name: 'team', type: 'string', text: 'the team' };
const OPTIONAL_MEMBER: Input = { field: 'memberId', name: 'member', type: 'string', text: 'the member' };
const MEMBER: Input = { ...OPTIONAL_MEMBER, required: true };

/** The commands that are not made from the table of operations alone, in the order in which help lists them. */
export const OWN_COMMANDS: readonly OwnCommand[] = [
  {
    words: 'send',
    summary: 'Send a message to a member, or with --all to everybody else',
    args: [
      { field: 'toId', name: 'member', type: 'string', text: 'the member it goes to; leave it out with --all' },
      { field: 'content', name: 'text', type: 'string', text: 'the text; - reads it from standard input' },
    ],
    flags: [
      TEAM,
      { field: 'all', name: 'all', type: 'boolean', text: 'to everybody else on the team' },
      { field: 'urgent', name: 'urgent', type: 'boolean', text: 'reach a running turn instead of waiting for its end' },
      { field: 'summary', name: 'summary', type: 'string', text: 'what it is about, in one line' },
      { field: 'messageId', name: 'message-id', type: 'string', text: 'sent again under the same id, it is sent once' },
      { field: 'metadata', name: 'metadata', type: 'json', text: 'free data as JSON' },
    ],
    scope: 'member',
    load: () => import('./send.ts'),
  },
  {
    words: 'notes',
    summary: 'What the team knows: read and add notes, search them and the results of tasks, see what happened',
    args: [
      {
        field: 'verb',
        name: 'verb',
        type: 'string',
        text: 'what to do: log is what happened to the team',
        values: ['list', 'add', 'search', 'log'],
        default: 'list',
      },
      { field: 'text', name: 'text', type: 'string', text: 'the note, or what to look for; - reads standard input' },
    ],
    flags: [
      TEAM,
      { field: 'tags', name: 'tag', type: 'list', text: 'tags of the new note; the one that listed notes have' },
      { field: 'limit', name: 'limit', type: 'number', text: 'at most so many', short: 'n' },
    ],
    scope: 'reader',
    load: () => import('./notes.ts'),
  },
  {
    words: 'run',
    summary: 'Give a goal to a team of agents, show it at work, print the answer of its lead',
    args: [
      {
        field: 'goal',
        name: 'goal',
        type: 'string',
        text: 'what it is to achieve; - reads it from standard input',
        required: true,
      },
    ],
    flags: [
      { field: 'lead', name: 'lead', type: 'string', text: 'the agent that leads', default: 'claude' },
      { field: 'with', name: 'with', type: 'list', text: 'agents of the teammates, such as codex,gemini' },
      {
        field: 'mode',
        name: 'mode',
        type: 'string',
        text: 'what they may do without asking',
        values: ['plan', 'edit', 'full'],
      },
      { field: 'delegate', name: 'delegate', type: 'boolean', text: 'the lead only coordinates' },
      { field: 'model', name: 'model', type: 'string', text: 'the model of the lead' },
      { field: 'name', name: 'name', type: 'string', text: 'the name of the team; else one is made from the goal' },
      { field: 'folder', name: 'folder', type: 'string', text: 'where they work', default: '.' },
      { field: 'keep', name: 'keep', type: 'boolean', text: 'leave the team up when it is done' },
      {
        field: 'panes',
        name: 'panes',
        type: 'boolean',
        text: 'a pane per member inside tmux or iTerm2; --no-panes for none',
      },
    ],
    scope: 'admin',
    load: () => import('./run.ts'),
  },
  {
    words: 'up',
    summary: 'Bring a team up from its file, show it at work, take it down when all is done',
    args: [{ field: 'file', name: 'file', type: 'string', text: 'the team file', default: 'troupe.yaml' }],
    flags: [
      { field: 'yes', name: 'yes', type: 'boolean', text: 'approve the hooks of the file', short: 'y' },
      { field: 'detach', name: 'detach', type: 'boolean', text: 'return at once; the team works on', short: 'd' },
      { field: 'keep', name: 'keep', type: 'boolean', text: 'leave the team up when the work is done' },
      { field: 'again', name: 'again', type: 'boolean', text: 'begin anew in the place of a team that is closed' },
      {
        field: 'panes',
        name: 'panes',
        type: 'boolean',
        text: 'a pane per member inside tmux or iTerm2; --no-panes for none',
      },
    ],
    load: () => import('./up.ts'),
  },
  {
    words: 'approve',
    summary: 'See what waits for you in all teams (permissions, plans, gates, budgets, restarts), or answer it',
    args: [{ field: 'requestId', name: 'request', type: 'string', text: 'what you answer; leave it out to see all' }],
    flags: [
      OPTIONAL_TEAM,
      { field: 'deny', name: 'deny', type: 'boolean', text: 'say no' },
      { field: 'feedback', name: 'feedback', type: 'string', text: 'what the one who asked is told' },
    ],
    scope: 'admin',
    load: () => import('./approve.ts'),
  },
  {
    words: 'init',
    summary: 'Write a team file to start from',
    args: [
      {
        field: 'template',
        name: 'template',
        type: 'string',
        text: 'what kind of team',
        values: ['review', 'feature', 'debug', 'goal', 'script'],
        default: 'review',
      },
    ],
    flags: [
      {
        field: 'agents',
        name: 'agents',
        type: 'list',
        text: 'who they are, such as claude,codex (default: the agents that are found here)',
      },
      { field: 'file', name: 'file', type: 'string', text: 'where to write it', default: 'troupe.yaml' },
      { field: 'force', name: 'force', type: 'boolean', text: 'over a file that is there' },
    ],
    load: () => import('./init.ts'),
  },
  {
    words: 'teams',
    summary: "List the teams; with --native Claude Code's own, as it keeps them",
    args: [],
    flags: [{ field: 'native', name: 'native', type: 'boolean', text: "Claude Code's own teams, only to look at" }],
    scope: 'reader',
    load: () => import('./teams.ts'),
  },
  {
    words: 'ps',
    summary: 'List the teammates that run',
    args: [],
    flags: [OPTIONAL_TEAM],
    load: () => import('./ps.ts'),
  },
  {
    words: 'attach',
    summary: 'Follow a member live and type to it',
    args: [MEMBER],
    flags: [OPTIONAL_TEAM],
    load: () => import('./attach.ts'),
  },
  {
    words: 'peek',
    summary: 'Show what a member is doing now',
    args: [MEMBER],
    flags: [OPTIONAL_TEAM],
    load: () => import('./peek.ts'),
  },
  {
    words: 'watch',
    summary: 'Follow a team live: tasks, members, messages',
    args: [TEAM],
    flags: [
      { field: 'after', name: 'after', type: 'number', text: 'start after this batch (default: the last ten)' },
      { field: 'plain', name: 'plain', type: 'boolean', text: 'one line per event, also on a terminal' },
    ],
    scope: 'reader',
    load: () => import('./watch.ts'),
  },
  {
    words: 'status',
    summary: 'How the daemon is, and where; and its teams',
    args: [],
    flags: [],
    operation: 'daemon.status',
    load: () => import('./status.ts'),
  },
  {
    words: 'stop',
    summary: 'End the daemon and its teammates, and wait until they are gone',
    args: [],
    flags: [
      {
        field: 'all',
        name: 'all',
        type: 'boolean',
        text: 'the kill switch: end everything at once, also when the daemon hangs',
      },
      {
        field: 'keep',
        name: 'keep',
        type: 'boolean',
        text: 'let the teammates go on: the next daemon takes them over',
      },
    ],
    operation: 'daemon.stop',
    load: () => import('./stop.ts'),
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
    load: () => import('./ui.ts'),
  },
  {
    words: 'logs',
    summary: "Show what a member did and was told, or the daemon's log",
    args: [OPTIONAL_MEMBER],
    flags: [
      OPTIONAL_TEAM,
      { field: 'daemon', name: 'daemon', type: 'boolean', text: "the daemon's own log" },
      { field: 'follow', name: 'follow', type: 'boolean', text: 'go on with what comes', short: 'f' },
      { field: 'lines', name: 'lines', type: 'number', text: 'the last so many', default: 100, short: 'n' },
    ],
    load: () => import('./logs.ts'),
  },
  {
    words: 'doctor',
    summary: 'Check that Troupe can work here, and say what to do where not',
    args: [],
    flags: [],
    load: () => import('./doctor.ts'),
  },
  {
    words: 'journal init',
    summary: 'Set up a journal on NATS servers, or write what the servers need',
    args: [
      {
        field: 'address',
        name: 'address',
        type: 'string',
        text: 'nats://host:port, more servers after commas, ?creds=FILE or ?nkey=FILE',
        required: true,
      },
    ],
    flags: [
      {
        field: 'replicas',
        name: 'replicas',
        type: 'number',
        text: 'servers that keep each team: 1, 3 or 5',
        default: 1,
      },
      { field: 'maxBytes', name: 'max-bytes', type: 'number', text: 'how large a team may grow (default: no bound)' },
      {
        field: 'lease',
        name: 'lease',
        type: 'duration',
        text: 'how long a silent daemon is taken for alive',
        default: 30_000,
      },
      {
        field: 'config',
        name: 'config',
        type: 'string',
        text: 'write example configurations of the servers to this folder',
      },
    ],
    load: async () => ({ run: (await import('./journal.ts')).runInit }),
  },
  {
    words: 'journal copy',
    summary: 'Copy teams from one journal to another, and compare them',
    args: [
      { field: 'from', name: 'from', type: 'string', text: 'sqlite:PATH or nats://host:port', required: true },
      { field: 'to', name: 'to', type: 'string', text: 'the same', required: true },
    ],
    flags: [{ field: 'teams', name: 'teams', type: 'list', text: 'only these' }],
    load: async () => ({ run: (await import('./journal.ts')).runCopy }),
  },
  {
    words: 'completion',
    summary: 'Print what makes a shell complete these commands',
    args: [
      {
        field: 'shell',
        name: 'shell',
        type: 'string',
        text: 'the shell',
        values: ['bash', 'zsh', 'fish'],
        required: true,
      },
    ],
    flags: [],
    load: () => import('./completion.ts'),
  },
];

/** The commands that read their own words: programs that run until they are ended. */
export const PROGRAMS: readonly { words: string; summary: string }[] = [
  { words: 'serve', summary: 'Run the daemon in the foreground' },
  { words: 'mcp', summary: 'Give a team to an MCP client, over standard input and output' },
];
