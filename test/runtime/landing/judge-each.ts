import { execFileSync } from 'node:child_process';
import { temporaryFolder } from '../../temporary-folder.ts';
import { plainEnvironment } from '../../workspaces/project.ts';

/** Runs a command on the files of each first-parent commit of a range; throws if one of them is red. */
export function judgeEach(depot: string, range: string, command: string): void {
  const folder = temporaryFolder();
  const script = `
for commit in $(git rev-list --first-parent ${range}); do
  mkdir ${folder}/$commit && git archive $commit | tar -x -C ${folder}/$commit
  (cd ${folder}/$commit && ${command}) || { echo "$commit is red"; exit 1; }
  rm -r ${folder}/$commit
done`;
  execFileSync('sh', ['-c', script], { cwd: depot, env: plainEnvironment(folder), stdio: 'pipe' });
}
