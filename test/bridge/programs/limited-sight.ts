// Watches a root where the system has no more watches. Reports that, and what it still finds.
import { openSight } from '../../../src/bridge/sight.ts';

const sight = openSight(process.argv[2] ?? '', { sweep: 200 });
sight.subscribe((event) => {
  if (event.type !== 'task-appeared') return;
  process.stdout.write(`${event.team} ${event.taskId}\n`);
  sight.close();
  clearInterval(waiting);
});
const waiting = setInterval(() => {}, 1_000);
process.stdout.write(`degraded ${sight.degraded}\n`);
