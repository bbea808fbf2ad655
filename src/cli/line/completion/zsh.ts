import { shellQuote } from '../../../core/shell.ts';
import type { Described, DescribedInput } from '../described.ts';
import { kindOf } from './place.ts';
import { firstWords, verbs } from './words.ts';
import type { Word } from './words.ts';

/** The completion script for zsh, as a file \`_troupe\` in its function path or by \`source\`. */
export function zshCompletion(commands: readonly Described[]): string {
  const nouns = [...verbs(commands)].map(
    ([noun, words]) => `    ${noun})
      if [[ "\${words[3]}" == -* ]]; then
        : # A noun may be a command of its own: its flags may follow at once.
      elif (( CURRENT == 3 )); then
        local -a verbs=(${described(words)})
        _describe -t verbs verb verbs
        return
      else
        command="$command \${words[3]}" skip=2
      fi ;;`,
  );
  const cases = commands.map(
    (command) => `    ${shellQuote(command.words)}) _arguments -S ${specs(command).map(shellQuote).join(' ')} ;;`,
  );
  return `#compdef troupe
# Completion of troupe for zsh: put this file as _troupe into a directory of $fpath, or source <(troupe completion zsh)
_troupe_values() {
  # What the daemon that runs knows: teams, members, tasks, agents. Words come before a tab, what they mean after it.
  local -a found=("\${(@f)$(\${typed[1]} --complete "\${(@)typed[2,-1]}" 2>/dev/null)}")
  found=("\${(@)found//$'\\t'/:}")
  [[ -n "\${found[1]}" ]] && _describe -t values value found
}
_troupe() {
  local -a typed=("\${(@)words[1,CURRENT]}")
  local command="\${words[2]}" skip=1
  if (( CURRENT == 2 )); then
    local -a commands=(${described(firstWords(commands))})
    _describe -t commands command commands
    return
  fi
  case "$command" in
${nouns.join('\n')}
  esac
  # What follows is completed as if the command's own words were one.
  shift $skip words
  (( CURRENT -= skip ))
  case "$command" in
${cases.join('\n')}
  esac
}
if [ "\${funcstack[1]}" = _troupe ]; then _troupe "$@"; else compdef _troupe troupe; fi
`;
}

function described(words: readonly Word[]): string {
  return words.map(({ word, text }) => shellQuote(`${word}:${text}`)).join(' ');
}

function specs(command: Described): string[] {
  const flags = command.flags.map((flag) => {
    const many = flag.type === 'list' ? '*' : '';
    const equals = flag.type === 'boolean' ? '' : '=';
    return `${many}--${flag.name}${equals}[${plain(flag.text)}]${valueOf(flag)}`;
  });
  const args = command.args.map((arg, at) => {
    const place = arg.type === 'list' ? '*' : String(at + 1);
    return `${place}:${plain(arg.name)}:${actionOf(arg)}`;
  });
  return [...flags, ...args];
}

function valueOf(flag: DescribedInput): string {
  return flag.type === 'boolean' ? '' : `:${plain(flag.name)}:${actionOf(flag)}`;
}

/** The zsh action that lists the values of an input. */
function actionOf(input: DescribedInput): string {
  if (kindOf(input)) return '_troupe_values';
  return input.values ? `(${input.values.join(' ')})` : '';
}

/** Removes characters that would end a description in a zsh specification. */
function plain(text: string): string {
  return text
    .replace(/[[\]:\\]/g, ' ')
    .replace(/ +/g, ' ')
    .trim();
}
