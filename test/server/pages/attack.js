// As in test/until.ts: only a hang takes this long.
const HANG_MS = 120_000;

// The attacks of a foreign page against the daemon. Resolves with everything that it could get.
async function attack(target) {
  const body = JSON.stringify({ name: 'planted' });
  const spoils = [];
  const tries = [];
  const attempt = (name, trying) => tries.push(Promise.race([trying, hang(name)]));
  const hang = (name) =>
    new Promise((resolve) => {
      setTimeout(() => {
        spoils.push(`no answer to ${name}`);
        resolve();
      }, HANG_MS);
    });

  async function read(name, asking) {
    try {
      const answer = await asking;
      // An opaque response has the status 0 and no readable content.
      if (answer.ok) spoils.push(`${name}: ${answer.status} ${await answer.text()}`);
    } catch {
      // Refused, as expected.
    }
  }

  for (const credentials of ['include', 'omit']) {
    for (const path of [
      '/api/teams',
      '/api/status',
      '/api/teams/demo/inbox?memberId=lead',
      '/metrics',
      '/health',
      '/',
    ]) {
      attempt(`GET ${path}`, read(`GET ${path}`, fetch(target + path, { credentials })));
      attempt(`opaque GET ${path}`, read(`opaque GET ${path}`, fetch(target + path, { credentials, mode: 'no-cors' })));
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json']) {
      for (const path of ['/api/teams', '/api/stop', '/api/tokens/rotate', '/api/login', '/mcp']) {
        const init = { method: 'POST', headers: { 'content-type': type }, body, credentials };
        const headers = { ...init.headers, 'x-troupe-csrf': '1' };
        attempt(`POST ${path}`, read(`POST ${path}`, fetch(target + path, init)));
        attempt(`opaque POST ${path}`, read(`opaque POST ${path}`, fetch(target + path, { ...init, mode: 'no-cors' })));
        attempt(`POST ${path} with x-`, read(`POST ${path} with x-`, fetch(target + path, { ...init, headers })));
      }
    }
    const removal = fetch(`${target}/api/teams/demo?force=true`, { method: 'DELETE', credentials });
    attempt('DELETE', read('DELETE', removal));
  }

  navigator.sendBeacon(`${target}/api/teams`, new Blob([body], { type: 'text/plain' }));

  for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    const frame = document.createElement('iframe');
    frame.name = `frame-${enctype}`;
    const form = document.createElement('form');
    Object.assign(form, { method: 'POST', action: `${target}/api/teams`, target: frame.name, enctype });
    const field = document.createElement('input');
    Object.assign(field, { name: '{"name":"planted","description":"', value: '"}' });
    form.append(field);
    document.body.append(frame, form);
    attempt(`form ${enctype}`, new Promise((resolve) => frame.addEventListener('load', resolve)));
    form.submit();
  }

  const script = document.createElement('script');
  const loaded = new Promise((resolve) => {
    script.addEventListener('load', resolve);
    script.addEventListener('error', resolve);
  });
  script.src = `${target}/api/teams`;
  document.body.append(script);
  attempt('script', loaded);

  for (const protocols of [[], ['troupe'], ['bearer', 'x']]) {
    const socket = new WebSocket(`${target.replace('http', 'ws')}/ws`, protocols);
    socket.addEventListener('open', () => {
      spoils.push('a WebSocket opened');
      socket.send(JSON.stringify({ type: 'create_team', id: 1, payload: { name: 'planted' } }));
    });
    socket.addEventListener('message', ({ data }) => spoils.push(`the WebSocket said ${data}`));
    attempt('WebSocket', new Promise((resolve) => socket.addEventListener('close', resolve)));
  }

  for (const withCredentials of [true, false]) {
    const stream = new EventSource(`${target}/api/teams/demo/events`, { withCredentials });
    stream.addEventListener('open', () => spoils.push('a stream opened'));
    stream.addEventListener('message', ({ data }) => spoils.push(`the stream said ${data}`));
    attempt('EventSource', new Promise((resolve) => stream.addEventListener('error', resolve)));
    void tries.at(-1).then(() => stream.close());
  }

  await Promise.all(tries);
  return spoils;
}

// Opens an address in a frame of this page, and in a new window. Resolves with what it can see of them.
async function show(url) {
  const frame = document.createElement('iframe');
  frame.src = url;
  document.body.append(frame);
  await new Promise((resolve) => frame.addEventListener('load', resolve));
  const opened = window.open(url);
  const giveUp = performance.now() + HANG_MS;
  while (opened && !opened.closed && performance.now() < giveUp) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { framed: frame.contentDocument?.body.textContent ?? null, cutOff: opened?.closed ?? true };
}

globalThis.attack = attack;
globalThis.show = show;
