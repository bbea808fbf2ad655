import type { Described, DescribedInput } from '../described.ts';
import { kindOf } from './place.ts';
import { firstArgument, firstWords, verbs } from './words.ts';

/** The completion script for fish: `troupe completion fish > ~/.config/fish/completions/troupe.fish`. */
export function fishCompletion(commands: readonly Described[]): string {
  const nouns = [...verbs(commands).keys()];
  const top = firstWords(commands).map(
    ({ word, text }) => `complete -c troupe -n __troupe_first -a ${word} -d ${quote(text)}`,
  );
  const second = [...verbs(commands)].flatMap(([noun, words]) =>
    words.map(({ word, text }) => `complete -c troupe -n '__troupe_verb ${noun}' -a ${word} -d ${quote(text)}`),
  );
  return `# Completion of troupe for fish: troupe completion fish > ~/.config/fish/completions/troupe.fish
function __troupe_words
  commandline -opc | string match -v -- '-*'
end
function __troupe_first
  test (count (__troupe_words)) -eq 1
end
function __troupe_verb
  set -l words (__troupe_words)
  test (count $words) -eq 2; and test $words[2] = $argv[1]
end
function __troupe_in
  set -l words (__troupe_words)
  contains -- "$words[2]" ${nouns.join(' ')}; and test "$words[2] $words[3]" = "$argv[1]"; or test "$words[2]" = "$argv[1]"
end
function __troupe_values
  troupe --complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null
end
complete -c troupe -f
complete -c troupe -n __troupe_first -l version -d 'Print the version'
${[...top, ...second, ...commands.flatMap(flagLines)].join('\n')}
`;
}

function flagLines(command: Described): string[] {
  const where = `complete -c troupe -n ${quote(`__troupe_in '${command.words}'`)}`;
  const values = firstArgument(command);
  return [
    ...command.flags.map((flag) => `${where} -l ${flag.name}${shortOf(flag)}${valueOf(flag)} -d ${quote(flag.text)}`),
    ...(values.length === 0 ? [] : [`${where} -a ${quote(values.join(' '))}`]),
    ...(command.args.some(kindOf) ? [`${where} -a ${ASKED}`] : []),
  ];
}

function shortOf({ short }: DescribedInput): string {
  return short === undefined ? '' : ` -s ${short}`;
}

/** Values that the daemon knows, asked for on demand. */
const ASKED = quote('(__troupe_values)');

function valueOf(input: DescribedInput): string {
  const { type, values } = input;
  if (type === 'boolean') return '';
  if (kindOf(input)) return ` -x -a ${ASKED}`;
  return values ? ` -x -a ${quote(values.join(' '))}` : ' -x';
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", `\\'`)}'`;
}
