/** Text that comes in small pieces, told in lines. */
export interface TextFlow {
  add(piece: string): void;
  /** Tells what is left. */
  flush(): void;
}

/** What a tool said, of whatever form: a text, or blocks of which some are texts. */
export function blocksText(content: unknown): string {
  const blocks = Array.isArray(content) ? (content as unknown[]) : [content];
  const texts = blocks.map((block) => {
    if (typeof block === 'string') return block;
    const text = typeof block === 'object' && block !== null && 'text' in block ? block.text : undefined;
    return typeof text === 'string' ? text : '';
  });
  return texts.join('\n');
}

/** How long the beginning of a line may wait for its end. */
const PATIENCE_MS = 500;

/**
 * Tells lines as they end, and after a while what there is of one: a piece per token would be a line each in every
 * transcript, and whole answers would come too late for those who watch.
 */
export function textFlow(tell: (text: string) => void): TextFlow {
  let kept = '';
  let timer: NodeJS.Timeout | undefined;
  const tellUpTo = (end: number): void => {
    clearTimeout(timer);
    timer = undefined;
    const text = kept.slice(0, end);
    kept = kept.slice(end);
    // Lines are told without the break that ends them.
    if (text.trim() !== '') tell(text.replace(/\n$/, ''));
  };
  return {
    add(piece) {
      kept += piece;
      const end = kept.lastIndexOf('\n') + 1;
      if (end > 0) tellUpTo(end);
      if (kept !== '') timer ??= setTimeout(() => tellUpTo(kept.length), PATIENCE_MS);
    },
    flush: () => tellUpTo(kept.length),
  };
}
