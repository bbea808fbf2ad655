import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A git that fails once, at the command that is written into a file: before or after it did its work, as a kill leaves
 * it (`half`): files are written, and the index is not; or killed while it has the lock of the index (`locked`), or
 * because it writes a file of more than 4 or 8 KB (`large`). With `meanwhile`, it does not fail: a program runs first.
 */
export function failingGit(root: string): {
  program: string;
  failAt: (command: string, meanwhile?: string) => void;
  hasFailed: () => boolean;
} {
  const [program, flag] = [join(root, 'failing-git'), join(root, 'fail-at')];
  const script = `#!/bin/sh
if [ -e ${flag} ]; then
  read command when < ${flag}
  case " $* " in *" $command "*)
    rm ${flag}
    [ "$when" = after ] && git "$@"
    [ "$when" = half ] && cp "$GIT_INDEX_FILE" "$GIT_INDEX_FILE.copy" && GIT_INDEX_FILE="$GIT_INDEX_FILE.copy" git "$@"
    [ "$when" = meanwhile ] && sh ${flag}.program && exec git "$@"
    [ "$when" = large ] && ulimit -f 8 && exec git "$@"
    [ "$when" = locked ] && : > "$GIT_INDEX_FILE.lock" && kill -9 $$
    exit 128;;
  esac
fi
exec git "$@"
`;
  writeFileSync(program, script, { mode: 0o755 });
  return {
    program,
    failAt(command, meanwhile = '') {
      writeFileSync(`${flag}.program`, meanwhile);
      writeFileSync(flag, `${command}\n`);
    },
    hasFailed: () => !existsSync(flag),
  };
}
