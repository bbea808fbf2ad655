/** Lines that changed together. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** What git found above it, such as the name of a function. */
  readonly heading: string;
  /** Each begins with a space, `+`, `-`, or `\` for a note of git's. */
  readonly lines: readonly string[];
}

/** The part of a patch that is about one file. */
export interface Section {
  readonly hunks: readonly Hunk[];
  /** Whether nothing of it is cut off. */
  readonly isWhole: boolean;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;
const NEWLINE = 10;

/**
 * Reads a patch whose end may be cut off. Lines of a hunk are counted, so a line of a file that looks like the
 * head of a patch is a line of a file.
 */
export function readSections(patch: Buffer): Section[] {
  const sections: { hunks: Hunk[]; isWhole: boolean }[] = [];
  let at = 0;
  const next = (): Buffer | undefined => {
    const end = patch.indexOf(NEWLINE, at);
    if (end === -1) return undefined;
    const line = patch.subarray(at, end);
    at = end + 1;
    return line;
  };
  for (let line = next(); line !== undefined; line = next()) {
    const text = line.toString();
    if (text.startsWith('diff --git ')) sections.push({ hunks: [], isWhole: true });
    const head = HUNK.exec(text);
    const section = sections.at(-1);
    if (!head || !section) continue;
    const hunk = readHunk(head, { next, peek: () => patch[at] });
    if (hunk) section.hunks.push(hunk);
    else section.isWhole = false;
  }
  // What follows the last whole line was cut off, in the middle of something.
  const last = sections.at(-1);
  if (at < patch.length && last) last.isWhole = false;
  return sections;
}

interface Lines {
  next(): Buffer | undefined;
  peek(): number | undefined;
}

const BACKSLASH = 92;

/** Reads the lines of a hunk; undefined if some are cut off. */
function readHunk(
  [, oldStart, old = '1', newStart, fresh = '1', heading = '']: RegExpExecArray,
  lines: Lines,
): Hunk | undefined {
  const [oldLines, newLines] = [Number(old), Number(fresh)];
  const found: string[] = [];
  let [oldLeft, newLeft] = [oldLines, newLines];
  while (oldLeft > 0 || newLeft > 0 || lines.peek() === BACKSLASH) {
    const line = lines.next()?.toString();
    if (line === undefined) return undefined;
    // A note of git's comes after the last old line, or the last new one.
    if (!line.startsWith('+')) oldLeft--;
    if (!line.startsWith('-') && !line.startsWith('\\')) newLeft--;
    found.push(line);
  }
  return { oldStart: Number(oldStart), oldLines, newStart: Number(newStart), newLines, heading, lines: found };
}
