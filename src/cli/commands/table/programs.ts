import type { Command, Input } from '../../line/command.ts';
import { OPTIONAL_TEAM } from '../../line/inputs.ts';

/** Programs that run until they are stopped. */
export const PROGRAMS: readonly Command[] = [
  {
    words: 'serve',
    summary: 'Run the daemon in the foreground',
    args: [],
    flags: [
      text('home', 'PATH', 'the state directory ($TROUPE_HOME)'),
      text('port', 'N', 'for the dashboard, WebSocket and HTTP MCP (default: the last one, else a free one)'),
      text('host', 'ADDRESS', 'another address than 127.0.0.1 needs the next three flags'),
      text('tls-cert', 'FILE', 'the certificate'),
      text('tls-key', 'FILE', 'its key'),
      list('origin', 'URL', 'a web page that may use it; can be repeated'),
      text('bind', 'ADDRESS', 'the same as --host'),
      text('journal', 'PLACE', 'sqlite:PATH, nats://host:port for several machines, or memory ($TROUPE_JOURNAL)'),
      text('name', 'NAME', "its name among daemons that share a journal (default: the machine's name)"),
      list('label', 'WORD', 'a label that members can ask for, such as gpu; can be repeated'),
      {
        ...text('log-level', 'WORD', 'how much it writes to its log'),
        values: ['debug', 'info', 'warn', 'error'],
        default: 'info',
      },
      { field: 'json', name: 'json', type: 'boolean', text: 'report as JSON that it is ready' },
    ],
    more: 'Other commands start the daemon in the background if none runs. Use serve to see its output, or to start it from systemd. Ctrl-C or troupe stop ends it. Permanent settings (journal, name, labels) belong in config.yaml of the state directory.',
    plain: true,
    loadProgram: async () => (await import('../serve.ts')).runServe,
  },
  {
    words: 'mcp',
    summary: 'Serve the team tools to an MCP client, over standard input and output',
    args: [],
    flags: [
      { ...OPTIONAL_TEAM, value: 'NAME', text: 'the team of calls that name none' },
      text('as', 'NAME', 'the member you act for'),
    ],
    more: 'For the configuration of an agent: command "troupe", arguments ["mcp", "--team", "demo", "--as", "worker-1"]. The team tools are offered with one of these flags, with TROUPE_TEAMS=1 or CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1, or to an agent with its own credential (TROUPE_TOKEN or TROUPE_TOKEN_FILE; troupe member token NAME --team TEAM makes one). TROUPE_TEAMS=0 switches them off. So does CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=0, unless TROUPE_TEAMS=1 is set.',
    plain: true,
    loadProgram: async () => (await import('../mcp.ts')).runMcp,
  },
  {
    words: 'acp',
    summary: 'Offer a team as one agent to an editor (Agent Client Protocol), over standard input and output',
    args: [],
    flags: [
      text('file', 'FILE', "the team file (default: troupe.yaml in the session's folder, if there is one)"),
      text('lead', 'AGENT', 'without a team file: the agent that leads (default: claude)'),
      list('with', 'AGENTS', 'without a team file: the agents of its teammates'),
      text('model', 'NAME', 'without a team file: the model of the lead'),
      {
        ...text('mode', 'WORD', 'without a team file: what they may do without asking'),
        values: ['plan', 'edit', 'full'],
      },
      { field: 'keep', name: 'keep', type: 'boolean', text: 'let the team go on when the editor is gone' },
    ],
    more: 'For the settings of an editor: command "troupe", arguments ["acp"]. Each session is a team of its own: a prompt is a goal for its lead, the plan shows its tasks, and its requests are permissions to answer. --lead ignores a troupe.yaml. When the editor is gone, the members stop; the session can be loaded again.',
    plain: true,
    loadProgram: async () => (await import('../acp.ts')).runAcp,
  },
];

function text(name: string, value: string, words: string): Input {
  return { field: name, name, type: 'string', value, text: words };
}

function list(name: string, value: string, words: string): Input {
  return { ...text(name, value, words), type: 'list' };
}
