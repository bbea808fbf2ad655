import { expect, test } from 'vitest';
import { Metrics } from '../../src/runtime/metrics.ts';

test('shows counters, gauges and histograms as Prometheus reads them', () => {
  const metrics = new Metrics();
  const calls = metrics.counter({ name: 'calls_total', help: 'Calls.', labels: ['operation', 'code'] });
  const plain = metrics.counter({ name: 'claims_total', help: 'Claims.' });
  metrics.gauge({ name: 'tasks', help: 'Tasks.', labels: ['status'] }, () => [[['a "b"\\\n'], 3]]);
  metrics.gauge({ name: 'memory_bytes', help: 'Memory.' }, () => 1.5);
  metrics.total({ name: 'cut_total', help: 'Cut.' }, () => 2);
  const seconds = metrics.histogram({ name: 'commit_seconds', help: 'Commits.', bounds: [0.001, 0.01] });
  calls.add(2, 'task.claim', 'ok');
  calls.add(1, 'task.claim', 'blocked');
  calls.add(1, 'task.claim', 'ok');
  plain.add(1);
  for (const value of [0.0005, 0.001, 0.002, 5]) seconds.observe(value);
  expect(metrics.expose()).toBe(`# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{operation="task.claim",code="ok"} 3
calls_total{operation="task.claim",code="blocked"} 1
# HELP claims_total Claims.
# TYPE claims_total counter
claims_total 1
# HELP tasks Tasks.
# TYPE tasks gauge
tasks{status="a \\"b\\"\\\\\\n"} 3
# HELP memory_bytes Memory.
# TYPE memory_bytes gauge
memory_bytes 1.5
# HELP cut_total Cut.
# TYPE cut_total counter
cut_total 2
# HELP commit_seconds Commits.
# TYPE commit_seconds histogram
commit_seconds_bucket{le="0.001"} 2
commit_seconds_bucket{le="0.01"} 3
commit_seconds_bucket{le="+Inf"} 4
commit_seconds_sum 5.0035
commit_seconds_count 4
`);
});
