const sections = JSON.parse(document.getElementById('sections').textContent);
const index = new MiniSearch({
  fields: ['title', 'heading', 'text'],
  searchOptions: {
    boost: { heading: 3, title: 2 },
    prefix: true,
    fuzzy: (word) => (word.length > 5 ? 0.2 : false),
    combineWith: 'AND',
  },
});
index.addAll(sections);
const field = document.getElementById('query');
const list = document.getElementById('results');
const said = document.getElementById('said');
field.value = new URLSearchParams(location.search).get('q') ?? '';
field.addEventListener('input', showHits);
field.focus();
showHits();

function showHits() {
  const query = field.value.trim();
  try {
    history.replaceState(null, '', query === '' ? location.pathname : `?q=${encodeURIComponent(query)}`);
  } catch {
    // Some browsers refuse this for files.
  }
  const hits = query === '' ? [] : index.search(query);
  const shown = hits.slice(0, 30);
  said.textContent = query === '' ? '' : hits.length === 0 ? 'Nothing found.' : `${hits.length} found`;
  list.replaceChildren(...shown.map(({ id, terms }) => entry(sections[id], terms)));
}

function entry({ url, title, heading, text }, terms) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = url;
  link.textContent = heading === title ? title : `${title} › ${heading}`;
  const about = document.createElement('p');
  about.append(...marked(around(text, terms), terms));
  item.append(link, about);
  return item;
}

/** The part of a text in which the first of the words is. */
function around(text, terms) {
  const lower = text.toLowerCase();
  const first = Math.min(...terms.map((term) => lower.indexOf(term)).filter((at) => at !== -1), text.length);
  const from = first === text.length ? 0 : Math.max(0, text.lastIndexOf(' ', Math.max(0, first - 60)) + 1);
  const to = from + 220 < text.length ? text.lastIndexOf(' ', from + 220) : text.length;
  const part = text.slice(from, to > first ? to : from + 220);
  return `${from > 0 ? '… ' : ''}${part}${to < text.length ? ' …' : ''}`;
}

/** The text with the found words marked. Nothing of it is read as HTML. */
function marked(text, terms) {
  const pattern = new RegExp(`(${terms.map((term) => term.replace(/[^\p{L}\p{N}]/gu, '\\$&')).join('|')})`, 'iu');
  return text.split(pattern).map((part, i) => {
    if (i % 2 === 0) return part;
    const mark = document.createElement('mark');
    mark.textContent = part;
    return mark;
  });
}
