/** A line of a change: unchanged, added, removed, or a number of lines that are left out. */
export interface EditLine {
  readonly sign: ' ' | '+' | '-' | '…';
  readonly text: string;
}

/** What a tool changes in one file. */
export interface FileEdit {
  readonly path: string;
  readonly lines: readonly EditLine[];
}

/** Unchanged lines around a change. */
const CONTEXT = 3;

/** Texts with more pairs of lines are shown as removed and added: comparing them would take too long. */
const PAIRS = 400_000;

/** The changes that the input of a tool describes, in the words of any agent; undefined if it describes none. */
export function editsOf(name: string, input: unknown): readonly FileEdit[] | undefined {
  if (typeof input === 'string') return patchOf(input);
  if (typeof input !== 'object' || input === null) return undefined;
  const given = input as Fields;
  for (const field of ['patch', 'input', 'patchText']) {
    const value = given[field];
    const found = typeof value === 'string' ? patchOf(value) : undefined;
    if (found) return found;
  }
  const changes = listOf(given['changes']).flatMap(changeOf);
  if (changes.length > 0) return changes;
  const path = textOf(given, PATHS);
  if (path === undefined) return undefined;
  const edits = listOf(given['edits']).flatMap((one) => replaced(one) ?? []);
  if (edits.length > 0) return [{ path, lines: edits.flat() }];
  const lines = replaced(given);
  if (lines) return [{ path, lines }];
  const content = textOf(given, ['content', 'file_text', 'newText']);
  if (content === undefined || !/write|create|edit/i.test(name)) return undefined;
  return [{ path, lines: signed('+', content) }];
}

type Fields = Readonly<Record<string, unknown>>;

const PATHS = ['file_path', 'path', 'filePath', 'absolute_path', 'notebook_path'];
const BEFORE = ['old_string', 'oldString', 'old_str', 'oldText'];
const AFTER = ['new_string', 'newString', 'new_str', 'newText', 'new_source'];

function listOf(value: unknown): readonly Fields[] {
  const all = Array.isArray(value) ? (value as unknown[]) : [];
  return all.filter((one): one is Fields => typeof one === 'object' && one !== null);
}

function textOf(given: Fields, names: readonly string[]): string | undefined {
  return names.map((name) => given[name]).find((value): value is string => typeof value === 'string');
}

function replaced(given: Fields): readonly EditLine[] | undefined {
  const before = textOf(given, BEFORE);
  const after = textOf(given, AFTER);
  return before === undefined || after === undefined ? undefined : compareLines(before, after);
}

function changeOf(change: Fields): FileEdit[] {
  const path = textOf(change, PATHS);
  if (path === undefined) return [];
  const after = textOf(change, AFTER);
  if (after !== undefined) return [{ path, lines: compareLines(textOf(change, BEFORE) ?? '', after) }];
  const { diff } = change;
  if (typeof diff !== 'string') return [];
  const isPatch = /^(?:@@|---|\+\+\+|diff )/m.test(diff);
  return [{ path, lines: isPatch ? patchLines(diff) : signed('+', diff) }];
}

function patchLines(diff: string): readonly EditLine[] {
  return linesOf(diff)
    .filter((line) => !/^(?:--- |\+\+\+ |diff |index |\\ )/.test(line))
    .map((line) => {
      const sign = line[0];
      if (sign === '+' || sign === '-' || sign === ' ') return { sign, text: line.slice(1) };
      return line.startsWith('@@') ? { sign: '…', text: line } : { sign: ' ', text: line };
    });
}

/** The format of `apply_patch`. */
function patchOf(text: string): readonly FileEdit[] | undefined {
  if (!text.includes('*** Begin Patch')) return undefined;
  const files: { path: string; lines: EditLine[] }[] = [];
  for (const line of linesOf(text)) {
    const [, verb, path] = /^\*\*\* (Add|Update|Delete) File: (.*)$/.exec(line) ?? [];
    if (path !== undefined) {
      files.push({ path: verb === 'Delete' ? `${path} (deleted)` : path, lines: [] });
    } else if (!line.startsWith('***')) files.at(-1)?.lines.push(...patchLines(line));
  }
  return files.length > 0 ? files : undefined;
}

/** What changed between two texts, with a few unchanged lines around it. */
export function compareLines(before: string, after: string): readonly EditLine[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < old.length - start && end < fresh.length - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  const middle = compare(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end));
  const same = (lines: readonly string[]): EditLine[] => lines.map((text) => ({ sign: ' ', text }));
  return fold([...same(old.slice(0, start)), ...middle, ...same(old.slice(old.length - end))]);
}

/** The longest common subsequence, from a table of its lengths. */
function compare(old: readonly string[], fresh: readonly string[]): EditLine[] {
  const wide = fresh.length + 1;
  if (old.length * wide > PAIRS) {
    return [
      ...old.map((text) => ({ sign: '-', text }) as const),
      ...fresh.map((text) => ({ sign: '+', text }) as const),
    ];
  }
  const table = new Uint32Array((old.length + 1) * wide);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      const skipped = Math.max(table[(i + 1) * wide + j] as number, table[i * wide + j + 1] as number);
      table[i * wide + j] = old[i] === fresh[j] ? (table[(i + 1) * wide + j + 1] as number) + 1 : skipped;
    }
  }
  const lines: EditLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      lines.push({ sign: ' ', text: old[i] as string });
      [i, j] = [i + 1, j + 1];
    } else if (
      j >= fresh.length ||
      (i < old.length && (table[(i + 1) * wide + j] as number) >= (table[i * wide + j + 1] as number))
    ) {
      lines.push({ sign: '-', text: old[i++] as string });
    } else lines.push({ sign: '+', text: fresh[j++] as string });
  }
  return lines;
}

/** Leaves out unchanged lines that are far from every change. */
function fold(lines: readonly EditLine[]): EditLine[] {
  const isNear = (i: number): boolean =>
    lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(({ sign }) => sign !== ' ');
  const kept: EditLine[] = [];
  let hidden = 0;
  const tell = (): void => {
    if (hidden > 0) kept.push({ sign: '…', text: `${hidden} unchanged ${hidden === 1 ? 'line' : 'lines'}` });
    hidden = 0;
  };
  for (const [i, line] of lines.entries()) {
    if (!isNear(i)) {
      hidden++;
      continue;
    }
    tell();
    kept.push(line);
  }
  tell();
  return kept;
}

function signed(sign: '+' | '-', text: string): EditLine[] {
  return linesOf(text).map((line) => ({ sign, text: line }));
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}
