import { expect, test } from 'vitest';
import { toSteps } from '../../ui/member/steps.ts';

test('tools of each turn are those of that turn, also where a program counts them from one again', () => {
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
