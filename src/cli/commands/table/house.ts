import type { Command } from '../../line/command.ts';

/** Commands for the daemon, its journal and the shell. */
export const HOUSE_COMMANDS: readonly Command[] = [
  {
    words: 'stop',
    summary: 'Stop the daemon and its teammates, and wait until they have ended',
    args: [],
    flags: [
      {
        field: 'all',
        name: 'all',
        type: 'boolean',
        text: 'kill everything at once, even if the daemon hangs',
      },
      {
        field: 'keep',
        name: 'keep',
        type: 'boolean',
        text: 'leave the teammates running; the next daemon takes them over',
      },
    ],
    more: 'Teammates stay stopped until you bring them up, with troupe up or troupe member restart NAME. Other commands start a daemon again, but no teammate.',
    operation: 'daemon.stop',
    load: () => import('../stop.ts'),
  },
  {
    words: 'journal init',
    summary: 'Set up a journal on NATS servers, or write configurations for them',
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
        text: 'servers that keep each team: 1, 3 or 5 (a new journal: 1)',
      },
      {
        field: 'maxBytes',
        name: 'max-bytes',
        type: 'number',
        text: 'the size limit of a team; 0: no limit (a new journal: 0)',
      },
      {
        field: 'lease',
        name: 'lease',
        type: 'duration',
        text: 'how long a silent daemon counts as alive (a new journal: 30s)',
      },
      {
        field: 'config',
        name: 'config',
        type: 'string',
        text: 'write example server configurations to this folder',
      },
    ],
    load: async () => ({ run: (await import('../journal.ts')).runInit }),
  },
  {
    words: 'journal copy',
    summary: 'Copy teams from one journal to another, and compare them',
    args: [
      { field: 'from', name: 'from', type: 'string', text: 'sqlite:PATH or nats://host:port', required: true },
      { field: 'to', name: 'to', type: 'string', text: 'the same', required: true },
    ],
    flags: [{ field: 'teams', name: 'teams', type: 'list', text: 'only these' }],
    load: async () => ({ run: (await import('../journal.ts')).runCopy }),
  },
  {
    words: 'journal accept',
    summary: 'Continue with a journal that has lost batches',
    args: [
      {
        field: 'address',
        name: 'address',
        type: 'string',
        text: "sqlite:PATH or nats://host:port; by default the daemon's journal",
      },
    ],
    flags: [],
    more: 'The daemon does not start on a journal that has less than it once had. Restore a copy if there is one. This command says what is missing, and lets the daemon start with what is left.',
    load: async () => ({ run: (await import('../journal-accept.ts')).runAccept }),
  },
  {
    words: 'completion',
    summary: 'Print a completion script for a shell',
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
    plain: true,
    load: () => import('../completion.ts'),
  },
  {
    words: 'service install',
    summary: 'Start the daemon at login: a user unit of systemd, an agent of launchd',
    args: [],
    flags: [{ field: 'print', name: 'print', type: 'boolean', text: 'print the file, and change nothing' }],
    more: 'The service has the state directory and the PATH of this terminal, because agents are found by the PATH. It has no secrets: set API keys where you run troupe up. Run it again after you changed the PATH or installed another Node. troupe stop stops the service, too; it starts again at the next login.',
    load: async () => ({ run: (await import('../service.ts')).runInstall }),
  },
  {
    words: 'service remove',
    summary: 'Stop the service and remove its file',
    args: [],
    flags: [],
    load: async () => ({ run: (await import('../service.ts')).runRemove }),
  },
  {
    words: 'service status',
    summary: 'Show whether the service is installed, starts at login and runs',
    args: [],
    flags: [],
    load: async () => ({ run: (await import('../service.ts')).runStatus }),
  },
  {
    words: 'uninstall',
    summary: 'Remove what Troupe made on this machine: state, service, completions',
    args: [],
    flags: [
      { field: 'yes', name: 'yes', type: 'boolean', text: 'do not ask' },
      { field: 'force', name: 'force', type: 'boolean', text: 'also if work of teams is lost that no repository has' },
      { field: 'dry-run', name: 'dry-run', type: 'boolean', text: 'only list it' },
    ],
    more: 'It lists everything first, and work of teams that was never merged. Your repositories, team files and a journal elsewhere stay. It ends with the command that removes the package.',
    load: () => import('../uninstall.ts'),
  },
];
