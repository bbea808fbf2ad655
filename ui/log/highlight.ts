import { useEffect } from 'react';
import type { RefObject } from 'react';

const NAME = 'log-hit';

/** Marks a text wherever it is shown in a box, without changing the document. Older browsers mark nothing. */
export function useHighlight(box: RefObject<HTMLElement | null>, text: string): void {
  useEffect(() => {
    if (!('highlights' in CSS) || box.current === null || text === '') return undefined;
    const ranges = [...rangesOf(box.current, text)];
    CSS.highlights.set(NAME, new Highlight(...ranges));
    return () => void CSS.highlights.delete(NAME);
  });
}

/** Scrolls to the first place of a text in an element, also within boxes that scroll themselves. */
export function reveal(element: Element | null | undefined, text: string): void {
  if (!element || text === '') return;
  const [first] = rangesOf(element, text);
  if (!first) return;
  for (let box = first.startContainer.parentElement; box; box = box.parentElement) {
    if (box.scrollHeight <= box.clientHeight || getComputedStyle(box).overflowY === 'visible') continue;
    const { top, height } = first.getBoundingClientRect();
    const view = box.getBoundingClientRect();
    if (top < view.top || top + height > view.bottom) box.scrollTop += top - view.top - view.height / 3;
  }
}

function* rangesOf(element: Element, text: string): Generator<Range> {
  const wanted = text.toLowerCase();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const own = (node.nodeValue ?? '').toLowerCase();
    // In a text that changes its length with its case, places would be wrong.
    if (own.length !== node.nodeValue?.length) continue;
    for (let at = own.indexOf(wanted); at >= 0; at = own.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      yield range;
    }
  }
}
