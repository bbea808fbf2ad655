import MiniSearch from 'minisearch';
import type { TeamEvent } from '../core/event.ts';
import type { TeamState } from '../core/state.ts';
import { requireTeam } from '../core/view.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** Something that the team wrote down: a note, or the result of a task. */
export interface MemoryHit {
  readonly kind: 'note' | 'result';
  /** The note or the task. */
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly authorId: string;
  readonly score: number;
}

interface Entry {
  readonly key: string;
  readonly kind: MemoryHit['kind'];
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly tags: string;
  readonly authorId: string;
}

/** How many teams' indexes are kept; the least recently searched one is dropped first. */
const TEAMS_KEPT = 50;

/**
 * A team's searchable knowledge: notes, and the results of completed tasks, which are added automatically. The index is
 * built at the first search and then updated with every event. It can always be rebuilt from the team's state.
 */
export class TeamMemory {
  readonly #ledger: Ledger;
  readonly #indexes = new Map<string, MiniSearch<Entry>>();
  readonly #unsubscribe: () => void;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#unsubscribe = ledger.subscribe((teamId, { events }, state) => {
      const index = this.#indexes.get(teamId);
      if (index) for (const event of events) update(index, event, state);
    });
  }

  /** The best matches, best first; words may be incomplete or slightly wrong. */
  async search(teamId: string, query: string, limit: number): Promise<MemoryHit[]> {
    const index = await this.#indexOf(teamId);
    return index
      .search(query, { prefix: true, fuzzy: 0.2, boost: { title: 2, tags: 2 } })
      .slice(0, limit)
      .map((hit) => ({ ...(hit as unknown as Entry), score: hit.score }))
      .map(({ kind, id, title, text, authorId, score }) => ({ kind, id, title, text, authorId, score }));
  }

  close(): void {
    this.#unsubscribe();
    this.#indexes.clear();
  }

  async #indexOf(teamId: string): Promise<MiniSearch<Entry>> {
    const kept = this.#indexes.get(teamId);
    if (kept) {
      this.#indexes.delete(teamId);
      this.#indexes.set(teamId, kept);
      return kept;
    }
    return this.#ledger.view(teamId, (state) => {
      requireTeam(state);
      const index = new MiniSearch<Entry>({
        idField: 'key',
        fields: ['title', 'text', 'tags'],
        storeFields: ['kind', 'id', 'title', 'text', 'authorId'],
      });
      index.addAll([...state.notes.keys()].flatMap((id) => noteEntry(state, id) ?? []));
      index.addAll([...state.tasks.keys()].flatMap((id) => resultEntry(state, id) ?? []));
      this.#indexes.set(teamId, index);
      for (const oldest of this.#indexes.keys()) {
        if (this.#indexes.size <= TEAMS_KEPT) break;
        this.#indexes.delete(oldest);
      }
      return index;
    });
  }
}

function update(index: MiniSearch<Entry>, event: TeamEvent, state: TeamState): void {
  if ('noteId' in event) replace(index, `note ${event.noteId}`, noteEntry(state, event.noteId));
  const ends = event.type === 'task:completed' || event.type === 'task:reopened' || event.type === 'task:deleted';
  if (ends) replace(index, `result ${event.taskId}`, resultEntry(state, event.taskId));
}

function replace(index: MiniSearch<Entry>, key: string, entry: Entry | undefined): void {
  if (index.has(key)) index.discard(key);
  if (entry) index.add(entry);
}

function noteEntry(state: TeamState, id: string): Entry | undefined {
  const note = state.notes.get(id);
  if (!note) return undefined;
  const [title = ''] = note.text.split('\n', 1);
  return {
    key: `note ${id}`,
    kind: 'note',
    id,
    title,
    text: note.text,
    tags: note.tags.join(' '),
    authorId: note.authorId,
  };
}

function resultEntry(state: TeamState, id: string): Entry | undefined {
  const task = state.tasks.get(id);
  if (task?.status !== 'completed' || !task.result) return undefined;
  const { title, result: text, assigneeId = task.createdBy } = task;
  return { key: `result ${id}`, kind: 'result', id, title, text, tags: '', authorId: assigneeId };
}
