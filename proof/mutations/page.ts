import type { FigureResult } from '../results.ts';
import { reasonOf } from '../survivors.ts';
import { intervalOf, percent } from './score.ts';
import type { MutationScore, Survivor } from './score.ts';

/** The rest is in `proof/results.json`. */
const SHOWN = 40;

/** The section of `docs/proof.md` about mutants: a table of rooms, and which mutants survived. */
export function renderMutations(results: readonly FigureResult[]): string {
  const result = results.find(({ name }) => name === 'mutations');
  const scores = Object.values(result?.parts ?? {}).flatMap(({ mutations, seed }) =>
    mutations ? [{ ...mutations, seed }] : [],
  );
  if (scores.length === 0) return '';
  const rows = scores.map((score) => {
    const [least, most] = intervalOf(score);
    const { open, accepted } = sort(score);
    const share = `**${percent(score.killed / score.sample)}** | ${percent(least)} to ${percent(most)}`;
    return `| ${score.room} | ${score.mutants} | ${score.sample} | ${score.killed} (${score.hung}) | ${share} | ${accepted.length} | ${open.length} | ${score.seed} |`;
  });
  return `## Which changes of the code tests notice

A mutant is one small change: a condition becomes true or false, a comparison another one, a call or an assignment is left out, a text is empty. Each is switched on in
turn while the tests that reach it run. It is killed if a test fails, or hangs. The mutants are a random sample of all of a room; the interval holds the share of all in 95 of
100 samples. Another seed gives another sample: \`TROUPE_SEED=7 npm run proof -- --again mutations\`, or of one room \`TROUPE_SEED=7 node proof/mutations/main.ts core --sample 200\`.

| room | mutants | tried | killed (hung) | share | 95 % | survived with a reason | open | seed |
|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}

${scores.map(renderSurvivors).join('')}`;
}

function sort({ survivors }: MutationScore): { open: Survivor[]; accepted: Survivor[] } {
  const { open = [], accepted = [] } = Object.groupBy(survivors, (one) =>
    reasonOf(one) === undefined ? 'open' : 'accepted',
  );
  return { open, accepted };
}

function renderSurvivors(score: MutationScore): string {
  const { open, accepted } = sort(score);
  const known = accepted.map((one) => `${show(one)}: ${reasonOf(one)}`);
  const shown = open.slice(0, SHOWN).map((one) => `${show(one)}${one.isCovered ? '' : ' (no test reaches it)'}`);
  const more =
    open.length > SHOWN ? [`- ${open.length - SHOWN} more in [proof/results.json](../proof/results.json)`] : [];
  const list = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? '' : `${title}:\n\n${lines.join('\n')}\n\n`;
  return (
    list(`Survived in ${score.room}, with a reason`, known) +
    list(`Survived in ${score.room}, open`, [...shown, ...more])
  );
}

function show({ file, line, was, now }: Survivor): string {
  return `- ${file}:${line} ${code(was)} → ${now === '' ? 'left out' : code(now)}`;
}

/** Code in a line of Markdown, whatever is in it. */
function code(text: string): string {
  const short = text.length > 100 ? `${text.slice(0, 99)}…` : text;
  const fence = '`'.repeat(Math.max(0, ...[...short.matchAll(/`+/g)].map(([ticks]) => ticks.length)) + 1);
  return fence === '`' ? `\`${short}\`` : `${fence} ${short} ${fence}`;
}
