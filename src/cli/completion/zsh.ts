import { shellQuote } from '../../client/shell.ts';
import type { Described, DescribedInput } from '../described.ts';
import { completedCommands, firstWords, verbs } from './words.ts';
import type { Word } from './words.ts';

/** What zsh reads, as a file \`_troupe\` in its function path or by \`source\`. */
export function zshCompletion(): string {
  const nouns = [...verbs()].map(
    ([noun, words]) => `    ${noun})
      if (( CURRENT == 3 )); then
        local -a verbs=(${described(words)})
        _describe -t verbs verb verbs
        return
      fi
      command="$command \${words[3]}" skip=2 ;;`,
  );
  const commands = completedCommands().map(
    (command) => `    ${shellQuote(command.words)}) _arguments -S ${specs(command).map(shellQuote).join(' ')} ;;`,
  );
  return `#compdef troupe
# Completion of troupe for zsh: put this file as _troupe into a directory of $fpath, or source <(troupe completion zsh)
_troupe() {
  local command="\${words[2]}" skip=1
  if (( CURRENT == 2 )); then
    local -a commands=(${described(firstWords())})
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
${commands.join('\n')}
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
    return `${place}:${plain(arg.name)}:${arg.values ? `(${arg.values.join(' ')})` : ''}`;
  });
  return [...flags, ...args];
}

function valueOf({ type, name, values }: DescribedInput): string {
  if (type === 'boolean') return '';
  return `:${plain(name)}:${values ? `(${values.join(' ')})` : ''}`;
}

/** Without what ends a description in a specification. */
function plain(text: string): string {
  return text
    .replace(/[[\]:\\]/g, ' ')
    .replace(/ +/g, ' ')
    .trim();
}
