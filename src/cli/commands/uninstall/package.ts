import { realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join, sep } from 'node:path';
import { shellWord } from '../../../core/shell.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How to remove the package itself, from where it is: no command can remove the program that runs it. */
export function wordPackage(root: string, environment: Environment): string {
  const parent = dirname(root);
  if (basename(parent) !== 'node_modules') {
    const links = findLinks(root, environment).map((prefix) => `${uninstall(prefix, environment)}, then `);
    return `${links.join('')}delete the checkout ${root}`;
  }
  const above = dirname(parent);
  if (above.includes(`${sep}_npx${sep}`)) return `rm -r ${shellWord(above)} (the copy that npx keeps)`;
  // npm puts global packages into PREFIX/lib/node_modules.
  if (basename(above) !== 'lib') return `npm uninstall troupe (in ${above})`;
  return uninstall(dirname(above), environment);
}

function uninstall(prefix: string, { HOME = '' }: Environment): string {
  const isUsual =
    prefix === '/usr' || prefix === '/usr/local' || prefix === '/opt/homebrew' || isOfVersions(prefix, HOME);
  return isUsual ? 'npm uninstall -g troupe' : `npm uninstall -g --prefix ${shellWord(prefix)} troupe`;
}

/** Prefixes on the PATH into which `npm link` put a link to a checkout. */
function findLinks(root: string, { PATH = '' }: Environment): string[] {
  const prefixes = new Set(PATH.split(delimiter).map((folder) => dirname(folder)));
  return [...prefixes].filter((prefix) => leadsTo(join(prefix, 'lib/node_modules/troupe'), root));
}

function leadsTo(path: string, root: string): boolean {
  try {
    return realpathSync(path) === realpathSync(root);
  } catch {
    return false;
  }
}

/** Managers of Node versions, whose npm knows its own prefix. */
function isOfVersions(prefix: string, home: string): boolean {
  return ['.nvm', '.local/share/fnm', '.volta', '.asdf', '.local/share/mise'].some((folder) =>
    prefix.startsWith(join(home, folder) + sep),
  );
}
