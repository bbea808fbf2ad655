import type { ModelScript } from '../models/script.ts';

/** The lead makes a task and answers when it is completed. The builder plans, asks for a permission, and writes a file. */
export const claudeModel: ModelScript = (request) => {
  const last = request.turns.at(-1);
  const asked = last?.role === 'user' ? last.text : '';
  if (request.system.includes('the lead of the team')) {
    if (last?.role === 'tool') return { text: 'It is under way.' };
    if (asked.includes('1 completed')) return { text: 'The auth module is fine.' };
    return { calls: [{ name: 'mcp__troupe__TaskCreate', input: { subject: 'Look at it', description: 'all of it' } }] };
  }
  if (asked.includes('Add the command search')) {
    const isPlan = !request.tools.includes('Write');
    if (isPlan) return { text: 'I write search.txt.' };
    return { calls: [{ name: 'Bash', input: { command: 'npm install', description: 'Install the packages' } }] };
  }
  if (last?.role === 'tool' && last.text.includes('use npm ci')) {
    return { calls: [{ name: 'Bash', input: { command: 'echo found > search.txt', description: 'Write it' } }] };
  }
  return { text: 'Done.' };
};
