import type { Client } from '../../../client/client.ts';
import type { Surroundings } from '../../line/command.ts';
import { openClient } from '../../reach/connect.ts';
import { INTERRUPTED } from '../../show/errors.ts';
import { standardScreen } from '../../show/screen.ts';
import { drawFrame, FILTERS, lastScroll } from './frame.ts';
import type { Choice, Stage } from './frame.ts';
import { loadModel, noteMail, refreshModel, touchedTasks } from './model.ts';
import type { Model } from './model.ts';
import { feelPulse } from './pulse.ts';
import { takeTerminal } from './terminal.ts';
import type { Key, Terminal } from './terminal.ts';

/** At most 20 pictures a second, and at most 4 rounds of calls to the daemon. */
const FRAME_MS = 50;
const ASK_MS = 250;
/** Ages grow even if nothing happens. */
const TICK_MS = 1_000;

/** Shows the team on the whole terminal until the user leaves; returns the exit code. */
export async function watchLive(
  teamId: string,
  { environment, signal }: Pick<Surroundings, 'environment' | 'signal'>,
): Promise<number> {
  let isLive = false;
  let redraw = (): void => {};
  const client = openClient(environment, {
    patience: Infinity,
    onState: (state) => {
      isLive = state === 'open';
      redraw();
    },
  });
  try {
    // Before we take the terminal, so that an unknown team is reported on the user's own screen.
    const model = await loadModel(client, teamId);
    return await show(client, model, {
      signal,
      isLive: () => isLive,
      onRedraw: (draw) => (redraw = draw),
    });
  } finally {
    client.close();
  }
}

async function show(
  client: Client,
  model: Model,
  hooks: { signal: AbortSignal; isLive: () => boolean; onRedraw: (draw: () => void) => void },
): Promise<number> {
  let choice: Choice = { scroll: 0, filter: 'all', member: undefined };
  const ended = new AbortController();
  let code = 0;
  const leave = (exitCode: number): void => {
    code = exitCode;
    ended.abort();
  };
  const stageOf = (terminal: Terminal): Stage => ({
    screen: { ...standardScreen(process.env), columns: terminal.columns },
    rows: terminal.rows,
    isLive: hooks.isLive() && pulse.isHeard,
  });
  const terminal = takeTerminal({
    onKey: (key) => {
      if (key === 'quit') leave(0);
      else if (key === 'interrupt') leave(INTERRUPTED);
      else {
        choice = afterKey(choice, key, { model, stage: stageOf(terminal) });
        draw();
      }
    },
    onResize: () => draw(),
  });
  const draw = atMostEvery(FRAME_MS, () => terminal.draw(drawFrame(model, choice, stageOf(terminal))));
  const pulse = feelPulse(client, model.status.team.id, draw);
  hooks.onRedraw(draw);
  hooks.signal.addEventListener('abort', () => leave(INTERRUPTED), { once: true });
  // Restore the terminal also when a signal ends us.
  process.once('SIGTERM', () => leave(128 + 15)).once('SIGHUP', () => leave(128 + 1));
  const tick = setInterval(draw, TICK_MS);
  try {
    draw();
    await follow(client, model, { draw, signal: ended.signal });
  } finally {
    clearInterval(tick);
    pulse.close();
    draw.cancel();
    terminal.close();
  }
  return code;
}

/** Keeps the model up to date until the signal aborts. */
async function follow(
  client: Client,
  model: Model,
  { draw, signal }: { draw: () => void; signal: AbortSignal },
): Promise<void> {
  const touched = new Set<string>();
  let asking: Promise<void> | undefined;
  let failure: Error | undefined;
  const failed = new AbortController();
  const ask = atMostEvery(ASK_MS, () => {
    if (asking) return;
    const ids = new Set(touched);
    touched.clear();
    asking = refreshModel(client, model, ids)
      .then(draw)
      .catch((error: unknown) => {
        failure ??= error as Error;
        failed.abort();
      })
      .finally(() => {
        asking = undefined;
        if (touched.size > 0) ask();
      });
  });
  try {
    const both = AbortSignal.any([signal, failed.signal]);
    for await (const { events } of client.subscribe(model.status.team.id, { after: model.status.seq, signal: both })) {
      for (const id of touchedTasks(model, events)) touched.add(id);
      noteMail(model, events);
      draw();
      ask();
    }
  } finally {
    ask.cancel();
  }
  if (failure && !signal.aborted) throw failure;
}

/** The user's choice after a key. */
function afterKey(choice: Choice, key: Key, { model, stage }: { model: Model; stage: Stage }): Choice {
  const last = lastScroll(model, choice, stage);
  const to = (scroll: number): Choice => ({ ...choice, scroll: Math.max(0, Math.min(last, scroll)) });
  const page = Math.max(1, stage.rows - 6);
  switch (key) {
    case 'up':
      return to(choice.scroll - 1);
    case 'down':
      return to(choice.scroll + 1);
    case 'page-up':
      return to(choice.scroll - page);
    case 'page-down':
      return to(choice.scroll + page);
    case 'home':
      return to(0);
    case 'end':
      return to(last);
    case 'f':
      return { ...choice, scroll: 0, filter: FILTERS[(FILTERS.indexOf(choice.filter) + 1) % FILTERS.length] ?? 'all' };
    case 'm': {
      const members = [undefined, ...model.status.team.members.map(({ name }) => name)];
      return { ...choice, scroll: 0, member: members[(members.indexOf(choice.member) + 1) % members.length] };
    }
    default:
      return choice;
  }
}

/** Throttles a function: calls it soon, but at most once per `ms` milliseconds. */
function atMostEvery(ms: number, act: () => void): (() => void) & { cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  let last = -Infinity;
  const soon = (): void => {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        last = performance.now();
        act();
      },
      Math.max(0, last + ms - performance.now()),
    );
  };
  return Object.assign(soon, {
    cancel: () => {
      clearTimeout(timer);
      timer = undefined;
    },
  });
}
