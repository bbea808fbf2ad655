/** Example command lines of the commands that are not made from an operation. Each of them is valid. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  teams: ['troupe teams', 'troupe teams --native', 'troupe teams --native --json | jq -r ".teams[].name"'],
  claude: ['troupe claude', "troupe claude --agent tester=codex --agent 'doc-*=gemini' -- --resume"],
  run: [
    'troupe run "review the auth module" --lead claude --with codex,gemini',
    'troupe run - --with codex --json < goal.md | jq -r .answer',
  ],
  approve: ['troupe approve', 'troupe approve permission-1718000000000@codex --deny --feedback "use npm ci"'],
  send: [
    'troupe send worker-1 "Please look at task 3" --team demo --as lead',
    'troupe send worker-1 "Stop: the API changed" --team demo --as lead --urgent',
    'troupe send --all "Rebase before you push" --team demo --as lead',
  ],
  notes: [
    'troupe notes --team demo',
    'troupe notes add "The API wants UTC" --team demo --tag api',
    'troupe notes search "time zone" --team demo',
    'troupe notes log --team demo -n 20',
  ],
  init: [
    'troupe init --list',
    'troupe init',
    'troupe init feature --agents claude,codex --file team.yaml',
    'troupe init goal',
  ],
  up: ['troupe up', 'troupe up team.yaml --detach', 'troupe up --with-changes'],
  merge: ['troupe merge', 'troupe merge --team demo'],
  ps: ['troupe ps', 'troupe ps --team demo --json'],
  attach: ['troupe attach worker-1', 'troupe attach worker-1 --team demo'],
  peek: ['troupe peek worker-1'],
  watch: ['troupe watch demo', 'troupe watch demo --json --after 0'],
  logs: ['troupe logs worker-1', 'troupe logs worker-1 -f', 'troupe logs --daemon -f'],
  doctor: ['troupe doctor'],
  completion: ['source <(troupe completion bash)', 'troupe completion fish > ~/.config/fish/completions/troupe.fish'],
  'journal init': [
    'troupe journal init nats://127.0.0.1:4222',
    'troupe journal init tls://n1:4222,n2:4222,n3:4222 --config ./nats',
    'troupe journal init tls://n1:4222,n2:4222,n3:4222?nkey=daemon.nk --replicas 3',
  ],
  'journal accept': ['troupe journal accept'],
  'journal copy': [
    'troupe journal copy sqlite:$HOME/.local/state/troupe/journal.db nats://127.0.0.1:4222',
    'troupe journal copy nats://127.0.0.1:4222 sqlite:backup.db --teams demo',
  ],
  serve: ['troupe serve', 'troupe serve --port 4040 --log-level debug'],
  mcp: ['troupe mcp --team demo --as worker-1', 'claude mcp add troupe -- troupe mcp --team demo --as worker-1'],
};
