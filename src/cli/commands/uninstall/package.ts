import { basename, dirname, join, sep } from 'node:path';
import { shellWord } from '../../../core/shell.ts';

/** How to remove the package itself, from where it is: no command can remove the program that runs it. */
export function wordPackage(root: string, { HOME = '' }: Readonly<Record<string, string | undefined>>): string {
  const parent = dirname(root);
  if (basename(parent) !== 'node_modules') return `delete the checkout ${root}`;
  const above = dirname(parent);
  if (above.includes(`${sep}_npx${sep}`)) return `rm -r ${shellWord(above)} (the copy that npx keeps)`;
  // npm puts global packages into PREFIX/lib/node_modules.
  if (basename(above) !== 'lib') return `npm uninstall troupe (in ${above})`;
  const prefix = dirname(above);
  const isUsual =
    prefix === '/usr' || prefix === '/usr/local' || prefix === '/opt/homebrew' || isOfVersions(prefix, HOME);
  return isUsual ? 'npm uninstall -g troupe' : `npm uninstall -g --prefix ${shellWord(prefix)} troupe`;
}

/** Managers of Node versions, whose npm knows its own prefix. */
function isOfVersions(prefix: string, home: string): boolean {
  return ['.nvm', '.local/share/fnm', '.volta', '.asdf', '.local/share/mise'].some((folder) =>
    prefix.startsWith(join(home, folder) + sep),
  );
}
