/** A binary min-heap of numbers, kept as a plain array. */
export type Heap = number[];

/** Adds a key. */
export function push(heap: Heap, key: number): void {
  let at = heap.length;
  heap.push(key);
  while (at > 0) {
    const up = (at - 1) >> 1;
    const parent = heap[up] as number;
    if (parent <= key) break;
    heap[at] = parent;
    at = up;
  }
  heap[at] = key;
}

/** Removes the least key. */
export function pop(heap: Heap): void {
  const last = heap.pop();
  const size = heap.length;
  if (last === undefined || size === 0) return;
  let at = 0;
  for (;;) {
    let down = 2 * at + 1;
    if (down >= size) break;
    if (down + 1 < size && (heap[down + 1] as number) < (heap[down] as number)) down++;
    if ((heap[down] as number) >= last) break;
    heap[at] = heap[down] as number;
    at = down;
  }
  heap[at] = last;
}
