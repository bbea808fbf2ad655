// Fixes what a hunter has shown.
import { readFileSync, writeFileSync } from 'node:fs';

writeFileSync('src/cart.mjs', readFileSync('src/cart.mjs', 'utf8').replace('sum > 10_000', 'sum >= 10_000'));
console.log('The discount begins at exactly 100 euros');
