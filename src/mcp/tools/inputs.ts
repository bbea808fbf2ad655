import { z } from 'zod';
import { TaskId } from '../../core/text.ts';

/** The longest that a call may wait, in seconds. */
export const LONGEST_WAIT = 300;

/** A task's id, without the pattern that would only cost tokens in the list of tools. */
export const Id = z.string().refine((text) => TaskId.safeParse(text).success, 'is not a task id such as "7"');

/** Under which claim an agent means to write; seldom needed, so that it has no words in the list of tools. */
export const Epoch = z.number();

/** How long a call may wait for something to happen. */
export const WaitSeconds = z.number().min(0).max(LONGEST_WAIT).default(0);
