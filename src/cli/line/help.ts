import { paint } from '../show/screen.ts';
import type { Screen } from '../show/screen.ts';
import { showDuration } from '../show/time.ts';
import { print } from '../show/write.ts';
import type { CommandTable, Input } from './command.ts';
import { describeCommand } from './described.ts';
import type { Described, DescribedInput } from './described.ts';
import { allCommands, commandsOf, findCommand, isNoun, unknownCommand } from './find.ts';

/** Prints the help for a topic: everything, a noun or a command. */
export function printHelp(table: CommandTable, words: readonly string[], screen: Screen): number {
  const topic = (words[0] === 'help' ? words.slice(1) : words).filter((word) => !word.startsWith('-'));
  print(helpFor(table, topic, screen));
  return 0;
}

/** The help for a topic. */
export function helpFor(table: CommandTable, topic: readonly string[], screen: Screen): string {
  const [first] = topic;
  if (first === undefined || first === 'help') return overview(table, screen);
  const found = findCommand(table, topic);
  if (found) return commandHelp(describeCommand(found.command), screen);
  if (!isNoun(table, first) || topic.length > 1) throw unknownCommand(table, topic);
  return nounHelp(first, commandsOf(table, first).map(describeCommand), screen);
}

/** Commands that people start with come first; the others are listed by noun. */
const SECTIONS: readonly (readonly [name: string, words: readonly string[]])[] = [
  ['Run a team', ['run', 'init', 'up', 'ps', 'peek', 'attach', 'approve', 'answer', 'down', 'report', 'claude']],
  [
    'Share the work',
    ['team create', 'member add', 'task add', 'task list', 'task claim', 'task complete', 'send', 'inbox', 'ask'],
  ],
  ['Take the work', ['work', 'diff', 'merge', 'patch', 'pr', 'work clean']],
  ['Look', ['watch', 'status', 'ui', 'logs', 'notes', 'agents', 'doctor']],
  ['The rest', ['stop', 'serve', 'service install', 'journal init', 'journal copy', 'mcp', 'completion', 'uninstall']],
];

function overview(table: CommandTable, screen: Screen): string {
  const commands = allCommands(table).map(describeCommand);
  const listed = SECTIONS.flatMap(([, words]) => words);
  const others = commands.filter(({ words }) => !listed.includes(words));
  const rows = (words: readonly string[]): [string, string][] =>
    words
      .flatMap((one) => commands.filter((command) => command.words === one))
      .map((command) => [synopsis(command), command.summary]);
  const nouns = Map.groupBy(others, ({ words }) => words.split(' ')[0] ?? '');
  const more = [...nouns].map(([noun, list]): [string, string] => [
    noun,
    list.map(({ words, summary }) => (words === noun ? summary : words.slice(noun.length + 1))).join(', '),
  ]);
  return [
    'Troupe: a runtime for teams of coding agents.\n',
    `${title('Usage:', screen)} troupe <command> [arguments] [--json]\n`,
    ...SECTIONS.map(([name, words]) => section(name, rows(words), screen)),
    section('More verbs', more, screen),
    section('Everywhere', SETTINGS, screen),
    'troupe <command> --help shows more of each. troupe alone shows what to do next.\n',
  ].join('\n');
}

const SETTINGS: [string, string][] = [
  [
    '--json',
    'print the result as JSON; standard error then has {"error":{"code","message"}}, or one {"notice"} per line',
  ],
  [
    'exit code',
    '0 done; 1 failed or unfinished; 2 usage; 3 not found; 4 conflict; 5 not allowed; 75 no daemon; 130 interrupted',
  ],
  [
    'TROUPE_TEAM',
    'the team, if --team is not given (default: the team of the folder you are in, else the only open one)',
  ],
  ['TROUPE_MEMBER_NAME', 'the member you act for, if --as is not given'],
  ['TROUPE_TOKEN, TROUPE_TOKEN_FILE', "a member's credential, instead of yours"],
  ['TROUPE_HOME', 'the state directory of the daemon'],
  ['TROUPE_JOURNAL', 'where a new daemon keeps teams; nats://host:port for several machines'],
  ['TROUPE_NO_AUTOSTART', 'set to 1: never start a daemon automatically'],
];

function nounHelp(noun: string, commands: readonly Described[], screen: Screen): string {
  const rows = commands.map((command): [string, string] => [synopsis(command), command.summary]);
  const examples = commands.flatMap((command) => command.examples.slice(0, 1));
  return [
    `${title('Usage:', screen)} troupe ${noun} <verb> [arguments]\n`,
    section('Verbs', rows, screen),
    ...(examples.length === 0 ? [] : [exampleSection(examples, screen)]),
    `troupe ${noun} <verb> --help shows more of each.\n`,
  ].join('\n');
}

function commandHelp(command: Described, screen: Screen): string {
  const { examples } = command;
  return [
    `${foldText(`${command.summary}.`, 0, screen)}\n`,
    `${title('Usage:', screen)} troupe ${synopsis(command)} [flags]\n`,
    ...(command.args.length === 0
      ? []
      : [
          section(
            'Arguments',
            command.args.map((arg) => [arg.required ? `<${arg.name}>` : `[${arg.name}]`, textOf(arg, true)]),
            screen,
          ),
        ]),
    section(
      'Flags',
      command.flags.map((flag) => [flagName(flag), textOf(flag)]),
      screen,
    ),
    ...(command.more === undefined ? [] : [`${foldText(command.more, 0, screen)}\n`]),
    ...(examples.length === 0 ? [] : [exampleSection(examples, screen)]),
  ].join('\n');
}

function synopsis(command: Described): string {
  const args = command.args.map(({ name, required, type }) => {
    const shown = type === 'list' || type === 'words' ? `${name}...` : name;
    return required ? `<${shown}>` : `[${shown}]`;
  });
  return [command.words, ...args].join(' ');
}

function flagName({ name, type, short, values, value }: Input): string {
  const shown = value === undefined ? VALUE_NAMES[type] : ` ${value}`;
  return `${short === undefined ? '' : `-${short}, `}--${name}${values ? ' WORD' : shown}`;
}

const VALUE_NAMES: Readonly<Record<Input['type'], string>> = {
  boolean: '',
  string: ' TEXT',
  number: ' N',
  list: ' A,B',
  texts: ' TEXT',
  words: ' ...',
  json: ' JSON',
  duration: ' TIME',
  time: ' TIME',
};

function textOf({ text, required, default: fallback, values, field, type }: DescribedInput, isPlace = false): string {
  const notes = [
    values?.join(', ') ?? '',
    field === 'teamId' && !isPlace ? '$TROUPE_TEAM' : '',
    required && (isPlace || field !== 'teamId') ? 'required' : '',
    fallback === undefined ? '' : `default: ${type === 'duration' ? showDuration(Number(fallback)) : fallback}`,
  ].filter((note) => note !== '');
  return notes.length === 0 ? text : `${text} (${notes.join('; ')})`;
}

function exampleSection(examples: readonly string[], screen: Screen): string {
  return `${title('Examples', screen)}\n${examples.map((line) => `  ${line}\n`).join('')}`;
}

const NAME_WIDTH = 32;
/** Below this number of columns, a text is on the line below its name. */
const NARROW = 70;

function section(name: string, rows: readonly (readonly [string, string])[], screen: Screen): string {
  const isNarrow = screen.columns < NARROW;
  const width = isNarrow ? 2 : Math.min(NAME_WIDTH, Math.max(...rows.map(([left]) => left.length)));
  const lines = rows.map(([left, right]) => {
    const gap = left.length > width ? `\n${' '.repeat(width + 4)}` : ' '.repeat(width - left.length + 2);
    return `  ${left}${gap}${foldText(right, width + 4, screen)}\n`;
  });
  return `${title(name, screen)}\n${lines.join('')}`;
}

/** Wraps a help text and aligns its lines. */
function foldText(text: string, left: number, screen: Screen): string {
  const room = Math.max(30, Math.min(screen.columns, 120) - left);
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= room) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.join(`\n${' '.repeat(left)}`);
}

function title(text: string, screen: Screen): string {
  return paint(screen, 'bold', text);
}
