/** Things that were opened one after the other, to be closed in the reverse order. */
export interface Closers {
  add(name: string, close: () => unknown): void;
  /** Closes everything, also when some of it cannot be closed; the rest is told. Does nothing the second time. */
  close(): Promise<void>;
}

/** A list of what is open. `onError` must not throw. */
export function createClosers(onError: (error: unknown, name: string) => void): Closers {
  const open: { name: string; close: () => unknown }[] = [];
  return {
    add: (name, close) => void open.push({ name, close }),
    async close() {
      for (let next = open.pop(); next; next = open.pop()) {
        try {
          await next.close();
        } catch (error) {
          onError(error, next.name);
        }
      }
    },
  };
}
