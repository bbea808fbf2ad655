// Leads: reads the plans that wait, and sends back those that do not say how the result is checked.
import { execFileSync } from 'node:child_process';

const ask = (...words) => JSON.parse(execFileSync('troupe', [...words, '--json'], { encoding: 'utf8' }));

for (const { id, memberId, content } of ask('request', 'list', '--kind', 'plan', '--status', 'pending')) {
  const isGood = content.includes('check');
  if (isGood) ask('plan', 'approve', id);
  else ask('plan', 'reject', id, 'Say how you will check that nothing was forgotten.');
  console.log(`${isGood ? 'approved' : 'sent back'} the plan of ${memberId}`);
}
console.log('All that waited is answered.');
