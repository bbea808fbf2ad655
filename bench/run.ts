// Runs one benchmark and prints its result as a line of JSON: `node bench/run.ts <name> [--quick]`.
import { ALL } from './all.ts';
import { FULL, QUICK, runBenchmark } from './benchmark.ts';

const [name, mode] = process.argv.slice(2);
const benchmark = ALL.find((one) => one.name === name);
if (!benchmark) throw new Error(`There is no benchmark ${name}`);
const result = await runBenchmark(benchmark, mode === '--quick' ? QUICK : FULL);
process.stdout.write(`${JSON.stringify(result)}\n`);
