/** One place for every call that may be under way at a time without two of them meeting. */
const PLACES = 64;

/**
 * The calls of a client that wait for their answers, by their number. Not a `Map`: one in which entries come and go is laid
 * out anew every few dozen of them, and each layout leads to the next. Once V8 has moved one of these to its old
 * generation, all that follow stay alive behind it, with the calls that were in them and their answers, until a full
 * collection. With 16 in flight the collector then took a third of a client's time.
 */
export class Calls<T extends { readonly id: number }> {
  readonly #places: T[][] = Array.from({ length: PLACES }, () => []);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(call: T): void {
    this.#places[call.id % PLACES]?.push(call);
    this.#size++;
  }

  /** By what a frame has as its id, which may be anything. */
  get(id: unknown): T | undefined {
    return this.#placeOf(id)?.find((call) => call.id === id);
  }

  /** The call, which is not among them any more. */
  take(id: unknown): T | undefined {
    const place = this.#placeOf(id);
    const found = place?.find((call) => call.id === id);
    if (!place || !found) return undefined;
    const last = place.pop() as T;
    if (last !== found) place[place.indexOf(found)] = last;
    this.#size--;
    return found;
  }

  /** All of them, in the order in which they were made. */
  list(): T[] {
    return this.#places.flat().sort((a, b) => a.id - b.id);
  }

  #placeOf(id: unknown): T[] | undefined {
    return typeof id === 'number' ? this.#places[id % PLACES] : undefined;
  }
}
