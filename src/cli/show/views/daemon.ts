import type { ResultOf } from '../../../operations/index.ts';
import { eventLines } from '../event-lines.ts';
import type { Screen } from '../screen.ts';
import { clean } from '../text.ts';
import { showDuration, showTime } from '../time.ts';
import { writeEntries } from '../transcript-lines.ts';
import { toJson } from '../write.ts';
import { count, details, heading, textPart } from './details.ts';
import type { Views } from './views.ts';

export const views: Views = {
  'daemon.status': (status, screen) => daemonDetails(status, screen),
  'daemon.settings': (settings, screen) => settingsDetails(settings, screen),
  'daemon.stop': () => 'The daemon has ended.\n',
  'ui.login': ({ url }) => `${clean(url)}\n`,
  'token.rotate': () =>
    'Every credential given out so far is void. Members that Troupe runs have new ones. Programs of yours need new ones: troupe member token NAME --team TEAM\n',
  'transcript.read': ({ entries }, screen, { after }) =>
    entries.length === 0
      ? `There is nothing ${after === undefined ? 'yet' : 'more'}.\n`
      : writeEntries(entries, screen),
  'transcript.search': ({ hits, next }, screen) =>
    hits
      .map(({ session, place, at, before, match, after }) => {
        const around = clean(`${before}${match}${after}`).trim();
        return `${showTime(new Date(at).toISOString(), screen)}  ${clean(session)} ${place}  ${around}\n`;
      })
      .join('') +
    (next ? `There is more: go on with --session ${clean(next.session)} --after ${next.after}\n` : '') +
    (hits.length === 0 && !next ? 'Nothing was found.\n' : ''),
  'transcript.text': (part) => textPart(part),
  'event.list': (batches, screen) =>
    batches.length === 0 ? 'Nothing happened.\n' : batches.flatMap((batch) => eventLines(batch, screen)).join(''),
  'event.snapshot': ({ seq, body }) =>
    `The state after batch ${seq} has ${count(body.length, 'character')}. --json prints it.\n`,
  'record.read': ({ answer }) => toJson(answer, 2),
};

function settingsDetails(settings: ResultOf<'daemon.settings'>, screen: Screen): string {
  const { file, agent, labels, projects, notify, limits } = settings;
  const ways = notify?.to.map(({ channel, where }) => (where === undefined ? channel : `${channel} (${where})`));
  return details(
    [
      ['file', file],
      ['agent', agent ?? 'the first that is installed'],
      ['labels', labels.join(', ')],
      ['projects', projects.join(', ')],
      ['notify', ways ? `${ways.join(', ')}: ${notify?.on.join(', ')}` : 'off'],
      ['quiet hours', notify?.quietHours ?? ''],
      ['answer links', notify?.answers ? 'on' : ''],
      [
        'limits',
        `${limits.tasksPerTeam} tasks and ${limits.notesPerTeam} notes in a team, ${limits.messageBytes} bytes a message`,
      ],
    ],
    screen,
  );
}

/** `build-1 (3 members; gpu)`, with a mark for this host. */
function showHost({ name, load, labels }: HostView, own: string | undefined): string {
  const notes = [name === own ? 'this one' : '', count(load, 'member'), labels.join(' ')].filter((note) => note !== '');
  return `${name} (${notes.join('; ')})`;
}

type HostView = NonNullable<ResultOf<'daemon.status'>['hosts']>[number];

function daemonDetails(status: ResultOf<'daemon.status'>, screen: Screen): string {
  const { teamMetrics: done } = status;
  return (
    heading(`Troupe ${status.version}, running for ${showDuration(status.uptime * 1000)}`, screen) +
    details(
      [
        ['pid', String(status.pid)],
        ['started', showTime(status.startedAt, screen)],
        ['home', status.home],
        ['socket', status.socket],
        ['url', status.url ?? 'none'],
        ['token', status.tokenFile],
        ['journal', `${status.journal.kind}, ${status.journal.location}, ${status.journal.durability}`],
        ['', { text: status.journal.advice ?? '', style: 'yellow' }],
        ['machines', (status.hosts ?? []).map((host) => showHost(host, status.name)).join(', ')],
        ['memory', `${Math.round(status.memory / 1024 / 1024)} MB`],
        ['connections', String(status.connections)],
        ['problems', { text: status.health.problems.join('; '), style: 'red' }],
        [
          'in total',
          [
            `${count(done.totalTeamsCreated, 'team')} made`,
            `${count(done.totalTeammatesSpawned, 'teammate')} started`,
            `${count(done.totalTeamTasksCompleted, 'task')} completed`,
            `${count(done.totalTeamMessages, 'message')} sent`,
          ].join(', '),
        ],
      ],
      screen,
    )
  );
}
