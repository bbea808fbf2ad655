/** The team files that one can start from. */
export type TemplateName = 'review' | 'feature' | 'debug' | 'goal' | 'script';

const HEAD = `# A team for Troupe. Run it: troupe up
# Every key is described in the schema that ships with Troupe: schema/troupe.schema.json
`;

/**
 * A team file for these agents, which take turns. It runs as it is: where there is no agent to think, a program stands in
 * its place.
 */
export function writeTemplate(name: TemplateName, agents: readonly string[]): string {
  let next = 0;
  const member = (who: string, prompt: string): string =>
    memberText(who, prompt, agents.length > 0 ? agents[next++ % agents.length] : undefined);
  return TEMPLATES[name](member, agents);
}

type Template = (member: (name: string, prompt: string) => string, agents: readonly string[]) => string;

const TEMPLATES: Readonly<Record<TemplateName, Template>> = {
  review: (member) => `${HEAD}team: review
description: Three readers look at the same change with different eyes, one puts it together

members:
${member('security', 'You look for what an attacker could use. Name file and line.')}
${member('performance', 'You look for work that need not be done. Name file and line, and say how you know.')}
${member('clarity', 'You look for what the next reader will not understand. Propose the better words.')}
${member('editor', 'You put findings together: worst first, each once, each with what to do.')}

tasks:
  - { id: security, title: Review for security, assign: security }
  - { id: performance, title: Review for performance, assign: performance }
  - { id: clarity, title: Review for clarity, assign: clarity }
  - { id: report, title: Write one review from the three, needs: [security, performance, clarity], assign: editor }
`,
  feature: (member) => `${HEAD}team: feature
description: A feature built in parallel, with tests as the gate

members:
${member('architect', 'You decide the shape: types and files, no more than is needed.')}
${member('builder', 'You write the code that the architect described.')}
${member('tester', 'You write tests from the description, not from the code.')}

tasks:
  - { id: design, title: Write down types and files, assign: architect }
  - { id: code, title: Write the code, needs: [design], assign: builder }
  - { id: tests, title: Write the tests, needs: [design], assign: tester }
  - { id: join, title: Make all tests pass, needs: [code, tests], assign: builder }

hooks:
  TaskCompleted: { command: npm test, timeout: 5m, onFailure: block }
`,
  debug: (member) => `${HEAD}team: debug
description: Competing explanations of one bug, each tried to be proved wrong

members:
${member('first', 'Find an explanation of the bug, then try hard to prove it wrong.')}
${member('second', 'Find another explanation than the others have, then try hard to prove it wrong.')}
${member('judge', 'You believe what was shown by running something.')}

tasks:
  - { id: one, title: First explanation, assign: first }
  - { id: two, title: Second explanation, assign: second }
  - { id: verdict, title: Say which one holds and what the fix is, needs: [one, two], assign: judge }
`,
  goal: (_member, agents) => `${HEAD}team: goal
description: A lead makes the tasks, brings in teammates, and answers at the end

lead:
  agent: ${agents[0] ?? 'claude'}
  delegate: true
  prompt: "Say here what the team is to achieve."

# Whom the lead may bring in, and how each is set up: model, mode, permissions, command, args, env.
agents:
${(agents.length > 0 ? agents : ['claude']).map((agent) => `  ${agent}: { mode: edit }`).join('\n')}
`,
  script: () => `${HEAD}team: script
description: Plain programs as a team

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

/** JSON text is YAML text: nothing in a prompt can end it early. */
function memberText(name: string, prompt: string, agent: string | undefined): string {
  const runs = agent ?? "{ exec: [sh, -c, 'cat > /dev/null; echo put an agent in my place'] }";
  return `  - name: ${name}\n    agent: ${runs}\n    prompt: ${JSON.stringify(prompt)}`;
}
