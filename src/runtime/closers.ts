/** Things that were opened one after another, to be closed in reverse order. */
export interface Closers {
  add(name: string, close: () => unknown): void;
  /** Closes everything once; reports what fails and goes on. */
  close(): Promise<void>;
}

/** An empty list. `onError` must not throw. */
export function createClosers(onError: (error: unknown, name: string) => void): Closers {
  const open: { name: string; close: () => unknown }[] = [];
  let closing: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    for (let next = open.pop(); next; next = open.pop()) {
      try {
        await next.close();
      } catch (error) {
        onError(error, next.name);
      }
    }
  }

  return {
    add: (name, close) => void open.push({ name, close }),
    close: () => (closing ??= closeAll()),
  };
}
