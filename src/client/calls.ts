/** Buckets of the hash table: up to this many calls can be in flight before two share a bucket. */
const PLACES = 64;

/**
 * The pending calls of a client, by id. Not a `Map`: V8 rehashes a `Map` after every few dozen insertions and
 * deletions, and each old table points to the next. Once V8 has moved one table to the old generation, all later tables
 * stay alive until a full collection, together with their calls and answers. With 16 calls in flight, garbage
 * collection then took a third of a client's time.
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

  /** Finds a call by the id of a frame, which may be of any type. */
  get(id: unknown): T | undefined {
    return this.#placeOf(id)?.find((call) => call.id === id);
  }

  /** Removes the call and returns it. */
  take(id: unknown): T | undefined {
    const place = this.#placeOf(id);
    const found = place?.find((call) => call.id === id);
    if (!place || !found) return undefined;
    const last = place.pop() as T;
    if (last !== found) place[place.indexOf(found)] = last;
    this.#size--;
    return found;
  }

  /** All pending calls, oldest first. */
  list(): T[] {
    return this.#places.flat().sort((a, b) => a.id - b.id);
  }

  #placeOf(id: unknown): T[] | undefined {
    return typeof id === 'number' ? this.#places[id % PLACES] : undefined;
  }
}
