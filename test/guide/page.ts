/** Something that the guide tells its reader to do, or to see. */
export interface Block {
  /** The number of the section. */
  readonly section: number;
  /** The language of the block: `console`, `sh`, `yaml`, `text`, and others. */
  readonly language: string;
  /** What stands above it, in one line. */
  readonly said: string;
  readonly lines: readonly string[];
}

/** A command of a `console` block, and what the page shows below it. */
export interface Shown {
  readonly command: string;
  readonly output: readonly string[];
}

/** Reads the blocks of a page, in order. */
export function readBlocks(page: string): Block[] {
  const found: Block[] = [];
  let section = 0;
  let said = '';
  const lines = page.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    const heading = /^## (\d+)/.exec(line);
    if (heading) section = Number(heading[1]);
    const fence = /^```(\w+)$/.exec(line);
    if (!fence) {
      if (line !== '') said = lines[at - 1] === '' ? line : `${said} ${line}`;
      continue;
    }
    const end = lines.indexOf('```', at);
    found.push({ section, language: fence[1] as string, said, lines: lines.slice(at + 1, end) });
    said = '';
    at = end;
  }
  return found;
}

/** The commands of a `console` block. */
export function readCommands({ lines }: Block): Shown[] {
  const found: { command: string; output: string[] }[] = [];
  for (const line of lines) {
    if (line.startsWith('$ ')) found.push({ command: line.slice(2).replace(/ +#.*/, ''), output: [] });
    else found.at(-1)?.output.push(line);
  }
  return found;
}

/** What differs from run to run: numbers, times, ids, addresses, widths. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.source, '[-0-9a-f]{36}'],
  [/#code=\S+/.source, '#code=\\S+'],
  [/message_id="[^"]*"/.source, 'message_id="[^"]*"'],
  [/boundary="[^"]*"/.source, 'boundary="[^"]*"'],
  [/\b(?=[0-9a-f]*[0-9])[0-9a-f]{7}\b/.source, '[0-9a-f]{7}'],
  // A duration may have another unit.
  [/\d+(?:\.\d+)? (?:ms|s|min|GB|MB)\b/.source, '[\\d.]+ \\w+(?: \\d+ s)?'],
  [/\d+(?:\.\d+)*/.source, '[\\d.]+'],
  [/[━─]+/.source, '[━─]+'],
  // What did not fit is cut off, where it did not fit.
  [/\S*…/.source, '.*'],
  [/\s+/.source, '\\s+'],
].map(([source, pattern]) => [new RegExp(`^(?:${source})`), pattern as string]);

/** A pattern for a line of the page: exact, but for what differs from run to run. A long one may be wrapped. */
function patternOf(line: string): RegExp {
  let pattern = '';
  for (let rest = line.trim(); rest !== '';) {
    const [found, text] = VARIABLE.map(([one, by]) => [by, one.exec(rest)?.[0]] as const).find(([, hit]) => hit) ?? [];
    pattern += found ?? rest.charAt(0).replace(/\W/, '\\$&');
    rest = rest.slice(text?.length ?? 1);
  }
  return new RegExp(`(?<=^[^\\S\\n]*)${pattern}(?=[^\\S\\n]*$)`, 'gm');
}

/** The first line of the page that was not seen; undefined if all were. A line of dots stands for any others. */
export function firstMissing(
  expected: readonly string[],
  seen: string,
  { inOrder = true }: { readonly inOrder?: boolean } = {},
): string | undefined {
  let from = 0;
  for (const line of expected) {
    if (line.trim() === '' || line.trim() === '…') continue;
    const pattern = patternOf(line);
    pattern.lastIndex = inOrder ? from : 0;
    if (!pattern.test(seen)) return line;
    from = pattern.lastIndex;
  }
  return undefined;
}
