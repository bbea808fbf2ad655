import { useEffect } from 'react';
import { createSignal, useSignal } from './signal.ts';

/** A line of a work: the file, its number, and whether it is one that the work removed. */
export interface LineName {
  readonly path: string;
  readonly line: number;
  readonly side: 'old' | 'new';
}

/** What a person says about one line. */
export interface LineComment extends LineName {
  readonly text: string;
}

/** What a person has written about a work and not sent yet. It is about one commit. */
export interface ReviewDraft {
  readonly commit: string;
  readonly comments: readonly LineComment[];
  /** The comment that is being written; its box is open. */
  readonly writing?: LineComment;
  /** What it says about the whole work, if the box for that is open. */
  readonly summary?: string;
  /** The answer is under way. */
  readonly isSending?: boolean;
}

/** Which work: the task, and what was handed in for it. */
export interface Reviewed {
  readonly teamId: string;
  readonly taskId: string;
  readonly commit: string;
}

/** Comments that nobody got: the work that they were about is no longer the one to answer about. */
export interface LostComments {
  readonly commit: string;
  readonly count: number;
}

const PREFIX = 'review ';

/** By team and task. The tab keeps them over a reload. */
const drafts = createSignal<ReadonlyMap<string, ReviewDraft>>(read());
const lost = createSignal<ReadonlyMap<string, LostComments>>(new Map());

/** Everything that would be sent, also the comment whose box is still open. */
export function collected({ comments, writing }: Pick<ReviewDraft, 'comments' | 'writing'>): readonly LineComment[] {
  return writing && writing.text.trim() !== '' ? [...comments, writing] : comments;
}

/** What was written about a work so far; undefined for a work that is not to be answered about. */
export function useDraft(work: Reviewed | undefined): ReviewDraft | undefined {
  const all = useSignal(drafts);
  if (!work) return undefined;
  const found = all.get(keyOf(work));
  return found?.commit === work.commit ? found : { commit: work.commit, comments: [] };
}

/**
 * Drops what was written about another commit than the one that waits for an answer, and returns how much that was, until
 * it is dismissed. `commit` is undefined if nothing waits.
 */
export function useLost(
  teamId: string,
  taskId: string | undefined,
  commit: string | undefined,
): LostComments | undefined {
  const all = useSignal(drafts);
  const gone = useSignal(lost);
  const key = `${teamId}/${taskId}`;
  const found = all.get(key);
  useEffect(() => {
    if (!found || found.commit === commit || found.isSending) return;
    const count = collected(found).length;
    if (count > 0) lost.set(new Map(lost.get()).set(key, { commit: found.commit, count }));
    put(key, undefined);
  }, [key, found, commit]);
  return gone.get(key);
}

export function dismissLost(teamId: string, taskId: string): void {
  lost.set(new Map([...lost.get()].filter(([key]) => key !== `${teamId}/${taskId}`)));
}

let isOpened = false;

/** Whether the person has just opened a box: only then it takes the focus, and not when it comes into sight again. */
export function takeOpened(): boolean {
  const was = isOpened;
  isOpened = false;
  return was;
}

/** Opens the box for a line. What was being written about another line becomes a comment. */
export function beginComment(work: Reviewed, name: LineName): void {
  isOpened = true;
  change(work, (draft) => {
    if (draft.writing && isSame(draft.writing, name)) return draft;
    return { ...draft, comments: collected(draft), writing: { ...name, text: '' } };
  });
}

export function writeComment(work: Reviewed, text: string): void {
  change(work, (draft) => (draft.writing ? { ...draft, writing: { ...draft.writing, text } } : draft));
}

/** Closes the box; with `keep`, what is in it becomes a comment. */
export function endComment(work: Reviewed, keep: boolean): void {
  change(work, ({ writing, ...draft }) => ({
    ...draft,
    comments: collected({ ...draft, ...(keep && writing && { writing }) }),
  }));
}

export function removeComment(work: Reviewed, comment: LineComment): void {
  change(work, (draft) => {
    const { writing, ...rest } = draft;
    if (writing && isSame(writing, comment) && writing.text === comment.text) return rest;
    return { ...draft, comments: draft.comments.filter((one) => one !== comment) };
  });
}

/** Opens the box for a line again, with a comment that was made there. */
export function editComment(work: Reviewed, comment: LineComment): void {
  isOpened = true;
  change(work, (draft) => ({
    ...draft,
    comments: collected(draft).filter((one) => one !== comment),
    writing: comment,
  }));
}

/** `undefined` closes the box. */
export function writeSummary(work: Reviewed, summary: string | undefined): void {
  change(work, ({ summary: _before, ...draft }) => ({ ...draft, ...(summary !== undefined && { summary }) }));
}

/**
 * Sends an answer about a work; resolves with whether that worked. Then nothing is left to send. The team may change
 * before the answer to the call is here: what is being sent is not lost.
 */
export async function sendDraft(work: Reviewed, send: () => Promise<boolean>): Promise<boolean> {
  change(work, (draft) => ({ ...draft, isSending: true }));
  const isSent = await send();
  if (isSent) put(keyOf(work), undefined);
  else change(work, ({ isSending: _sending, ...draft }) => draft);
  return isSent;
}

export function isSame(a: LineName, b: LineName): boolean {
  return a.path === b.path && a.line === b.line && a.side === b.side;
}

function keyOf({ teamId, taskId }: Reviewed): string {
  return `${teamId}/${taskId}`;
}

function change(work: Reviewed, next: (draft: ReviewDraft) => ReviewDraft): void {
  const found = drafts.get().get(keyOf(work));
  const draft = found?.commit === work.commit ? found : { commit: work.commit, comments: [] };
  put(keyOf(work), next(draft));
}

function put(key: string, draft: ReviewDraft | undefined): void {
  const isEmpty = draft && draft.comments.length === 0 && !draft.writing && draft.summary === undefined;
  const next = new Map(drafts.get());
  if (!draft || isEmpty) {
    next.delete(key);
    sessionStorage.removeItem(PREFIX + key);
  } else {
    next.set(key, draft);
    try {
      sessionStorage.setItem(PREFIX + key, JSON.stringify(draft));
    } catch {
      // The tab's store is full: the draft is in the page, and a reload would lose it.
    }
  }
  drafts.set(next);
}

function read(): ReadonlyMap<string, ReviewDraft> {
  const found = new Map<string, ReviewDraft>();
  for (let i = 0; i < sessionStorage.length; i++) {
    const name = sessionStorage.key(i);
    if (!name?.startsWith(PREFIX)) continue;
    try {
      const { isSending: _sending, ...draft } = JSON.parse(sessionStorage.getItem(name) ?? '') as ReviewDraft;
      found.set(name.slice(PREFIX.length), draft);
    } catch {
      // Only this page writes there; what it cannot read is not its own.
    }
  }
  return found;
}
