import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { agentProgram } from '../agents/installed.ts';
import { makePlace } from '../agents/real.ts';
import { setUp } from '../agents/setups.ts';
import { proves } from '../bridge/requirements.ts';
import { connect } from '../daemon/serve.ts';
import type { ModelReply, ModelRequest, ModelScript } from '../models/script.ts';
import { isProof } from '../proof.ts';
import { as, lastText, rules } from './script.ts';
import { shareNativeStage, withLead } from './stage.ts';
import type { NativeStage } from './stage.ts';
import { TESTED_VERSIONS } from './versions.ts';

/** The agents besides Codex, each with its tool for commands and a pattern for its processes. */
const AGENTS = {
  claude: { tool: 'Bash', process: /claude.* -p |--input-format/ },
  gemini: { tool: 'run_shell_command', process: /gemini/ },
  opencode: { tool: 'bash', process: /opencode/ },
} as const;
type Name = keyof typeof AGENTS;
/** All in the long runs. `npm test` takes the one that starts fastest; test/agents tries each alone. */
const NAMES: readonly Name[] = isProof || TESTED_VERSIONS.length > 1 ? (Object.keys(AGENTS) as Name[]) : ['gemini'];

/** Their names in the native team, so that the one played by Claude Code is not confused with a native teammate. */
const MATES: Readonly<Record<Name, string>> = { claude: 'reviewer', gemini: 'writer', opencode: 'tester' };

const hasCodex = agentProgram('codex') !== undefined;
const missing = NAMES.filter((name) => agentProgram(name) === undefined);

describe.for(TESTED_VERSIONS)('a lead of Claude Code %s', (version) => {
  const enter = shareNativeStage(version, withLead('players', useAgents));

  proves(
    ['teammate-command', 'permission-strict', 'permission-answers', 'lead-signs'],
    'works with a native teammate and with Codex: messages, a task, a permission, idle, shutdown',
    async (context) => {
      context.skip(!hasCodex, 'Codex is not installed');
      const stage = await enter(context);
      const made = madeByCodex(stage);
      const { spawn, send, createTask, updateTask, requestShutdown } = stage.words;
      const mate = (name: string, prompt: string) => spawn({ name, team: 'players', prompt: `${as(name)}${prompt}` });
      stage.play({
        lead: rules(
          [/Bring codex/, { calls: [mate('alice', 'Greet codex.'), mate('codex', 'Hi.')] }],
          [/codex has come/, { calls: [createTask('Make the file'), updateTask('1', { owner: 'codex' })] }],
          [/Stop codex/, { calls: [requestShutdown('codex')] }],
        ),
        alice: rules([/Greet codex/, { calls: [send('codex', 'good day, says alice')] }]),
      });
      await stage.type('Bring codex');

      await stage.until('the lead heard from codex', () => stage.heard('lead', 'codex has come'));
      // The lead's person sees the request of codex, and says yes.
      await stage.sees(/made\.txt[^]*Do you want to proceed/);
      expect(existsSync(made)).toBe(false);
      await stage.confirm(/Do you want to proceed/);
      await stage.until('the task is done', () => stage.team()?.tasks.get('1')?.status === 'completed');
      expect(existsSync(made)).toBe(true);
      expect(stage.team()?.tasks.get('1')).toMatchObject({ owner: 'codex', status: 'completed' });
      await stage.until('alice heard from codex', () => stage.heard('alice', 'good day to you'));
      await stage.until('the lead heard that it rests', () =>
        stage.heard('lead', /idle_notification.*the file is there/),
      );
      await stage.until('it is shown as resting', () => memberOf(stage, 'codex')?.isActive === false);

      await stage.type('Stop codex');
      await stage.until('codex is gone', () => memberOf(stage, 'codex') === undefined);
      await stage.until('its pane is gone', () => stage.panes().length === 2);
      await stage.until('nothing of it runs', () => !stage.processes().some(({ command }) => /codex/.test(command)));
      expect(memberOf(stage, 'alice')).toBeDefined();
    },
  );

  proves(
    ['teammate-command', 'permission-strict', 'permission-answers'],
    `works with other agents as players (${NAMES.join(', ')}): a task, a permission, idle, shutdown`,
    async (context) => {
      context.skip(missing.length > 0, `${missing.join(', ')} is not installed`);
      const stage = await enter(context);
      const made = (name: Name): string => madeBy(stage, name);
      const { spawn, createTask, updateTask, requestShutdown } = stage.words;
      // The panes and members that earlier tests left.
      const before = { panes: stage.panes().length, members: stage.team()?.config?.members.length };
      const titleOf = (name: Name): string => `Make the file of ${name}`;
      /** Assigns each task, which has a number by now, before it spawns the owner. */
      const assign = ({ turns }: ModelRequest): ModelReply => {
        const said = turns.map(({ text }) => text).join('\n');
        const owned = NAMES.map((name) => {
          const [, id = ''] = new RegExp(`#(\\d+) created successfully: ${titleOf(name)}`).exec(said) ?? [];
          return updateTask(id, { owner: MATES[name] });
        });
        const spawned = NAMES.map((name) => spawn({ name: MATES[name], team: 'players', prompt: 'Take your task.' }));
        return { calls: [...owned, ...spawned] };
      };
      stage.play({
        lead: rules(
          [/Bring the others/, { calls: NAMES.map((name) => createTask(titleOf(name))) }],
          [/created successfully/, assign],
          [/Stop them/, { calls: NAMES.map((name) => requestShutdown(MATES[name])) }],
        ),
      });
      await stage.type('Bring the others');

      // The lead's person says yes to each request in turn.
      // The newest version clears a task list soon after all of its tasks are done, so each is noted at once.
      const done = new Set<string>();
      await stage.confirmUntil('all files are made, and the tasks done', {
        question: /made-by-\w+\.txt(?:(?!made-by)[^])*Do you want to proceed/,
        until() {
          for (const { subject, owner, status } of stage.team()?.tasks.values() ?? []) {
            if (status === 'completed') done.add(`${subject} by ${owner}`);
          }
          return NAMES.every((name) => existsSync(made(name)) && done.has(`${titleOf(name)} by ${MATES[name]}`));
        },
      });
      const teamId = stage.team()?.name ?? '';
      const client = connect(stage.troupeHome);
      const asked = await client.call('request.list', { teamId, kind: 'permission' });
      const mates = NAMES.map((name) => MATES[name]);
      const theirs = asked.filter(({ memberId }) => mates.includes(memberId));
      expect(theirs.map(({ memberId }) => memberId).sort()).toEqual(mates.sort());
      expect(new Set(theirs.map(({ status }) => status))).toEqual(new Set(['approved']));
      for (const name of NAMES) {
        await stage.until(`the lead heard that ${name} rests`, () => stage.heard('lead', `${name} made it`));
      }

      await stage.type('Stop them');
      await stage.until('they are gone', () => stage.team()?.config?.members.length === before.members);
      await stage.until('their panes, too', () => stage.panes().length === before.panes);
      const isOne = ({ command }: { command: string }): boolean =>
        / --(native-)?teammate /.test(command) || NAMES.some((name) => AGENTS[name].process.test(command));
      await stage.until('nothing of them runs', () => !stage.processes().some(isOne));
    },
  );
});

const madeByCodex = (stage: NativeStage): string => join(stage.cwd, 'made.txt');
const madeBy = (stage: NativeStage, name: Name): string => join(stage.cwd, `made-by-${name}.txt`);

/** Writes `config.yaml` for all installed agents. Each makes its file with a command that needs permission. */
async function useAgents(stage: NativeStage): Promise<void> {
  const scripts = new Map<Name | 'codex', ModelScript>([
    ['codex', codexScript(madeByCodex(stage))],
    ...NAMES.map((name) => [name, makes(name, madeBy(stage, name))] as const),
  ]);
  const installed = [...scripts].filter(([name]) => agentProgram(name) !== undefined);
  const entries = installed.map(async ([name, script]) => {
    const place = makePlace();
    const { entry, model } = await setUp(name, place, script);
    stage.atEnd(async () => {
      await model.close();
      place.remove();
    });
    const { cwd: _cwd, ...rest } = entry;
    return [name === 'codex' ? name : MATES[name], { agent: name, ...rest }];
  });
  stage.configure({ teammates: Object.fromEntries(await Promise.all(entries)) as object });
}

function makes(name: Name, path: string): ModelScript {
  return (request) => {
    if (/Task #\d/.test(lastText(request))) {
      const command = `node -e "require('fs').writeFileSync('${path}', '')"`;
      return { calls: [{ name: AGENTS[name].tool, input: { command, description: 'make the file' } }] };
    }
    if (request.turns.at(-1)?.role === 'tool') return { text: `${name} made it` };
    return { text: 'nothing to do' };
  };
}

function memberOf(stage: NativeStage, name: string) {
  return stage.team()?.config?.members.find((one) => one.name === name);
}

/** Answers greetings, and makes the requested file, for which it needs permission. */
function codexScript(path: string): ModelScript {
  return (request): ModelReply => {
    const last = lastText(request);
    // Alice's message may come alone or with the task.
    const greeting = /says alice/.test(last) ? [tell(request, 'alice', 'good day to you')] : [];
    if (/Task #1/.test(last)) {
      const input = {
        cmd: `touch ${path}`,
        sandbox_permissions: 'require_escalated',
        justification: 'it is outside',
      };
      return { calls: [...greeting, { name: 'exec_command', input }] };
    }
    if (request.turns.at(-1)?.role === 'tool') {
      return { text: request.turns.some(({ text }) => text.includes('Task #1')) ? 'the file is there' : 'greeted' };
    }
    const arrival = /\[\[codex\]\]/.test(last) ? [tell(request, 'team-lead', 'codex has come')] : [];
    const calls = [...arrival, ...greeting];
    return calls.length > 0 ? { calls } : { text: 'nothing to do' };
  };
}

function tell(request: ModelRequest, to: string, message: string) {
  const name = request.tools.find((one) => one.endsWith('SendMessage')) ?? 'SendMessage';
  return { name, input: { to, message, summary: 'a word' } };
}
