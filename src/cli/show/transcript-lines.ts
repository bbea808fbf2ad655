import { paint } from './screen.ts';
import type { Screen } from './screen.ts';
import { cleanLines, fold, paintedWidth } from './text.ts';

/** An entry of a transcript. */
export type Entry = { readonly type: string; readonly at: number; readonly [key: string]: unknown };

/** Prints entries one after the other, as they come. */
export interface EntryWriter {
  /** The text that an entry adds to the output. */
  add(entry: Entry): string;
  /** Ends an unfinished line. */
  end(): string;
}

/**
 * Joins lines that come in pieces; an unfinished line stays open for the next piece. With `isWhole: false`, what comes
 * before the last lines may not be shown, so that nothing refers to it.
 */
export function entryWriter(present: () => Screen, { isWhole = true } = {}): EntryWriter {
  /** The width of the open line. */
  let taken: number | undefined;
  const end = (): string => {
    const rest = taken === undefined ? '' : '\n';
    taken = undefined;
    return rest;
  };
  /** Why work was sent back. The next turn repeats it, for the agent. */
  let said: string | undefined;
  const shortened = (entry: Entry): Entry => {
    if (entry.type === 'rejected' && isWhole) said = String(entry['feedback']);
    const { text } = entry;
    if (entry.type !== 'turn' || typeof text !== 'string') return entry;
    if (!said?.includes('\n') || !text.includes(said)) return entry;
    return { ...entry, text: text.replace(said, () => '(as above)') };
  };
  return {
    add(given) {
      const entry = shortened(given);
      const before = entry['continues'] === true ? taken : undefined;
      const shown = before === undefined ? entryText(entry, present()) : pieceText(entry, before, present());
      if (shown === '') return '';
      const text = before === undefined ? `${end()}${shown}` : shown;
      taken = undefined;
      if (entry['unfinished'] !== true) return text;
      const open = text.slice(0, -1);
      const last = open.slice(open.lastIndexOf('\n') + 1);
      taken = paintedWidth(last) + (open.includes('\n') ? 0 : (before ?? 0));
      return open;
    },
    end,
  };
}

/** The text of entries that are all here. */
export function writeEntries(entries: readonly Entry[], screen: Screen): string {
  const writer = entryWriter(() => screen);
  const texts = wholeLines(entries).map((entry) => writer.add(entry));
  return `${texts.join('')}${writer.end()}`;
}

/** Joins lines that came in pieces, as far as the pieces are here. */
export function wholeLines(entries: readonly Entry[]): Entry[] {
  const whole: Entry[] = [];
  for (const entry of entries) {
    const last = whole.at(-1);
    const isMore = entry.type === 'text' && entry['continues'] === true && last?.type === 'text';
    if (isMore) {
      const text = `${String(last['text'])}${String(entry['text'])}`;
      whole[whole.length - 1] = { ...last, text, unfinished: entry['unfinished'] };
    } else whole.push(entry);
  }
  return whole;
}

/** The text that continues a line after its first `taken` columns. */
function pieceText(entry: Entry, taken: number, screen: Screen): string {
  // The part that is printed already cannot be wrapped any more.
  return fold(`${'x'.repeat(taken)}${linesOf(entry['text'])}\n`, screen, CLOCK).slice(taken);
}

/** A transcript entry for people. Long lines are wrapped under the text, beside the clock. */
export function entryText(entry: Entry, screen: Screen): string {
  return fold(plainEntry(entry, screen), screen, CLOCK);
}

/** The width of the clock and the space after it. */
const CLOCK = 9;

function plainEntry(entry: Entry, screen: Screen): string {
  const clock = paint(screen, 'dim', new Date(entry.at).toTimeString().slice(0, 8));
  switch (entry.type) {
    case 'session':
      return `${clock} ${paint(screen, 'dim', `session ${linesOf(entry['sessionId'])} (${linesOf(entry['agent'])})`)}\n`;
    case 'turn':
      return `${clock} ${paint(screen, 'cyan', `› ${linesOf(entry['text'])}`)}\n`;
    case 'text':
      return `${clock} ${linesOf(entry['text'])}\n`;
    case 'tool':
      return `${clock} ${paint(screen, 'yellow', `⚙ ${linesOf(entry['name'])} ${linesOf(entry['status'])}`)}\n`;
    case 'waiting':
      return `${clock} ${paint(screen, 'yellow', `… waits: ${linesOf(entry['reason'])}`)}\n`;
    case 'permission':
      return `${clock} ${paint(screen, 'yellow', `? asks: ${linesOf(entry['description'] || entry['tool'])}`)}\n`;
    case 'rejected':
      return `${clock} ${paint(screen, 'yellow', `✗ task #${linesOf(entry['taskId'])} was sent back: ${linesOf(entry['feedback'])}`)}\n`;
    case 'turnEnd': {
      const failed = entry['reason'] !== 'done';
      const why = failed && entry['error'] ? `: ${linesOf(entry['error'])}` : '';
      return `${clock} ${paint(screen, failed ? 'red' : 'green', `■ ${linesOf(entry['reason'])}${why}`)}\n`;
    }
    // Bookkeeping: troupe usage shows the cost.
    case 'shown':
    case 'usage':
      return '';
    default:
      return `${clock} ${paint(screen, 'dim', linesOf(entry.type))}\n`;
  }
}

/** Foreign text, with its lines aligned beside the clock. */
function linesOf(text: unknown): string {
  return cleanLines(typeof text === 'string' ? text : '').join(`\n${' '.repeat(CLOCK)}`);
}
