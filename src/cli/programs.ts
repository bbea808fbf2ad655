import type { Command, Input } from './command.ts';
import { PROGRAMS } from './own.ts';
import { OPTIONAL_TEAM } from './own/inputs.ts';

/** A command that reads its own words, with all that help and completion say of it. They alone need it. */
export interface Program extends Command {
  readonly summary: string;
  readonly flags: readonly ProgramFlag[];
  readonly note: string;
  readonly examples: readonly string[];
}

/** A flag with what help calls its value. */
export interface ProgramFlag extends Input {
  readonly text: string;
  readonly value?: string;
}

/** The program that the words begin with. */
export function findProgram([first]: readonly string[]): Program | undefined {
  return programs().find(({ words }) => words === first);
}

/** The commands that read their own words. */
export function programs(): Program[] {
  return PROGRAMS.flatMap(({ words, summary }) => {
    const about = ABOUT[words];
    return about ? [{ words, summary, args: [], plain: true, ...about }] : [];
  });
}

const ABOUT: Readonly<Record<string, Pick<Program, 'flags' | 'note' | 'examples'>>> = {
  serve: {
    flags: [
      text('home', 'PATH', 'where it keeps everything ($TROUPE_HOME)'),
      text('port', 'N', 'for the dashboard, WebSocket and HTTP MCP (default: the last one, else a free one)'),
      text('host', 'ADDRESS', 'other than 127.0.0.1 only with the next three'),
      text('tls-cert', 'FILE', 'the certificate'),
      text('tls-key', 'FILE', 'its key'),
      list('origin', 'URL', 'a page that may use it; can be given more than once'),
      text('journal', 'PLACE', 'sqlite:PATH, nats://host:port for several machines, or memory ($TROUPE_JOURNAL)'),
      text('name', 'NAME', "what it is called among daemons that share a journal (default: the machine's name)"),
      list('label', 'WORD', 'what it has, for members that need it; can be given more than once'),
      {
        ...text('log-level', 'WORD', 'debug, info, warn or error (default info)'),
        values: ['debug', 'info', 'warn', 'error'],
      },
      { field: 'json', name: 'json', type: 'boolean', text: 'say as JSON that it is ready' },
    ],
    note: `
Other commands start it in the background when it does not run; this is for those who want to see it, or to have
it started by systemd and the like. Ctrl-C or troupe stop ends it. What is always the same can stand in config.yaml in its
home: journal, name, labels.
`,
    examples: ['troupe serve', 'troupe serve --port 4040 --log-level debug'],
  },
  mcp: {
    flags: [
      { ...OPTIONAL_TEAM, value: 'NAME', text: 'the team that calls are about when they name none' },
      text('as', 'NAME', 'the member that you speak for'),
    ],
    note: `
For the configuration of an agent: command "troupe", arguments ["mcp", "--team", "demo", "--as", "worker-1"]. With
one of the flags the team tools are offered; without, they are where TROUPE_TEAMS=1 or
CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1 is set, and to agents with a credential of their own (TROUPE_TOKEN or
TROUPE_TOKEN_FILE; make one with troupe member token NAME --team TEAM). TROUPE_TEAMS=0 switches them off for all of
these, and so does CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=0 unless TROUPE_TEAMS=1 is set.
`,
    examples: ['troupe mcp --team demo --as worker-1', 'claude mcp add troupe -- troupe mcp --team demo --as worker-1'],
  },
};

function text(name: string, value: string, words: string): ProgramFlag {
  return { field: name, name, type: 'string', value, text: words };
}

function list(name: string, value: string, words: string): ProgramFlag {
  return { ...text(name, value, words), type: 'list' };
}
