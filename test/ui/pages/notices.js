// Runs in a page before anything else: notes each notification that the page asks for, besides making it.
globalThis.notices = [];
globalThis.Notification = new Proxy(Notification, {
  construct(Real, [title, options]) {
    const notice = new Real(title, options);
    globalThis.notices.push({ text: `${title}: ${options.body}`, notice });
    return notice;
  },
});
