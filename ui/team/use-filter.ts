import { useMemo } from 'react';
import { useQuery } from '../data/route.ts';
import type { TaskPhase, TaskView } from '../data/task-view.ts';
import { TASK_PHASES } from '../data/task-view.ts';
import { useTeam } from '../data/use-team.tsx';
import { useNarrow } from '../parts/narrow.ts';

/** The views of a team's tasks; on a narrow screen, the members are a view too. */
export type TeamViewName = 'graph' | 'board' | 'list' | 'members';

const VIEWS: readonly string[] = ['graph', 'board', 'list', 'members'];

/** The filter of the tasks; an empty text means all. */
export interface Filter {
  readonly text: string;
  readonly member: string;
  readonly status: TaskPhase | '';
}

/** View and filter, stored in the address. */
export function useFilter() {
  const [query, setQuery] = useQuery();
  const asked = query.get('view') ?? '';
  const isNarrow = useNarrow();
  // A link that was copied on a phone: on a wide screen, the members are beside the tasks anyway.
  const isKnown = VIEWS.includes(asked) && (isNarrow || asked !== 'members');
  const view = (isKnown ? asked : isNarrow ? 'list' : 'graph') as TeamViewName;
  const text = query.get('q') ?? '';
  const member = query.get('member') ?? '';
  const status = TASK_PHASES.find((phase) => phase === query.get('status')) ?? '';
  const filter = useMemo((): Filter => ({ text, member, status }), [text, member, status]);
  return {
    view,
    filter,
    isFiltered: text !== '' || member !== '' || status !== '',
    setView: (next: TeamViewName) => setQuery({ view: next }),
    set: (changes: Partial<Record<'q' | 'member' | 'status', string>>) => setQuery(changes),
    clear: () => setQuery({ q: undefined, member: undefined, status: undefined }),
  };
}

/** The tasks that match. */
export function useFound(filter: Filter): readonly TaskView[] {
  const tasks = useTeam(({ view }) => view.tasks);
  return useMemo(() => {
    if (filter.text === '' && filter.member === '' && filter.status === '') return tasks;
    const wanted = filter.text.toLowerCase();
    return tasks.filter(
      ({ task, phase }) =>
        (filter.status === '' || phase === filter.status) &&
        (filter.member === '' || task.assigneeId === filter.member) &&
        (wanted === '' ||
          `t-${task.id}` === wanted ||
          task.id === wanted ||
          task.title.toLowerCase().includes(wanted) ||
          task.description.toLowerCase().includes(wanted)),
    );
  }, [tasks, filter]);
}
