/** The address of the journal in the state directory. */
export const OWN_ADDRESS = 'sqlite';

/** The address of a journal in a file. */
export function fileAddress(path: string): string {
  return `${OWN_ADDRESS}:${path}`;
}

/** The path in the address of a journal in a file, also in `sqlite://PATH`; undefined for other addresses. */
export function pathInAddress(address: string): string | undefined {
  return /^sqlite:(?:\/\/)?(.+)$/s.exec(address)?.[1];
}
