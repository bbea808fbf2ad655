/** Functions about texts. New ones go to the end. */
export const trim = (text) => text.trim();
