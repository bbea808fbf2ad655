const SECTION = /^## (?<version>\d+\.\d+\.\d+\S*) \((?<when>[^)]*)\)$/gm;
const WAITING = 'not released yet';

/** Gives the waiting section of a version its date. Throws if there is none, it is empty, or it is not the first. */
export function dateChangelog(text: string, version: string, date: string): string {
  const [first] = text.matchAll(SECTION);
  const { version: found = '', when = '' } = first?.groups ?? {};
  if (!first || found !== version || when !== WAITING) {
    throw new Error(`CHANGELOG.md does not begin with "## ${version} (${WAITING})": write what users notice below it`);
  }
  const start = first.index + first[0].length;
  const body = text.slice(start).split(/^## /m)[0] ?? '';
  if (!/^- /m.test(body)) throw new Error(`CHANGELOG.md says nothing about ${version}`);
  return `${text.slice(0, first.index)}## ${version} (${date})${text.slice(start)}`;
}
