const ROOT = new URL('../../', import.meta.url);

/** Loads a module of the page, or of a package, by its name alone: with React's types those of all tests would have a browser. */
export async function loadPart<T>(name: string): Promise<T> {
  const place = name.startsWith('ui/') ? new URL(name, ROOT).href : name;
  return (await import(place)) as T;
}
