const ROOT = new URL('../../', import.meta.url);

/** Loads a module of the page, or a package, by name: an import would give all tests React's types, and a browser's. */
export async function loadPart<T>(name: string): Promise<T> {
  const place = name.startsWith('ui/') ? new URL(name, ROOT).href : name;
  return (await import(place)) as T;
}
