import { chmodSync, chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startFixture } from '../journal/children.ts';

/** Starts a fixture with a project, as a user without rights: root may read and remove everything. */
export function startAsNobody(fixture: string, root: string): ReturnType<typeof startFixture> {
  if (process.getuid?.() !== 0) return startFixture(fixture, [root]);
  const uid = 65_534;
  const paths = readdirSync(root, { recursive: true }).map((path) => join(root, path.toString()));
  for (const path of [root, ...paths]) chownSync(path, uid, uid);
  chmodSync(join(root, '..'), 0o755);
  return startFixture(fixture, [root], { uid });
}
