import { wordMissing } from './look.ts';
import type { Project } from './look.ts';
import { writeProjectFile } from './project-file.ts';
import type { FoundAgent } from './project-file.ts';

/** The names of the templates for team files. */
export type TemplateName = 'project' | 'solo' | 'script' | 'gate' | 'review' | 'feature' | 'mixed' | 'debug' | 'goal';

/** A description of each: the one without a name first, then the smallest. */
export const ABOUT: Readonly<Record<TemplateName, string>> = {
  project: 'for the project in this folder: its tests as the gate, the agents that are installed; also without a name',
  solo: 'one of your programs does two tasks, one after the other',
  script: 'two programs that share four tasks; needs no agent',
  gate: 'one agent, and your check, which sends its work back until it passes',
  review: 'three agents review a change, each for one thing, and a fourth combines the reviews',
  feature: 'architect, builder and tester in parallel, with your tests as the gate at the end',
  mixed: 'agents of different vendors: one plans and builds, another tries to break it, within a budget',
  debug: 'competing explanations of one bug, and a judge',
  goal: 'an agent leads: it makes the tasks and starts teammates',
};

/** The templates that need no agent. */
export const OF_PROGRAMS: readonly TemplateName[] = ['solo', 'script'];

/** The templates whose gate is the project's own check. */
export const WITH_CHECK: readonly TemplateName[] = ['gate', 'feature'];

const HEAD = `# A team for Troupe. Run it: troupe up
# Editors check it with the schema above, which describes every key. So does docs/team-files.md of Troupe.
`;

/** What a team file is written for. */
interface TemplateParts {
  readonly team: string;
  readonly agents: readonly FoundAgent[];
  readonly schema: string;
  readonly project: Project;
}

/**
 * A team file for these agents, which take turns. Without an agent it names the usual one: `troupe up` then says how to
 * install it. A stand-in program would complete the tasks without doing anything.
 */
export function writeTemplate(name: TemplateName, { team, agents: found, schema, project }: TemplateParts): string {
  const agents = found.map(({ name }) => name);
  let next = 0;
  const member = (who: string, prompt: string): string =>
    memberText(who, prompt, agents.length > 0 ? agents[next++ % agents.length] : undefined);
  // YAML reads a name such as 2026 as a number unless it is quoted.
  const text = /^[a-z]/.test(team) ? team : JSON.stringify(team);
  const rest =
    name === 'project'
      ? writeProjectFile(team, project, found)
      : TEMPLATES[name](member, agents, { command: project.check ?? OWN_CHECK, hint: hintFor(project) });
  // The first line is a convention of editors: https://github.com/redhat-developer/yaml-language-server#using-inlined-schema
  return `# yaml-language-server: $schema=${schema}\n${HEAD}team: ${text}\n${rest}`;
}

/** The command that judges, and what one should know about it. */
interface OwnCheck {
  readonly command: string;
  readonly hint: string;
}

type Template = (
  member: (name: string, prompt: string) => string,
  agents: readonly string[],
  check: OwnCheck,
) => string;

const TEMPLATES: Readonly<Record<Exclude<TemplateName, 'project'>, Template>> = {
  review: (member) => `description: Three members review the same change, a fourth combines the reviews

members:
${member('security', 'You look for what an attacker could use. Name file and line.')}
${member('performance', 'You look for unnecessary work. Name file and line, and say how you know.')}
${member('clarity', 'You look for what the next reader will not understand. Propose the better words.')}
${member('editor', 'You put findings together: worst first, each once, each with what to do.')}

tasks:
  - { id: security, title: Review for security, assign: security }
  - { id: performance, title: Review for performance, assign: performance }
  - { id: clarity, title: Review for clarity, assign: clarity }
  - { id: report, title: Write one review from the three, needs: [security, performance, clarity], assign: editor }
`,
  feature: (member, _agents, check) => `description: A feature built in parallel, with tests as the gate

members:
${member('architect', 'You decide the shape: types and files, no more than is needed.')}
${member('builder', 'You write the code that the architect described.')}
${member('tester', 'You write tests from the description, not from the code.')}

tasks:
  - { id: design, title: Write down types and files, assign: architect }
  - { id: code, title: Write the code, needs: [design], assign: builder }
  - { id: tests, title: Write the tests, needs: [design], assign: tester }
  - { id: join, title: Make all tests pass, needs: [code, tests], assign: builder }

# The gate hears of every task, as JSON on its standard input. It judges the last one: nothing could pass before that.
hooks:
  TaskCompleted:
    command: if grep -q '"task_subject":"Make all tests pass"'; then ${check.command}; fi${check.hint}
    timeout: 5m
    onFailure: block
`,
  debug: (member) => `description: Competing explanations of one bug, and a judge

members:
${member('first', 'Find an explanation of the bug, then try hard to prove it wrong.')}
${member('second', 'Find another explanation than the others have, then try hard to prove it wrong.')}
${member('judge', 'You believe what was shown by running something.')}

tasks:
  - { id: one, title: First explanation, assign: first }
  - { id: two, title: Second explanation, assign: second }
  - { id: verdict, title: Say which one holds and what the fix is, needs: [one, two], assign: judge }
`,
  gate: (member, _agents, check) => `description: Work that counts only if your check agrees

members:
${member('builder', 'Do the task. If the check rejects it you get its output: fix the work, do not argue.')}

tasks:
  - { id: change, title: Say here what to change, assign: builder }

# Exit code 0 agrees; any other sends the work back, with the end of what the check wrote.
hooks:
  TaskCompleted: { command: ${check.command}, timeout: 5m, onFailure: block }${check.hint}
`,
  mixed: (member) => `description: One agent builds, one of another vendor tries to break it

budget: { turns: 60, time: 1h }

members:
${member('builder', 'Say what you will change before you change it. Small steps, each with a test.')}
    plan: required                 # it begins when you say yes: troupe approve
${member('breaker', 'Show by running something that the work is wrong, or say that you could not.')}

tasks:
  - { id: build, title: Say here what to build, assign: builder }
  - { id: break, title: Try to break what was built, needs: [build], assign: breaker }
  - { id: mend, title: Fix what was found, needs: [break], assign: builder }
`,
  goal: (_member, agents) => `description: A lead makes the tasks, starts teammates, and answers at the end

lead:
  agent: ${agents[0] ?? 'claude'}
  delegate: true
  prompt: "Say here what the team should achieve."

# The agents that the lead may start, with their settings: model, mode, permissions, command, args, env.
agents:
${(agents.length > 0 ? agents : ['claude']).map((agent) => `  ${agent}: { mode: edit }`).join('\n')}
`,
  solo: () => `description: One program, one task after the other

# It is run once per task: the task comes as JSON on standard input, its output is the result, its exit code the verdict.
members:
  - { name: worker, agent: { exec: [sh, -c, 'cat > /dev/null; echo done by $TROUPE_MEMBER_NAME'] } }

tasks:
  - { id: first, title: The first thing }
  - { id: second, title: What needs it, needs: [first] }
`,
  script: () => `description: Plain programs as a team

members:
  - { name: worker-1, agent: { exec: [sh, -c, 'cat > /dev/null; echo done by $TROUPE_MEMBER_NAME'] } }
  - { name: worker-2, agent: { exec: [sh, -c, 'cat > /dev/null; echo done by $TROUPE_MEMBER_NAME'] } }

tasks:
  - { id: first, title: The first thing }
  - { id: left, title: One half, needs: [first] }
  - { id: right, title: The other half, needs: [first] }
  - { id: last, title: Put it together, needs: [left, right] }
`,
};

/** The check of a project whose own check is unknown. It does not exist yet, and `troupe up` says so. */
const OWN_CHECK = './check.sh';

function hintFor({ check, missing }: Project): string {
  if (check === undefined) return '   # write it, or name your own: npm test, cargo test …';
  return missing === undefined ? '' : `   # ${wordMissing(missing)}: mend that, or name another command`;
}

/** JSON is valid YAML, so nothing in a prompt can end the text early. */
function memberText(name: string, prompt: string, agent: string | undefined): string {
  const runs = agent ?? 'claude';
  return `  - name: ${name}\n    agent: ${runs}\n    prompt: ${JSON.stringify(prompt)}`;
}
