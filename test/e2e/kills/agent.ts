/** How many files a task writes. */
export const FILES = 8;

/** What a task has in one of its files. */
export function fileOf(task: number, file: number): string {
  return ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((letter) => `task ${task} file ${file} ${letter}\n`).join('');
}

/** All files that a task leaves, besides its line in `lines.txt`. */
export function filesOf(task: number): Record<string, string> {
  const own = Array.from({ length: FILES }, (_, i) => [`work/${task}/d${(i + 1) % 3}/f${i + 1}`, fileOf(task, i + 1)]);
  return {
    ...Object.fromEntries(own),
    [`work/${task}/begun`]: `${task}\n`,
    [`work/${task}/child`]: `${task}\n`,
  };
}

/** Files that the setup reads. Only the first one is there from the beginning. */
const LOCKS = ['package-lock.json', 'Cargo.lock', 'go.sum', 'poetry.lock', 'uv.lock', 'composer.lock', 'mix.lock'];

/** What a task changes that the setup reads: then it runs again in each workspace. Nothing, for most tasks. */
export function lockOf(task: number): string | undefined {
  return task % 4 === 3 ? LOCKS[(task - 3) / 4] : undefined;
}

/**
 * The setup of a workspace: many small steps, and the file that says what it was for comes last. A program of it that is
 * killed ends it with a signal, too: a script that goes on after that would say that it ended well.
 */
export const SETUP = `die() { kill -9 $$; }
rm -rf node_modules && mkdir node_modules || die
for i in 1 2 3 4 5 6 7 8; do echo $i > node_modules/$i; sleep 0.02; done
cat ${LOCKS.join(' ')} > node_modules/ready 2> /dev/null
[ $? -ne 137 ] || die`;

/**
 * A member's program. First it looks whether its folder was handed over whole: set up, and as the base has it except for
 * what this task did before. What is wrong goes into the file `complaints`. Then it does what agents do: writes many
 * files, commits, resets, stashes, has a child that writes, too, and leaves a process behind. Anything of it may be
 * killed. So it ends well only if its last steps went well, and else with a signal, which is no verdict about the task.
 *
 * Between `stash push` and `stash pop`, only the stash says that the task was begun, and the child may have written since.
 */
export function agentProgram(complaints: string): string {
  return `#!/bin/sh
T=$TROUPE_TASK_ID
export GIT_OPTIONAL_LOCKS=0 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
die() { kill -9 $$; }
complain() { echo "task $T of $TROUPE_MEMBER_NAME in $(pwd): $*" >> '${complaints}'; die; }
ask() { said=$("$@" 2>&1); code=$?; [ $code -ne 137 ] || die; [ $code -eq 0 ] || complain "$* says $said"; }
isStashed() { git cat-file -e "stash^3:$1" 2> /dev/null; code=$?; [ $code -ne 137 ] || die; return $code; }
# What a person wrote is no file of git's then, and stays.
back() { git reset -q $head && git reset -q --hard $head; }
write() {
  for i in ${[...Array(FILES).keys()].map((i) => i + 1).join(' ')}; do
    d=work/$T/d$((i % 3)); mkdir -p $d
    printf "task $T file $i %s\\n" a b c d e f g h > $d/f$i || die
  done
}

ask git rev-parse HEAD; head=$said
while ask git log -1 --format=%s $head; [ "$said" = own ]; do ask git rev-parse $head^; head=$said; done
lock=; for f in ${LOCKS.join(' ')}; do
  ask git ls-tree --name-only $head $f; [ -z "$said" ] || { ask git show $head:$f; lock="$lock$said "; }
done
here=; for f in ${LOCKS.join(' ')}; do [ ! -e $f ] || { ask cat $f; here="$here$said "; }; done
ask cat node_modules/ready; ready="$(echo $said) "
[ "$ready" = "$lock" ] || [ "$ready" = "$here" ] || complain "its setup was for $ready, not for $lock"
if [ -e work/$T/begun ] || isStashed work/$T/begun; then
  rm -f .git/*.lock
else
  [ ! -e .git/index.lock ] || complain "a lock in its .git"
  ask git status --porcelain -uall -- . ':!notes'
  [ -z "$said" ] || complain "it is not as its base: $said"
fi

mkdir -p work/$T; echo $T > work/$T/begun
(sleep 0.1; mkdir -p work/$T; echo $T > work/$T/child) & child=$!
setsid sleep 600 > /dev/null 2>&1 < /dev/null &
write
git add work/$T && git commit -q -m own -- work/$T
back
mkdir -p work/$T; echo $T > work/$T/begun; write
git stash push -q -u -- work/$T && git stash pop -q

rm -f .git/*.lock
back || die
wait $child
mkdir -p work/$T; echo $T > work/$T/begun; echo $T > work/$T/child; write
L=$((T * 3))
sed -i "s/^line $L\\$/line $L by task $T/" lines.txt || die
set -- ${LOCKS.join(' ')}
[ $((T % 4)) -ne 3 ] || [ $(((T + 1) / 4)) -gt $# ] || eval "echo $T > \\$$(((T + 1) / 4))"
echo "did $T"
`;
}
