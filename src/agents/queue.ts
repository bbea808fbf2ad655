/** A stream with one reader; items pushed before the reader came are kept. */
export interface Pushable<T> extends AsyncIterable<T> {
  readonly push: (item: T) => void;
  /** No more items; the reader ends after the existing ones. */
  end(): void;
}

/** An empty stream. */
export function pushable<T>(): Pushable<T> {
  const items: T[] = [];
  let ended = false;
  let wake = (): void => {};
  return {
    push(item) {
      if (ended) return;
      items.push(item);
      wake();
    },
    end() {
      ended = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (items.length > 0) yield items.shift() as T;
        if (ended) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
