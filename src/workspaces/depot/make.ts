import { constants } from 'node:fs';
import { appendFile, copyFile, link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TeamError } from '../../core/errors.ts';
import type { Checkout } from '../checkout.ts';
import { FETCH, splitLines } from '../git.ts';
import type { Git } from '../git.ts';
import { isFolder } from '../places.ts';
import { openHandle } from './handle.ts';
import type { DepotHandle } from './handle.ts';

/** What of the checkout is in the depot, and where. Other refs are not copied. */
const REFSPECS = [
  '+HEAD:refs/checkout/HEAD',
  '+refs/heads/*:refs/checkout/heads/*',
  '+refs/tags/*:refs/checkout/tags/*',
];

/** Makes a depot in an empty place. What is left after a failure is debris. */
export async function makeDepot(git: Git, dir: string, checkout: Checkout): Promise<void> {
  await mkdir(dir, { mode: 0o700 });
  await git.init(dir, checkout.format);
  await mkdir(join(dir, 'no-tree'));
  await mkdir(join(dir, 'info'));
  await appendFile(join(dir, 'config'), PRECIOUS);
  const handle = openHandle(git, dir);
  await takeIn(handle, checkout, { isNew: true });
}

/** Folders borrow these objects, so no command may ever remove one. */
const PRECIOUS = '[core]\nrepositoryFormatVersion = 1\n[extensions]\npreciousObjects = true\n';

/** Takes in what is new in the checkout: commits, ignored patterns, settings. Reads the checkout and changes nothing there. */
export async function takeIn(handle: DepotHandle, checkout: Checkout, { isNew = false } = {}): Promise<void> {
  // What an earlier checkout ignored still holds.
  if (checkout.isAbsent) return;
  await writeFile(join(handle.dir, 'info', 'exclude'), checkout.ignored);
  await takeSettings(handle, checkout);
  // A pack over a pipe would be a second copy, and a partial clone cannot make one.
  if (isNew || checkout.isPartial) {
    await linkObjects(checkout, handle.dir);
    if (await copyRefs(handle, checkout)) return;
    if (checkout.isPartial) throw incomplete(checkout);
  }
  await fetchAll(handle, checkout);
}

/** Sets what is not set yet: mostly that is nothing, and git need not start. */
async function takeSettings({ dir, run }: DepotHandle, { settings }: Checkout): Promise<void> {
  const known = await readFile(join(dir, 'config'), 'utf8').catch(() => '');
  // Later settings win. All are of `core`.
  const last = new Map(settings.map((setting) => setting.split('=') as [string, string]));
  for (const [key, value] of last) {
    if (!known.includes(`\t${key.replace('core.', '')} = ${value}\n`)) await run(['config', key, value]);
  }
}

/** Fetches over a pipe. Git checks that everything arrived. */
async function fetchAll({ alone, run }: DepotHandle, checkout: Checkout): Promise<void> {
  // The user's own git has decided that this folder may be used; upload-pack sees none of the settings above.
  const serve = '--upload-pack=git -c safe.directory=* upload-pack';
  await alone(() =>
    run([...FETCH, '--prune', '--update-shallow', serve, checkout.folder, ...REFSPECS], {
      config: ['protocol.file.allow=always'],
    }),
  );
}

/** Where the refs of the checkout are. Beside them are those of its uncommitted changes. */
const KINDS = ['refs/checkout/HEAD', 'refs/checkout/heads', 'refs/checkout/tags'];

/** Sets the refs to what the checkout has, if all that they need is here. */
async function copyRefs(handle: DepotHandle, checkout: Checkout): Promise<boolean> {
  const { git, run } = handle;
  const names = ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/tags'];
  const { out } = await git.ask(checkout.folder, names);
  const wanted = new Map([['refs/checkout/HEAD', checkout.head]]);
  for (const line of splitLines(out)) {
    const [id = '', ref = ''] = line.split(' ');
    wanted.set(ref.replace(/^refs\//, 'refs/checkout/'), id);
  }
  const ids = [...new Set(wanted.values())].join('\n');
  // Objects that a collection in the checkout moved meanwhile, or that it borrows itself, are not here.
  const commits = await run(['rev-list', '--count', '--stdin'], { input: ids, exits: [0, 1, 128] });
  const files = await run(['rev-list', '--objects', '--no-walk', '--quiet', '--missing=error', checkout.head], {
    exits: [0, 1, 128],
  });
  if (commits.code !== 0 || files.code !== 0) return false;
  const listed = await run(['for-each-ref', '--format=%(refname)', ...KINDS]);
  const gone = splitLines(listed.out).filter((ref) => !wanted.has(ref));
  await handle.changeRefs([
    ...gone.map((ref) => ({ ref, to: undefined })),
    ...[...wanted].map(([ref, to]) => ({ ref, to })),
  ]);
  return true;
}

/** Gives the depot every object file of the checkout: as a hard link where the disk can, else as a copy. */
async function linkObjects({ commonDir, isShallow }: Checkout, dir: string): Promise<void> {
  const from = join(commonDir, 'objects');
  const to = join(dir, 'objects');
  for (const folder of await readdir(from)) {
    const isPack = folder === 'pack';
    if (!isPack && !/^[0-9a-f]{2}$/.test(folder)) continue;
    if (!(await isFolder(join(from, folder)))) continue;
    await mkdir(join(to, folder), { recursive: true });
    const kind = isPack ? /^pack-[0-9a-f]+\.(?:pack|idx|rev|promisor)$/ : /^[0-9a-f]{38,62}$/;
    for (const name of await readdir(join(from, folder))) {
      if (kind.test(name)) await linkFile(join(from, folder, name), join(to, folder, name));
    }
  }
  if (isShallow) await writeFile(join(dir, 'shallow'), await readFile(join(commonDir, 'shallow')));
}

async function linkFile(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENOENT: a collection in the checkout removed it. What is missing in the end is found out and fetched.
    if (code === 'EEXIST' || code === 'ENOENT') return;
    // On another disk. On a full one, this fails as well.
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  }
}

function incomplete({ folder }: Checkout): TeamError {
  const command = `git -C ${JSON.stringify(folder)} fetch --refetch --no-filter`;
  return new TeamError(
    'conflict',
    `${folder} is a partial clone, and files of its current commit are not on this machine. Run: ${command}`,
  );
}
