#!/usr/bin/env node
// Plain JavaScript in old syntax: a Node that cannot run Troupe must still be able to read this file and say so.
import { existsSync } from 'node:fs';

const built = new URL('../dist/cli/main.js', import.meta.url);
const source = new URL('../src/cli/main.ts', import.meta.url);
// Tests set TROUPE_SOURCE, so that they never test what was built before the last change.
const isBuilt = !process.env.TROUPE_SOURCE && existsSync(built);

// node:sqlite needs no flag from 22.13 on; a checkout that is not built needs type stripping as well, from 22.18 on.
const needed = isBuilt ? '22.13' : '22.18';

if (isAtLeast(process.versions.node, needed)) {
  await import((isBuilt ? built : source).href);
} else {
  // Loaded only here: 2 ms of the 10 that a command may take longer than an empty program.
  const { spawn } = await import('node:child_process');
  const { fileURLToPath } = await import('node:url');
  const pinned = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  if (existsSync(pinned)) {
    runOn(pinned, { spawn, fileURLToPath });
  } else {
    console.error(`Troupe needs Node ${needed} or newer, and this is Node ${process.versions.node}.`);
    process.exitCode = 1;
  }
}

function isAtLeast(version, minimum) {
  const [major, minor] = version.split('.').map(Number);
  const [minimumMajor, minimumMinor] = minimum.split('.').map(Number);
  return major > minimumMajor || (major === minimumMajor && minor >= minimumMinor);
}

/** Runs this command on another Node: same arguments, streams and signals, and it ends as the other one ends. */
function runOn(node, { spawn, fileURLToPath }) {
  const child = spawn(node, [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  const signals = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'];
  for (const signal of signals) {
    // A terminal sends Ctrl-C and Ctrl-\ to parent and child alike; passed on, the child would see them twice.
    const isShared = process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT');
    process.on(signal, () => {
      if (!isShared) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    console.error(`Troupe could not start ${node}: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code === null ? 1 : code;
    if (signal === null) return;
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
