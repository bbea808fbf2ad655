/** Tells every item, also when a listener throws at one of them; the first trouble is thrown when all are told. */
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
