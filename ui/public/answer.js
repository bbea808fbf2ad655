// The page by which a person answers one request, without the dashboard. What proves the link is after the #. It is removed
// from the address at once, so that no history and no screenshot keeps it.
const link = location.hash.slice(1);
history.replaceState(null, '', location.pathname);

const part = (id) => document.querySelector(`#${id}`);

async function send(path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ link, ...body }),
    credentials: 'omit',
  });
  const result = await response.json();
  if (!response.ok) throw new Error(result.error.message);
  return result;
}

// Everything comes from agents. Control characters that reorder or hide text are shown as codes.
function visible(text) {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
}

function end(text) {
  part('form').hidden = true;
  part('said').textContent = text;
}

function showRequest({ title, content, details, yes, no, choices, freeText, deadline }) {
  part('title').textContent = visible(title);
  part('said').textContent = '';
  part('content').textContent = visible(content);
  for (const [name, value] of details) {
    const [term, description] = [document.createElement('dt'), document.createElement('dd')];
    term.textContent = visible(name);
    description.textContent = visible(value);
    part('details').append(term, description);
  }
  for (const choice of choices) {
    const label = document.createElement('label');
    const radio = document.createElement('input');
    Object.assign(radio, { type: 'radio', name: 'choice', value: choice });
    label.append(radio, ` ${visible(choice)}`);
    part('choices').append(label);
  }
  part('choices').hidden = choices.length === 0;
  part('text').hidden = !freeText;
  part('yes').textContent = visible(yes);
  part('no').textContent = visible(no);
  if (deadline !== undefined) part('deadline').textContent = `It waits until ${new Date(deadline).toLocaleString()}.`;
  part('form').hidden = false;
}

async function answer(approve) {
  const feedback = part('feedback').value.trim();
  const choice = document.querySelector('input[name=choice]:checked')?.value;
  for (const id of ['yes', 'no']) part(id).disabled = true;
  try {
    await send('/api/answer/give', {
      approve,
      ...(feedback !== '' && { feedback }),
      ...(choice !== undefined && approve && { choice }),
    });
    end('Your answer is stored. You can close this page.');
  } catch (error) {
    part('said').textContent = error.message;
    for (const id of ['yes', 'no']) part(id).disabled = false;
  }
}

async function begin() {
  try {
    showRequest(await send('/api/answer/read', {}));
  } catch (error) {
    end(error.message);
  }
}

part('form').addEventListener('submit', (event) => event.preventDefault());
part('yes').addEventListener('click', () => void answer(true));
part('no').addEventListener('click', () => void answer(false));
void begin();
