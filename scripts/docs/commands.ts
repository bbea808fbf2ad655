import { COMMANDS } from '../../src/cli/commands/table.ts';
import type { Command } from '../../src/cli/line/command.ts';
import { findCommand, isNoun } from '../../src/cli/line/find.ts';
import { COMMON_FLAGS, flagsOf } from '../../src/cli/line/inputs.ts';
import type { Code, MarkdownDocument } from './document.ts';

/** Commands in documents that do not exist, or have flags that they do not take. */
export function findWrongCommands(documents: readonly MarkdownDocument[], scripts: readonly string[]): string[] {
  return documents.flatMap(({ path, codes }) =>
    codes.flatMap((code) => [
      ...troupeLines(code).flatMap((line) => {
        const problem = problemOf(line);
        return problem === undefined ? [] : [`${path}: troupe ${line.words.join(' ')}: ${problem}`];
      }),
      ...missingScripts(code.text, scripts).map((name) => `${path}: npm run ${name}: there is no such script`),
    ]),
  );
}

/** A command in a text. */
interface Line {
  /** What follows `troupe`. */
  readonly words: readonly string[];
  /** Whether the whole text is this command. In a sentence such as "troupe stop ends it", nobody can tell where it ends. */
  readonly isWhole: boolean;
}

/** Languages in which `troupe` may be a name. */
const OTHER_LANGUAGES: readonly (string | undefined)[] = ['ts', 'js', 'lua', 'json', 'yaml'];

function troupeLines({ text, isBlock, language }: Code): Line[] {
  const isProgram = isBlock && OTHER_LANGUAGES.includes(language);
  return text.split('\n').flatMap((line) =>
    // The first word of `docker run troupe troupe status` is an image.
    [...line.matchAll(/(^|[^\w/.@-])troupe(?:@[\w.-]+)? +(?!troupe )(?=[\w-])/g)].map(({ index, 0: found }) => {
      const before = line.slice(0, index) + (found[0] === 't' ? '' : (found[0] ?? ''));
      // In a session, what a program printed has no prompt.
      const isTyped = !isProgram && (language !== 'console' || line.startsWith('$ '));
      const isWhole = isTyped && /^\s*(\$ |npx (-y )?)?$|&& $|[;|] $|\$\($/.test(before);
      return { words: wordsOf(endOf(line.slice(index + found.length), before)), isWhole };
    }),
  );
}

/** The command ends where the shell says so, or where the text around it is closed. */
function endOf(rest: string, before: string): string {
  const command = /^(?:"[^"]*"|'[^']*'|[^"'#|;&<>()`]|#\d)*/.exec(rest)?.[0] ?? '';
  const isQuoted = /["']$/.test(before);
  return isQuoted ? (/^[^"']*/.exec(rest)?.[0] ?? '') : command;
}

function wordsOf(line: string): string[] {
  // `[TASK or MEMBER]` is one word that may be left out.
  const parts = line.replace(/\[[^\]]*\]/g, 'WORD').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g);
  return [...parts].map(([, double, single, plain]) => double ?? single ?? plain ?? '').filter((word) => word !== '…');
}

function problemOf({ words, isWhole }: Line): string | undefined {
  const [first = '', second] = words;
  // `troupe --help`, `troupe X`: no name of a command is in capitals.
  if (first === 'help' || /^-|^[A-Z]+$/.test(first)) return undefined;
  const found = findCommand(COMMANDS, words);
  if (!found) {
    const isTopic = isNoun(COMMANDS, first) && (second === undefined || second.startsWith('-'));
    return isTopic ? undefined : 'there is no such command';
  }
  return wrongFlag(found.command, found.rest) ?? (isWhole ? tooMany(found.command, found.rest) : undefined);
}

function wrongFlag(command: Command, rest: readonly string[]): string | undefined {
  // A program reads its own flags.
  const flags = [...flagsOf(command), ...COMMON_FLAGS];
  for (const word of rest) {
    if (word === '--') return undefined;
    const [, dashes = '', name = ''] = /^(--?)([a-z][\w-]*)/i.exec(word) ?? [];
    const isKnown = flags.some((flag) =>
      dashes === '--' ? flag.name === name || name === `no-${flag.name}` : flag.short === name,
    );
    if (dashes !== '' && !isKnown) return `it has no flag ${dashes}${name}`;
  }
  return undefined;
}

function tooMany(command: Command, rest: readonly string[]): string | undefined {
  const last = command.args.at(-1)?.type;
  if (last === 'list' || last === 'words' || command.loadProgram) return undefined;
  const flags = [...flagsOf(command), ...COMMON_FLAGS];
  let places = 0;
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    const flag = flags.find(({ name, short }) => word === `--${name}` || word === `-${short}`);
    if (flag && flag.type !== 'boolean') at++;
    else if (!/^--?[a-z]/i.test(word)) places++;
  }
  return places > command.args.length ? `it takes at most ${command.args.length} words` : undefined;
}

function missingScripts(text: string, scripts: readonly string[]): string[] {
  return [...text.matchAll(/npm run (?:--\S+ )*([a-z][\w:-]*)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !scripts.includes(name));
}
