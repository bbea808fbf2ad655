import { Bell, Clock3, Server, SunMoon } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import type { ResultOf } from '../../src/operations/index.ts';
import { call } from '../data/daemon.ts';
import { setTheme, setWantsNotices, theme, wantsNotices } from '../data/settings.ts';
import { useSignal } from '../data/signal.ts';
import { setZone, zone } from '../data/zone.ts';
import { isLogOutOpen } from '../palette/open.ts';
import { failureOf } from '../parts/act.ts';
import type { Failure } from '../parts/act.ts';
import { showControls } from '../parts/controls.ts';
import { Fact } from '../parts/fact.tsx';
import { FailureNote } from '../parts/failure.tsx';
import { showMoment, showSpan, useNow } from '../parts/format.ts';
import { usePermission } from '../queue/notices.ts';
import './settings.css';

/** What can be set for this browser, and what is set for the daemon. */
export function SettingsPage() {
  return (
    <main className="page settings-page" id="main" tabIndex={-1}>
      <div className="page-head">
        <h1>Settings</h1>
      </div>
      <section className="setting-group" aria-label="This browser">
        <h2 className="label">This browser</h2>
        <ThemeSetting />
        <ZoneSetting />
        <NoticeSetting />
      </section>
      <DaemonPart />
      <button type="button" className="button" onClick={() => isLogOutOpen.set(true)}>
        Log out of this browser
      </button>
    </main>
  );
}

function Setting({
  name,
  icon,
  hint,
  children,
}: {
  name: string;
  icon: ReactNode;
  hint: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="setting">
      {icon}
      <div>
        <h3>{name}</h3>
        <p className="hint">{hint}</p>
      </div>
      {children}
    </div>
  );
}

function Choice<T extends string>({
  name,
  value,
  choices,
  onChange,
}: {
  name: string;
  value: T;
  choices: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}) {
  return (
    <div className="switch" role="group" aria-label={name}>
      {choices.map(([one, word]) => (
        <button key={one} type="button" aria-pressed={value === one} onClick={() => onChange(one)}>
          <span>{word}</span>
        </button>
      ))}
    </div>
  );
}

function ThemeSetting() {
  return (
    <Setting name="Theme" icon={<SunMoon size={18} aria-hidden />} hint="System follows your computer.">
      <Choice
        name="Theme"
        value={useSignal(theme)}
        choices={[
          ['light', 'Light'],
          ['dark', 'Dark'],
          ['system', 'System'],
        ]}
        onChange={setTheme}
      />
    </Setting>
  );
}

function ZoneSetting() {
  const chosen = useSignal(zone);
  const now = useNow();
  return (
    <Setting name="Times" icon={<Clock3 size={18} aria-hidden />} hint={`Now it is ${showMoment(now)}.`}>
      <Choice
        name="Times"
        value={chosen}
        choices={[
          ['local', 'This computer'],
          ['utc', 'UTC'],
        ]}
        onChange={setZone}
      />
    </Setting>
  );
}

const PERMISSION_WORDS: Readonly<Record<string, string>> = {
  granted: 'While this page is in the background, new requests are shown on your desktop.',
  default: 'The browser will ask you to allow it.',
  denied: 'The browser does not allow notifications for this page. Allow them in its settings first.',
};

function NoticeSetting() {
  const { permission, ask } = usePermission();
  const wants = useSignal(wantsNotices);
  const isOn = permission === 'granted' && wants;
  const change = (on: 'on' | 'off'): void => {
    setWantsNotices(on === 'on');
    if (on === 'on' && permission === 'default') ask();
  };
  return (
    <Setting name="Notifications" icon={<Bell size={18} aria-hidden />} hint={PERMISSION_WORDS[permission]}>
      {permission === 'denied' ? (
        <span className="meta">Off</span>
      ) : (
        <Choice
          name="Notifications"
          value={isOn ? 'on' : 'off'}
          choices={[
            ['off', 'Off'],
            ['on', 'On'],
          ]}
          onChange={change}
        />
      )}
    </Setting>
  );
}

interface Told {
  readonly status: ResultOf<'daemon.status'>;
  readonly settings: ResultOf<'daemon.settings'>;
}

/** The daemon's own settings are in a file, which a person edits. The page only shows them. */
function DaemonPart() {
  const [told, setTold] = useState<Told>();
  const [failure, setFailure] = useState<Failure>();
  useEffect(() => {
    const { signal, abort } = endable();
    Promise.all([call('daemon.status', {}, { signal }), call('daemon.settings', {}, { signal })]).then(
      ([status, settings]) => setTold({ status, settings }),
      (error: unknown) => !signal.aborted && setFailure(failureOf(error)),
    );
    return abort;
  }, []);
  return (
    <section className="setting-group" aria-label="The daemon" aria-busy={!told && !failure}>
      <h2 className="label">
        <Server size={14} aria-hidden /> The daemon
      </h2>
      <FailureNote failure={failure} />
      {told && <Facts {...told} />}
    </section>
  );
}

function Facts({ status, settings }: Told) {
  const { journal, health } = status;
  const { notify, limits } = settings;
  return (
    <>
      <dl className="facts setting-facts">
        <Fact name="Version">
          {status.version}, running for {showSpan(status.uptime * 1_000)}
        </Fact>
        <Fact name="State">
          {health.status === 'ok' ? 'Everything works' : showControls(health.problems.join('; '))}
        </Fact>
        <Fact name="Journal">
          {journal.kind}, {journal.durability}
          <div className="mono text">{showControls(journal.location)}</div>
          {journal.advice !== undefined && <div className="hint">{showControls(journal.advice)}</div>}
        </Fact>
        <Fact name="State directory">
          <span className="mono text">{showControls(status.home)}</span>
        </Fact>
        {(status.hosts?.length ?? 0) > 0 && (
          <Fact name="Machines">{status.hosts?.map(({ name, load }) => `${name} (${load})`).join(', ')}</Fact>
        )}
        <Fact name="Default agent">{settings.agent ?? 'the first that is installed'}</Fact>
        <Fact name="Tells you">{notify ? wordNotify(notify) : 'nobody outside of this page'}</Fact>
        <Fact name="Limits">
          {limits.tasksPerTeam.toLocaleString('en-US')} tasks and {limits.notesPerTeam.toLocaleString('en-US')} notes in
          a team, {limits.messageBytes / 1024} KB a message
        </Fact>
      </dl>
      <p className="hint">
        These are set in <code>{showControls(settings.file)}</code>.
      </p>
    </>
  );
}

function wordNotify({ to, on, quietHours, answers }: NonNullable<Told['settings']['notify']>): string {
  const ways = to.map(({ channel, where }) => (where === undefined ? channel : `${channel} (${where})`)).join(', ');
  return [
    `${ways}: ${on.join(', ')}`,
    quietHours !== undefined && `not during ${quietHours}`,
    answers && 'with links that answer',
  ]
    .filter(Boolean)
    .join('; ');
}

function endable(): { signal: AbortSignal; abort: () => void } {
  const stop = new AbortController();
  return { signal: stop.signal, abort: () => stop.abort() };
}
