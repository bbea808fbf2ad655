import { describeLimit, describeWindow, showTime } from '../../../core/account-words.ts';
import type { ResultOf } from '../../../operations/index.ts';
import type { Screen } from '../screen.ts';
import { table } from '../table.ts';
import { clean } from '../text.ts';
import type { Views } from './views.ts';

type Account = ResultOf<'account.list'>[number];

export const views: Views = {
  'account.list': (accounts, screen) =>
    accounts.length === 0
      ? 'No account of this team has said anything about its limits yet.\n'
      : listed(accounts, screen),
  'account.report': ({ account }) => (account ? said(account) : ''),
  'account.enter': ({ free, account }) => (free || !account ? 'A turn may begin.\n' : said(account)),
  'account.clear': (account) => (account ? said(account) : 'Nothing is known about this account.\n'),
};

function listed(accounts: readonly Account[], screen: Screen): string {
  const rows = accounts.map((account) => [account.id, stateOf(account), windowsOf(account)]);
  return table([{ title: 'ACCOUNT' }, { title: 'STATE' }, { title: 'USED', flexible: true }], rows, screen);
}

function said(account: Account): string {
  return `${clean(account.id)}: ${clean(stateOf(account))}.\n`;
}

function stateOf({ id, limit }: Account): string {
  return limit ? describeLimit(limit, id) : 'can be used';
}

function windowsOf({ windows, at }: Account): string {
  return windows
    .map((window) => {
      const { resetsAt } = window;
      return `${describeWindow(window)}${resetsAt === undefined ? '' : `, until ${showTime(resetsAt, at)}`}`;
    })
    .join('; ');
}
