/** Answers that were made last and may be asked for again soon. */
export interface Recent<T> {
  /** The answer under this key; made if it is not here. Callers at the same time wait for the same one. */
  get(key: string, make: () => Promise<T>): Promise<T>;
}

/** Keeps the last answers, up to `most` in all. A larger one is kept alone. */
export function openRecent<T>(most: number, weigh: (answer: T) => number): Recent<T> {
  const known = new Map<string, { readonly answer: Promise<T>; weight: number }>();

  return {
    get(key, make) {
      const entry = known.get(key) ?? { answer: make(), weight: 0 };
      // A map keeps its order, so the first is the one that nobody asked for the longest.
      known.delete(key);
      known.set(key, entry);
      entry.answer.then(
        (answer) => {
          entry.weight = weigh(answer);
          forget();
        },
        () => known.delete(key),
      );
      return entry.answer;
    },
  };

  function forget(): void {
    let total = [...known.values()].reduce((sum, { weight }) => sum + weight, 0);
    for (const [key, { weight }] of known) {
      if (total <= most || known.size === 1) return;
      known.delete(key);
      total -= weight;
    }
  }
}
