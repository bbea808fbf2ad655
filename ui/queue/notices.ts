import { useEffect, useRef, useState } from 'react';
import { navigate } from '../data/route.ts';
import { wantsNotices } from '../data/settings.ts';
import { useSignal } from '../data/signal.ts';
import { queue } from '../data/teams.ts';
import { showControls } from '../parts/controls.ts';
import { kindOf } from './answer.ts';

/** Shows a desktop notification for new requests while the page is in the background, if the person allowed that. */
export function useNotices(): void {
  const requests = useSignal(queue);
  const seen = useRef<Set<string>>(undefined);
  useEffect(() => {
    const keys = new Set(requests.map(({ teamId, id }) => `${teamId}/${id}`));
    const before = seen.current;
    seen.current = keys;
    const isAllowed = typeof Notification !== 'undefined' && Notification.permission === 'granted';
    if (!before || !document.hidden || !isAllowed || !wantsNotices.get()) return;
    for (const request of requests) {
      const key = `${request.teamId}/${request.id}`;
      if (before.has(key)) continue;
      const notice = new Notification(`${kindOf(request).name} · ${request.memberId}`, {
        body: showControls(request.content.slice(0, 200)),
        tag: key,
        icon: '/favicon.svg',
      });
      notice.addEventListener('click', () => {
        focus();
        navigate(`/queue?id=${encodeURIComponent(key)}`);
      });
    }
  }, [requests]);
}

/** Whether the browser allows notifications, and a way to ask for them. Elsewhere the person may change it. */
export function usePermission(): { permission: NotificationPermission; ask: () => void } {
  const [permission, setPermission] = useState(readPermission);
  useEffect(() => {
    const look = (): void => setPermission(readPermission());
    addEventListener('focus', look);
    return () => removeEventListener('focus', look);
  }, []);
  return { permission, ask: () => void Notification.requestPermission().then(setPermission) };
}

function readPermission(): NotificationPermission {
  return typeof Notification === 'undefined' ? 'denied' : Notification.permission;
}
