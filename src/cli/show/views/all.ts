import { views as account } from './account.ts';
import { views as agent } from './agent.ts';
import { views as daemon } from './daemon.ts';
import { views as hook } from './hook.ts';
import { views as inner } from './inner.ts';
import { views as member } from './member.ts';
import { views as message } from './message.ts';
import { views as native } from './native.ts';
import { views as note } from './note.ts';
import { views as request } from './request.ts';
import { views as search } from './search.ts';
import { views as task } from './task.ts';
import { views as team } from './team.ts';
import type { Views } from './views.ts';
import { views as work } from './work.ts';

/** The views of all nouns. */
export const views: Views = {
  ...account,
  ...agent,
  ...daemon,
  ...hook,
  ...inner,
  ...member,
  ...message,
  ...native,
  ...note,
  ...request,
  ...search,
  ...task,
  ...team,
  ...work,
};
