// Runs a team on simulated machines for hours: node --import ./test/simulator/platform.ts test/simulator/run-day.ts '{"seed":1,"hours":24,"machines":1,"isFaulty":true}'
// Prints what there was at the end of each hour, as JSON.
import { simulateDay } from './day.ts';
import type { DayOptions } from './day.ts';

console.log(JSON.stringify(await simulateDay(JSON.parse(process.argv[2] ?? '') as DayOptions)));
