import { expect, test } from 'vitest';
import { toSteps } from '../../ui/log/steps.ts';

test('each turn has its own tools, even if a program counts them from one again', () => {
  const turn = (at: number, output: string) => [
    { at, type: 'turn', text: 'go' },
    { at: at + 1, type: 'tool', id: 't1', name: 'look', status: 'running', input: {} },
    { at: at + 2, type: 'tool', id: 't1', name: 'look', status: 'done', output },
  ];
  const steps = toSteps([...turn(1, 'first'), ...turn(11, 'second')]);
  expect(steps.map((step) => (step.kind === 'tool' ? `${step.at} ${step.status} ${step.output}` : step.kind))).toEqual([
    'turn',
    '2 done first',
    'turn',
    '12 done second',
  ]);
});

test('the end of a turn does not repeat the last text', () => {
  const said = (end: string) =>
    toSteps([
      { at: 1, type: 'turn', text: 'go' },
      { at: 2, type: 'text', text: '1. Look at it\n2. Do it' },
      { at: 3, type: 'turnEnd', reason: 'done', text: end },
    ]).flatMap((step) => (step.kind === 'end' ? step.text : []));
  expect(said('1. Look at it\n2. Do it\n')).toEqual(['']);
  expect(said('Something else')).toEqual(['Something else']);
});

test('feedback of a gate stands at its place between the turns', () => {
  const steps = toSteps([
    { at: 1, type: 'turn', text: 'go', taskId: '3' },
    { at: 2, type: 'turnEnd', reason: 'done', text: 'Done' },
    { at: 3, type: 'rejected', taskId: '3', feedback: '1 test failed' },
    { at: 4, type: 'turn', text: 'again', taskId: '3' },
  ]);
  expect(steps.map(({ kind }) => kind)).toEqual(['turn', 'end', 'rejected', 'turn']);
  expect(steps[2]).toEqual({ kind: 'rejected', at: 3, taskId: '3', text: '1 test failed' });
});
