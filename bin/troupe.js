#!/usr/bin/env node
// Plain JavaScript in old syntax: a Node that cannot run Troupe must still be able to read this file and say so. It is
// CommonJS and loads next to nothing, because it is part of the start of every command.
'use strict';

// The journal needs node:sqlite without a flag, which came with 22.13. A checkout that is not built needs type stripping as well, from 22.18 on.
const BUILT = '22.13';
const SOURCE = '22.18';

// These say what is missing, also where nothing else works.
const ANYWHERE = ['doctor', 'help', 'version', '--help', '--version', '-h', '-v', '-V'];

if (process.platform === 'win32' && !ANYWHERE.includes(process.argv[2])) {
  console.error(
    'Troupe does not run on Windows itself. Run it in WSL 2: wsl --install, then install Node and Troupe there.',
  );
  process.exitCode = 1;
} else if (isAtLeast(BUILT)) {
  useCache();
  void start();
} else {
  const fs = require('node:fs');
  const isBuilt = !process.env.TROUPE_SOURCE && fs.existsSync(path('../dist/cli/main.cjs'));
  moveOn(isBuilt ? BUILT : SOURCE);
}

function start() {
  // Tests set TROUPE_SOURCE where something changed since the last build, so that they never test what is old.
  if (!process.env.TROUPE_SOURCE) {
    try {
      return require('../dist/cli/main.cjs');
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND' || error.requireStack[0] !== __filename) throw error;
    }
  }
  return isAtLeast(SOURCE) ? import('../src/cli/main.ts') : moveOn(SOURCE);
}

/** V8 keeps what it compiled in the state directory, which is ours alone: 1 ms less. */
function useCache() {
  const env = process.env;
  const state = env.XDG_STATE_HOME || '';
  const home = env.TROUPE_HOME || (state.startsWith('/') ? state : env.HOME + '/.local/state') + '/troupe';
  const fs = process.getBuiltinModule('node:fs');
  if (fs.existsSync(home + '/cache')) process.getBuiltinModule('node:module').enableCompileCache(home + '/cache');
}

function isAtLeast(minimum) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [minimumMajor, minimumMinor] = minimum.split('.').map(Number);
  return major > minimumMajor || (major === minimumMajor && minor >= minimumMinor);
}

/** Goes on with the Node that a checkout brings, or says what is needed. */
function moveOn(needed) {
  const pinned = path('../node_modules/node/bin/node');
  if (require('node:fs').existsSync(pinned)) {
    runOn(pinned);
  } else {
    console.error(`Troupe needs Node ${needed} or newer, and this is Node ${process.versions.node}.`);
    process.exitCode = 1;
  }
}

/** Runs this command on another Node: same arguments, streams and signals, and it ends as the other one ends. */
function runOn(node) {
  const child = require('node:child_process').spawn(node, [...process.execArgv, __filename, ...process.argv.slice(2)], {
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

function path(relative) {
  return require('node:path').join(__dirname, relative);
}
