import type { Described } from '../described.ts';
import { choices, firstArgument, firstWords, flagWords, valued, verbs } from './words.ts';
import type { Word } from './words.ts';

/**
 * The completion script for bash: `source <(troupe completion bash)`. No library writes it: in the script of @bomb.sh/tab 0.0.22, the
 * Tab key runs a `$(...)` in the typed line or in an offered word, and offered words are titles and names that agents chose.
 */
export function bashCompletion(commands: readonly Described[]): string {
  const list = (words: readonly Word[]): string => words.map(({ word }) => word).join(' ');
  const nouns = [...verbs(commands)].map(([noun, words]) => `    ${noun}) words='${list(words)}' ;;`);
  const flags = commands.map((command) => `    '${command.words}') flags='${list(flagWords(command))}' ;;`);
  const places = commands.flatMap((command) => {
    const values = firstArgument(command);
    return values.length === 0 ? [] : [`    '${command.words}') words='${values.join(' ')}' ;;`];
  });
  const values = commands.flatMap((command) =>
    choices(command).map((one) => `    '${command.words} ${one.flag}') words='${one.values.join(' ')}' ;;`),
  );
  const takesValue = [...new Set(commands.flatMap((command) => valued(command).map(({ name }) => `--${name}`)))];
  return `# Completion of troupe for bash: source <(troupe completion bash)
_troupe_values() {
  # What the daemon that runs knows: teams, members, tasks, agents. Words come before a tab, what they mean after it.
  local line
  while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done < <("\${COMP_WORDS[0]}" --complete "\${typed[@]}" 2>/dev/null)
}
_troupe() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  local first="\${COMP_WORDS[1]}" command words='' flags='--help' after=2
  # Bash takes --team=demo for three words; two say the same.
  local word
  local -a typed=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do [ "$word" = = ] || typed+=("$word"); done
  if [ "$cur" = = ]; then cur='' typed+=(''); elif [ "$prev" = = ]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${list(firstWords(commands))} --help --version' -- "$cur"))
    return
  fi
  command="$first"
  case "$first" in
${nouns.join('\n')}
  esac
  # A noun may be a command of its own: its flags may follow at once.
  if [ -n "$words" ] && [[ \${COMP_WORDS[2]} == -* ]]; then
    words=''
  elif [ -n "$words" ]; then
    if [ "$COMP_CWORD" -eq 2 ]; then
      COMPREPLY=($(compgen -W "$words --help" -- "$cur"))
      return
    fi
    command="$first \${COMP_WORDS[2]}" after=3 words=''
  fi
  case "$command $prev" in
${values.join('\n')}
  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  case "$prev" in
    ${takesValue.join('|')}) _troupe_values; return ;;
  esac
  case "$command" in
${flags.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq "$after" ]; then
    case "$command" in
${places.join('\n')}
    esac
  fi
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); else _troupe_values; fi ;;
  esac
}
complete -o default -F _troupe troupe
`;
}
