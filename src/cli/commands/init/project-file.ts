import { wordMissing } from './look.ts';
import type { Project } from './look.ts';

/** An installed agent, and what is known about its login. */
export interface FoundAgent {
  readonly name: string;
  /** Where its program is, if it is installed. */
  readonly path?: string | undefined;
  readonly loginState?: 'found' | 'none' | 'unknown' | undefined;
  readonly loginCommand?: string | undefined;
}

/** A team file for a project, with what was found in its folder. Each line has its reason beside it. */
export function writeProjectFile(team: string, project: Project, agents: readonly FoundAgent[]): string {
  const [builder, reviewer = builder] = agents;
  const hasGate = project.check !== undefined && project.missing === undefined;
  return `description: One change, built, tested and reviewed

${explain(whatWasSeen(project, agents))}

members:
${member('builder', builder, 'Small steps. Run the tests before you say that it is done.')}
${member('reviewer', reviewer, 'Look for mistakes in what landed, and fix those that you can show by running something.')}

tasks:
${line('- id: change', 'other tasks name it by this')}
${line('  title: Find one small problem in this project and fix it', 'write here what you want')}
${line('  assign: builder', 'without this line, any free member takes it')}
  - id: review
    title: Review the change
${line('  needs: [change]', 'it waits until that task is completed')}
    assign: reviewer

${project.isRepository ? workOf(team, project) : ''}${gateOf(project)}
${line('budget: { turns: 40, time: 1h }', 'when it is used up, members wait and you are asked', '')}
# More: a lead that makes the tasks itself (troupe init goal), plans that wait for your yes (plan: required on a member),
# notices on your phone (notify). Next: troupe up${hasGate ? '' : '; give it a gate first, above'}
`;
}

/** What a person should know about how the file came about. */
function whatWasSeen({ kind, source, check, missing, isRepository }: Project, agents: readonly FoundAgent[]): string[] {
  return [
    check === undefined
      ? 'Seen in this folder: nothing that says how its tests are run.'
      : `Seen in this folder: ${kind} (${source}). Its tests run with: ${check}${missing === undefined ? '' : ` (${wordMissing(missing)})`}`,
    isRepository
      ? 'It is in a git repository, so each member works in its own copy of what is committed.'
      : 'It is in no git repository, so all members work in this folder itself. git init gives each its own copy.',
    agents.length === 0
      ? 'No agent is installed: troupe agents says how to get one. Until then, a stand-in that changes nothing takes the tasks.'
      : `Agents: ${agents.map((agent) => `${agent.name} (${stateOf(agent)})`).join(', ')}.`,
  ];
}

function stateOf({ path, loginState, loginCommand }: FoundAgent): string {
  if (path === undefined) return 'not installed here';
  if (loginState === 'found') return 'logged in';
  if (loginState !== 'none') return 'whether it is logged in, its program knows';
  return loginCommand === undefined ? 'not logged in' : `not logged in: run ${loginCommand}`;
}

/** JSON is valid YAML, so nothing in a prompt can end the text early. */
function member(name: string, agent: FoundAgent | undefined, prompt: string): string {
  const head = `${line(`- name: ${name}`, 'its name in commands, messages and logs')}\n`;
  if (!agent) {
    return `${head}${line('  agent: { exec: [sh, -c, "cat > /dev/null; echo nothing was changed"] }', 'your program here: the task is on its standard input')}`;
  }
  return `${head}${line(`  agent: ${agent.name}`, 'troupe agents lists what can stand here')}
${line(`  mode: edit`, 'it may change files; for other things it asks you')}
    prompt: ${JSON.stringify(prompt)}`;
}

function workOf(team: string, { setup, missing }: Project): string {
  const about = [
    `What members complete lands on the branch troupe/${team}. troupe diff shows it, troupe merge brings it into your checkout.`,
  ];
  if (setup === undefined) return `${explain(about)}\n\n`;
  if (missing !== undefined) {
    const then = `When ${missing} can run, this makes each copy ready: remove the marks at the beginning of these lines.`;
    return `${explain([...about, then, 'work:', `  setup: ${setup}`])}\n\n`;
  }
  return `${explain(about)}
work:
${line(`setup: ${setup}`, 'makes each copy ready: it has only what is committed')}

`;
}

function gateOf({ check, missing }: Project): string {
  if (check === undefined) {
    return `# A gate judges every completed task. Say how the tests are run, and remove the marks at the beginning of these lines.
# hooks:
#   TaskCompleted: { command: ./check.sh, timeout: 10m, onFailure: block }
`;
  }
  if (missing !== undefined) {
    return `# A gate judges every completed task. ${wordMissing(missing)} here, and a gate that cannot run lets nothing pass.
# Mend that, or name another command; then remove the marks at the beginning of these lines.
# hooks:
#   TaskCompleted: { command: ${check}, timeout: 10m, onFailure: block }
`;
  }
  return `${explain(['The gate: it judges every task that a member completes.'])}
hooks:
  TaskCompleted:
${line(`  command: ${check}`, 'exit code 0 agrees; else the work goes back, with what it printed')}
${line('  timeout: 10m', 'longer counts as a failure')}
${line('  onFailure: block', 'a check that cannot run lets nothing pass')}
`;
}

/** A line with its reason, which begins at the same column where there is room. */
function line(text: string, why: string, indent = '  '): string {
  return `${(indent + text).padEnd(38)} # ${why}`;
}

function explain(lines: readonly string[]): string {
  return lines.map((text) => `# ${text}`).join('\n');
}
