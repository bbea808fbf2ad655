/** Things that were opened one after the other, to be closed in the reverse order. */
export interface Closers {
  add(name: string, close: () => unknown): void;
  /** Closes everything once, also when some of it cannot be closed; that is told. */
  close(): Promise<void>;
}

/** A list of what is open. `onError` must not throw. */
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
