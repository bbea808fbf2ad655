/** Emits every item, even if a listener throws. After the last item it throws the first error. */
export function emitAll<T>(items: Iterable<T>, emit: (item: T) => void): void {
  const errors: unknown[] = [];
  for (const item of items) {
    try {
      emit(item);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
