import type { AgentEvent } from './agent.ts';

/** Text that comes in small pieces, reported in lines. */
export interface TextFlow {
  add(piece: string): void;
  /** Reports the rest; later pieces are another text. */
  flush(): void;
}

/** The text of a tool's output, which is a text or a list of blocks. */
export function blocksText(content: unknown): string {
  const blocks = Array.isArray(content) ? (content as unknown[]) : [content];
  const texts = blocks.map((block) => {
    if (typeof block === 'string') return block;
    const text = typeof block === 'object' && block !== null && 'text' in block ? block.text : undefined;
    return typeof text === 'string' ? text : '';
  });
  return texts.join('\n');
}

/** How much of a tool's output goes into a transcript, in characters. */
const OUTPUT_LIMIT = 1024 * 1024;

/** The output of a tool for viewers. Of one that is too long, the middle is left out: its end says how it went. */
export function keepOutput(text: string): string {
  if (text.length <= OUTPUT_LIMIT) return text;
  const half = OUTPUT_LIMIT / 2;
  return `${text.slice(0, half)}\n[${text.length - OUTPUT_LIMIT} characters left out]\n${text.slice(-half)}`;
}

/** How long the beginning of a line may wait for its end. */
const PATIENCE_MS = 500;

/**
 * Reports lines as they end, and an unfinished line after a while. One event per token would be one line each in every
 * transcript, and whole answers would come too late for viewers. The reported texts add up to the original: each begins
 * a line or says that it continues one. Blank lines are kept, but never reported alone.
 */
export function textFlow(tell: (said: Extract<AgentEvent, { type: 'text' }>) => void): TextFlow {
  let kept = '';
  let isBegun = false;
  let isMidLine = false;
  let timer: NodeJS.Timeout | undefined;
  const tellUpTo = (end: number, isLast = false): void => {
    clearTimeout(timer);
    timer = undefined;
    const part = kept.slice(0, end);
    if (part.trim() === '') return;
    kept = kept.slice(end);
    const text = (isBegun ? part : part.replace(/^(?:[^\S\n]*\n)+/, '')).replace(/\n$/, '');
    const endsLine = isLast || part.endsWith('\n');
    tell({ type: 'text', text, ...(isMidLine && { continues: true }), ...(!endsLine && { unfinished: true }) });
    isBegun = true;
    isMidLine = !endsLine;
  };
  return {
    add(piece) {
      kept += piece;
      if (isMidLine && kept.startsWith('\n')) {
        kept = kept.slice(1);
        isMidLine = false;
      }
      const end = kept.lastIndexOf('\n') + 1;
      if (end > 0) tellUpTo(end);
      if (kept !== '') timer ??= setTimeout(() => tellUpTo(kept.length), PATIENCE_MS);
    },
    flush() {
      tellUpTo(kept.length, true);
      kept = '';
      isBegun = false;
      isMidLine = false;
    },
  };
}
