const LINES = 8;
const CHARACTERS = 480;

/** Whether a small card can show the whole request: nobody should approve there what they could not read there. */
export function fitsCard(content: string): boolean {
  return content.length <= CHARACTERS && content.split('\n').length <= LINES;
}
