import { ChartLine } from 'lucide-react';
import { useMemo } from 'react';
import { useStore, useTeam } from '../data/use-team.tsx';
import { Empty } from '../parts/empty.tsx';
import { plural, showCost, showCount, tokensOf } from '../parts/format.ts';
import { CENT, Plot } from '../parts/plot.tsx';
import { Reading } from '../parts/reading.tsx';

/** A member's cumulative usage over time. */
export function UsagePlot({ memberId }: { memberId: string }) {
  const store = useStore();
  const seq = useTeam(({ moment, progress }) => moment ?? progress.done);
  const isWhole = useTeam(({ isWhole }) => isWhole);
  const { times, tokens, costs } = useMemo(() => {
    const times: number[] = [];
    const tokens: number[] = [];
    const costs: number[] = [];
    for (const { events } of store.history.slice(0, seq)) {
      for (const event of events) {
        if (event.type !== 'usage:recorded' || event.memberId !== memberId) continue;
        times.push(event.at);
        tokens.push((tokens.at(-1) ?? 0) + tokensOf(event.usage));
        costs.push((costs.at(-1) ?? 0) + event.usage.costUsd);
      }
    }
    return { times, tokens, costs };
  }, [seq, isWhole, memberId]);
  if (!isWhole) return <Reading what="the history" />;
  const used = tokens.at(-1) ?? 0;
  const cost = costs.at(-1) ?? 0;
  if (used === 0 && cost === 0) {
    return (
      <Empty icon={ChartLine} title="Nothing reported yet">
        <p className="quiet">Agents that report tokens and cost are plotted here.</p>
      </Empty>
    );
  }
  return (
    <div className="usage">
      {used > 0 && (
        <>
          <h2 className="label">Tokens</h2>
          <Plot
            times={times}
            values={[tokens]}
            lines={[{ label: 'tokens', color: '--run-mark', show: showCount, isStep: true, isFilled: true }]}
            label={`${memberId} used ${showCount(used)} tokens in ${plural(times.length, 'turn')}`}
          />
        </>
      )}
      {cost > 0 && (
        <>
          <h2 className="label">Cost</h2>
          <Plot
            times={times}
            values={[costs]}
            lines={[{ label: 'cost', color: '--done-mark', show: showCost, least: CENT, isStep: true, isFilled: true }]}
            label={`${memberId} cost ${showCost(cost)}`}
          />
        </>
      )}
    </div>
  );
}
