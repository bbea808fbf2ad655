import { useRef, useState } from 'react';
import type { TeamRequest } from '../../src/core/request.ts';
import { useTeam } from '../data/use-team.tsx';

/**
 * The requests that a part of the page shows. The first `open` of them have buttons: one of these stays at its place
 * when it is answered, here or elsewhere, so that no other request comes under the pointer. `moveOn` removes what is
 * answered; only the person does that.
 */
export function useKept(
  pending: readonly TeamRequest[],
  open: number,
): { shown: readonly TeamRequest[]; moveOn: () => void } {
  const state = useTeam(({ view }) => view.state);
  const isPast = useTeam(({ moment }) => moment !== undefined);
  const order = useRef<readonly string[]>([]);
  const [, setMoved] = useState(0);
  const moveOn = (): void => {
    order.current = [];
    setMoved((times) => times + 1);
  };
  if (isPast) return { shown: pending, moveOn };
  const waiting = new Map(pending.map((request) => [request.id, request]));
  const stays = order.current.filter((id, i) => waiting.has(id) || (i < open && state.requests.has(id)));
  const ids = [...stays, ...[...waiting.keys()].filter((id) => !stays.includes(id))];
  order.current = ids;
  return { shown: ids.map((id) => waiting.get(id) ?? (state.requests.get(id) as TeamRequest)), moveOn };
}
