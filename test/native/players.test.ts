import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { agentProgram } from '../agents/installed.ts';
import { testPlace } from '../agents/real.ts';
import { setUp } from '../agents/setups.ts';
import { proves } from '../bridge/requirements.ts';
import { connect } from '../daemon/serve.ts';
import type { ModelReply, ModelScript } from '../models/script.ts';
import { as, lastText, rules } from './script.ts';
import { setNativeStage } from './stage.ts';
import type { NativeStage } from './stage.ts';
import { NEWEST, TESTED_VERSIONS } from './versions.ts';

/** The agents beside Codex, each with its tool for commands and how its processes are called. */
const AGENTS = {
  claude: { tool: 'Bash', process: /claude.* -p |--input-format/ },
  gemini: { tool: 'run_shell_command', process: /gemini/ },
  opencode: { tool: 'bash', process: /opencode/ },
} as const;
type Name = keyof typeof AGENTS;
const NAMES = Object.keys(AGENTS) as Name[];

/** What they are called in the native team: one of them must not be taken for Claude Code's own. */
const MATES: Readonly<Record<Name, string>> = { claude: 'reviewer', gemini: 'writer', opencode: 'tester' };

const missing = NAMES.filter((name) => agentProgram(name) === undefined);

describe.for(TESTED_VERSIONS)('a lead of Claude Code %s', (version) => {
  proves(
    ['teammate-command', 'permission-strict', 'permission-answers'],
    'has teammates that Gemini CLI, OpenCode and another Claude Code play: a task, a permission, idle, shutdown',
    async (context) => {
      context.skip(missing.length > 0, `${missing.join(', ')} is not installed`);
      const stage = await setNativeStage(context, version);
      const made = (name: Name): string => join(stage.cwd, `made-by-${name}.txt`);
      await useAgents(stage, made);
      const { createTeam, spawn, createTask, updateTask, requestShutdown } = stage.words;
      stage.play({
        lead: rules(
          [
            /Begin/,
            {
              calls: [
                ...createTeam('players'),
                ...NAMES.map((name) => createTask(`Make the file of ${name}`)),
                ...NAMES.map((name, i) => updateTask(String(i + 1), { owner: MATES[name] })),
                ...NAMES.map((name) => spawn({ name: MATES[name], team: 'players', prompt: 'Take your task.' })),
              ],
            },
          ],
          [/Stop them/, { calls: NAMES.map((name) => requestShutdown(MATES[name])) }],
        ),
      });
      await stage.startLead({ troupe: [] });
      await stage.type(`${as('lead')}Begin`);

      // Its person says yes to each, one after the other.
      const answer = async (): Promise<true | undefined> => {
        if (NAMES.every((name) => existsSync(made(name)))) return true;
        if (/Do you want to proceed/.test(stage.shows())) stage.press(['Enter']);
        await sleep(500);
        return undefined;
      };
      // Three agents start at once.
      await stage.until('all files are made', answer);
      const teamId = stage.team()?.name ?? '';
      const client = connect(stage.troupeHome);
      const asked = await client.call('request.list', { teamId, kind: 'permission' });
      expect(asked.map(({ memberId }) => memberId).sort()).toEqual(Object.values(MATES).sort());
      expect(new Set(asked.map(({ status }) => status))).toEqual(new Set(['approved']));
      for (const [i, name] of NAMES.entries()) {
        await stage.until(`${name} is done`, () => stage.team()?.tasks.get(String(i + 1))?.status === 'completed');
        await stage.until(`the lead heard that ${name} rests`, () => stage.heard('lead', `${name} made it`));
      }

      await stage.type('Stop them');
      await stage.until('they are gone', () => stage.team()?.config?.members.length === 1);
      await stage.until('their panes, too', () => stage.panes().length === 1);
      const isOne = ({ command }: { command: string }): boolean =>
        / --(native-)?teammate /.test(command) || NAMES.some((name) => AGENTS[name].process.test(command));
      await stage.until('nothing of them runs', () => !stage.processes().some(isOne));
    },
  );

  proves(
    ['teammate-command', 'plan-answers'],
    'sends back the plan of a teammate that a program plays, approves the next, and only then is anything done',
    async (context) => {
      const stage = await setNativeStage(context, version);
      const program = join(stage.home, 'planner.sh');
      const lines = [
        'turn=$(cat)',
        // The newest feedback is in the turn; what is done is left in a file.
        'case $turn in',
        `  *'"plan":true'*'with tests'*|*'with tests'*'"plan":true'*) echo 'Plan 2: with tests' ;;`,
        `  *'"plan":true'*) echo 'Plan 1' ;;`,
        `  *) touch ${join(stage.cwd, 'made')}; echo 'made as planned' ;;`,
        'esac',
      ];
      writeFileSync(program, `#!/bin/sh\n${lines.join('\n')}\n`, { mode: 0o755 });
      // The newest version cannot ask for plans, so a person does.
      const plan = version === NEWEST ? { plan: 'required' } : {};
      stage.configure({ teammates: { planner: { agent: { exec: [program] }, ...plan } } });
      const { createTeam, spawn, createTask, updateTask, answerPlan } = stage.words;
      const planner = spawn({ name: 'planner', team: 'plans', prompt: 'Plan first.', plan: true });
      const answer =
        (approve: boolean) =>
        (_request: unknown, [, id = '']: RegExpExecArray): ModelReply => ({
          calls: [answerPlan('planner', id, approve, 'once more, with tests')],
        });
      stage.play({
        lead: rules(
          [
            /Begin/,
            {
              calls: [...createTeam('plans'), createTask('Make it'), updateTask('1', { owner: 'planner' }), planner],
            },
          ],
          [/Plan 2[^]*"requestId":"([^"]+)"/, answer(true)],
          [/Plan 1[^]*"requestId":"([^"]+)"/, answer(false)],
        ),
      });
      await stage.startLead({ troupe: [] });
      await stage.type(`${as('lead')}Begin`);
      await stage.until('the first plan was before the lead', () =>
        stage.heard('lead', /plan_approval_request.*Plan 1/),
      );
      // The lead of this version says yes by itself before its model has read the plan.
      const isHasty = version === '2.1.177';
      if (!isHasty) {
        expect(existsSync(join(stage.cwd, 'made'))).toBe(false);
        await stage.until('the second was, too', () => stage.heard('lead', /plan_approval_request.*Plan 2/));
      }
      await stage.until('it is done', () => stage.team()?.tasks.get('1')?.status === 'completed');
      expect(existsSync(join(stage.cwd, 'made'))).toBe(true);
      const teamId = stage.team()?.name ?? '';
      const plans = await connect(stage.troupeHome).call('request.list', { teamId, kind: 'plan' });
      const rejected = isHasty ? [] : [['rejected', 'once more, with tests']];
      expect(plans.map(({ status, feedback }) => [status, feedback])).toEqual([...rejected, ['approved', undefined]]);
    },
  );
});

/** Sets up each as a person does in `config.yaml`: each makes its file with a command that it must ask for. */
async function useAgents(stage: NativeStage, made: (name: Name) => string): Promise<void> {
  const entries = NAMES.map(async (name) => {
    const { entry, model } = await setUp(name, testPlace(), makes(name, made(name)));
    onTestFinished(() => model.close());
    const { cwd: _cwd, ...rest } = entry;
    return [MATES[name], { agent: name, ...rest }];
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
