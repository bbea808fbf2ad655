import type { Command, Input } from '../../line/command.ts';
import { OPTIONAL_TEAM } from '../../line/inputs.ts';

/** Programs that run until they are stopped. */
export const PROGRAMS: readonly Command[] = [
  {
    words: 'serve',
    summary: 'Run the daemon in the foreground',
    args: [],
    flags: [
      text('home', 'PATH', 'where it keeps everything ($TROUPE_HOME)'),
      text('port', 'N', 'for the dashboard, WebSocket and HTTP MCP (default: the last one, else a free one)'),
      text('host', 'ADDRESS', 'other than 127.0.0.1 only with the next three'),
      text('tls-cert', 'FILE', 'the certificate'),
      text('tls-key', 'FILE', 'its key'),
      list('origin', 'URL', 'a page that may use it; can be given more than once'),
      text('bind', 'ADDRESS', 'the same as --host'),
      text('journal', 'PLACE', 'sqlite:PATH, nats://host:port for several machines, or memory ($TROUPE_JOURNAL)'),
      text('name', 'NAME', "what it is called among daemons that share a journal (default: the machine's name)"),
      list('label', 'WORD', 'what it has, for members that need it; can be given more than once'),
      {
        ...text('log-level', 'WORD', 'how much it writes to its log'),
        values: ['debug', 'info', 'warn', 'error'],
        default: 'info',
      },
      { field: 'json', name: 'json', type: 'boolean', text: 'say as JSON that it is ready' },
    ],
    more: 'Other commands start it in the background when it does not run; this is for those who want to see it, or to have it started by systemd and the like. Ctrl-C or troupe stop ends it. What is always the same can stand in config.yaml in its home: journal, name, labels.',
    plain: true,
    loadProgram: async () => (await import('../serve.ts')).runServe,
  },
  {
    words: 'mcp',
    summary: 'Give a team to an MCP client, over standard input and output',
    args: [],
    flags: [
      { ...OPTIONAL_TEAM, value: 'NAME', text: 'the team that calls are about when they name none' },
      text('as', 'NAME', 'the member that you speak for'),
    ],
    more: 'For the configuration of an agent: command "troupe", arguments ["mcp", "--team", "demo", "--as", "worker-1"]. With one of the flags the team tools are offered; without, they are where TROUPE_TEAMS=1 or CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1 is set, and to agents with a credential of their own (TROUPE_TOKEN or TROUPE_TOKEN_FILE; make one with troupe member token NAME --team TEAM). TROUPE_TEAMS=0 switches them off for all of these, and so does CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=0 unless TROUPE_TEAMS=1 is set.',
    plain: true,
    loadProgram: async () => (await import('../mcp.ts')).runMcp,
  },
];

function text(name: string, value: string, words: string): Input {
  return { field: name, name, type: 'string', value, text: words };
}

function list(name: string, value: string, words: string): Input {
  return { ...text(name, value, words), type: 'list' };
}
