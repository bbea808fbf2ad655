/** The beginning of a commit's id, for people. */
export function shortId(id: string): string {
  return id.slice(0, 7);
}
