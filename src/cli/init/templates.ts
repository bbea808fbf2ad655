/** The team files that one can start from. */
export type TemplateName = 'review' | 'feature' | 'debug' | 'script';

/** Each takes the agents that are installed and deals them out to the members in turn. */
export const TEMPLATES: Readonly<Record<TemplateName, (agents: readonly string[]) => string>> = {
  review: (agents) => `${HEAD}team: review
description: Three readers look at the same change with different eyes, one puts it together

members:
${member('security', agents, 0, 'You look for what an attacker could use. Name file and line.')}
${member('performance', agents, 1, 'You look for work that need not be done. Name file and line, and say how you know.')}
${member('clarity', agents, 2, 'You look for what the next reader will not understand. Propose the better words.')}
${member('editor', agents, 0, 'You put findings together: worst first, each once, each with what to do.')}

tasks:
  - { id: security, title: Review for security, assign: security }
  - { id: performance, title: Review for performance, assign: performance }
  - { id: clarity, title: Review for clarity, assign: clarity }
  - { id: report, title: Write one review from the three, needs: [security, performance, clarity], assign: editor }
`,
  feature: (agents) => `${HEAD}team: feature
description: A feature built in parallel, with tests as the gate

members:
${member('architect', agents, 0, 'You decide the shape: types and files, no more than is needed.', 'plan: required')}
${member('builder', agents, 1, 'You write the code that the architect described.')}
${member('tester', agents, 2, 'You write tests from the description, not from the code.')}

tasks:
  - { id: design, title: Write down types and files, assign: architect }
  - { id: code, title: Write the code, needs: [design], assign: builder }
  - { id: tests, title: Write the tests, needs: [design], assign: tester }
  - { id: join, title: Make all tests pass, needs: [code, tests], assign: builder }

hooks:
  TaskCompleted: { command: npm test, timeout: 5m, onFailure: block }
`,
  debug: (agents) => `${HEAD}team: debug
description: Competing explanations of one bug, each tried to be proved wrong

members:
${member('first', agents, 0, 'Find an explanation of the bug, then try hard to prove it wrong.')}
${member('second', agents, 1, 'Find another explanation than the others have, then try hard to prove it wrong.')}
${member('judge', agents, 2, 'You believe what was shown by running something.')}

tasks:
  - { id: one, title: First explanation, assign: first }
  - { id: two, title: Second explanation, assign: second }
  - { id: verdict, title: Say which one holds and what the fix is, needs: [one, two], assign: judge }
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

const HEAD = `# A team for Troupe. Run it: troupe up
# Every key is described in the schema that ships with Troupe: schema/troupe.schema.json
`;

function member(name: string, agents: readonly string[], place: number, prompt: string, more?: string): string {
  const agent = agents[place % Math.max(1, agents.length)];
  const runs = agent ?? "{ exec: [sh, -c, 'cat > /dev/null; echo put an agent in my place'] }";
  return `  - name: ${name}\n    agent: ${runs}\n    prompt: ${prompt}${more === undefined ? '' : `\n    ${more}`}`;
}
