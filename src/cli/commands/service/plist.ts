import { OURS } from './program.ts';
import type { ServiceProgram } from './program.ts';

/**
 * The text of a launchd agent. `AbandonProcessGroup`: the daemon ends its members itself. It is started again only
 * after a failure, so `troupe stop` stops it.
 */
export function plistText(label: string, { command, variables, log }: ServiceProgram): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    `<!-- ${OURS} -->`,
    '<plist version="1.0">',
    '<dict>',
    ...entry('Label', string(label)),
    ...entry('ProgramArguments', '<array>', ...command.map(string), '</array>'),
    ...entry(
      'EnvironmentVariables',
      '<dict>',
      ...Object.entries(variables).flatMap(([name, value]) => entry(name, string(value))),
      '</dict>',
    ),
    ...entry('RunAtLoad', '<true/>'),
    ...entry('KeepAlive', '<dict>', ...entry('SuccessfulExit', '<false/>'), '</dict>'),
    ...entry('ThrottleInterval', '<integer>10</integer>'),
    ...entry('ExitTimeOut', '<integer>60</integer>'),
    ...entry('AbandonProcessGroup', '<true/>'),
    ...entry('StandardOutPath', string(log)),
    ...entry('StandardErrorPath', string(log)),
    '</dict>',
    '</plist>',
    '',
  ].join('\n');
}

function entry(key: string, ...value: readonly string[]): string[] {
  return [`<key>${escape(key)}</key>`, ...value];
}

function string(text: string): string {
  return `<string>${escape(text)}</string>`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
