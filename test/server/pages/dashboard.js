// What the dashboard's own page does with a login code. Resolves with the result of each step.
globalThis.useDashboard = async (code) => {
  const json = { 'content-type': 'application/json' };
  const login = await fetch('/api/login', { method: 'POST', headers: json, body: JSON.stringify({ code }) });
  const read = await fetch('/api/teams');
  const write = await fetch('/api/teams', {
    method: 'POST',
    headers: { ...json, 'x-troupe-csrf': '1' },
    body: JSON.stringify({ name: 'by-the-dashboard' }),
  });
  const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/ws`);
  const answer = await new Promise((resolve) => {
    socket.addEventListener('open', () => socket.send('{"type":"ping","id":1}'));
    socket.addEventListener('message', ({ data }) => resolve(data));
    socket.addEventListener('error', () => resolve('refused'));
  });
  const stream = new EventSource('/api/teams/demo/events');
  const event = await new Promise((resolve) => {
    stream.addEventListener('message', ({ lastEventId }) => resolve(lastEventId));
    stream.addEventListener('error', () => resolve('refused'));
  });
  stream.close();
  return { login: login.status, read: read.status, write: write.status, answer, event, cookie: document.cookie };
};
