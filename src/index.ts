// What programs can import; docs/library.md shows how. Only named exports, ordered from the core upwards.
export { SYSTEM, USER } from './core/actor.ts';
export type { Actor } from './core/actor.ts';
export { AgentChoice, AgentKind, AgentSpec } from './core/agent.ts';
export { AgentInput } from './core/agent-input.ts';
export { Budget } from './core/budget.ts';
export type { Command, CommandOf, CommandType } from './core/command.ts';
export { decide } from './core/decide.ts';
export { ClaimConflictError, ERROR_CODES, TeamError } from './core/errors.ts';
export type { ErrorCode, ErrorFacts } from './core/errors.ts';
export type { EventOf, EventType, TeamEvent } from './core/event.ts';
export { evolve } from './core/evolve.ts';
export {
  HookConfig,
  HookExitCode,
  HookResult,
  HookType,
  TaskCompletedHookContext,
  TaskCreatedHookContext,
  TeammateIdleHookContext,
} from './core/hook.ts';
export {
  BackendType,
  ChangeMemberInput,
  JoinInput,
  LeaveInput,
  SpawnTeammateOptions,
  TeamMember,
  TeammateStatus,
} from './core/member.ts';
export { BroadcastInput, MessagePriority, MessageType, SendMessageInput, TeamMessage } from './core/message.ts';
export { TeamNote } from './core/note.ts';
export { RequestStatus, TeamRequest } from './core/request.ts';
export { createState } from './core/state.ts';
export type { MemberRecord, TeamState } from './core/state.ts';
export {
  CreateTaskInput,
  DependencyFailurePolicy,
  SharedTask,
  SharedTaskPriority,
  SharedTaskStatus,
  UpdateTaskInput,
} from './core/task.ts';
export { CreateTeamInput, TeamConfig, TeammateMode, TeamStatus, UpdateTeamInput } from './core/team.ts';
export { Usage } from './core/usage.ts';
export { viewMember, viewTask, viewTeam } from './core/view.ts';

export type { Journal, Seq, Snapshot, Stored } from './journal/journal.ts';
export { memoryJournal } from './journal/memory.ts';
export { sqliteJournal } from './journal/sqlite.ts';
export type { SqliteJournal, SqliteJournalOptions } from './journal/sqlite.ts';

export type {
  Abilities,
  Agent,
  AgentEvent,
  AgentSession,
  MessageJson,
  Mode,
  Permission,
  Sent,
  StartOptions,
  TaskJson,
  TeamTools,
  Turn,
  TurnEnd,
  When,
} from './agents/agent.ts';
export { execAgent } from './agents/exec.ts';
export type { ExecOptions } from './agents/exec.ts';
export { functionAgent } from './agents/function.ts';
export type { AgentFunction, FunctionContext } from './agents/function.ts';

export type { ClaimKeeper } from './ledger/claim-keeper.ts';
export { Ledger } from './ledger/ledger.ts';
export type { BatchListener, NewCommand } from './ledger/ledger.ts';
export { Mailbox } from './ledger/mailbox.ts';
export type { IdleGate, IdleNotice, InboxFilter, MailboxEvents } from './ledger/mailbox.ts';
export type { LedgerOptions, Picker } from './ledger/options.ts';
export type { TaskListEvents } from './ledger/task-events.ts';
export type { TaskFilter } from './ledger/task-filter.ts';
export type { TaskGate } from './ledger/task-gate.ts';
export { SharedTaskList } from './ledger/task-list.ts';
export type { CompleteOptions } from './ledger/task-list.ts';

export { detectBackend } from './runtime/backend.ts';
export { TeamCoordinator } from './runtime/coordinator.ts';
export type { AgentFor, CoordinatorEvents } from './runtime/coordinator.ts';
export type { HookContext } from './runtime/hooks/payload.ts';
export type { FunctionOptions, HookAnswer, HookFunction } from './runtime/hooks/run-function.ts';
export { TeamHooks } from './runtime/hooks/team-hooks.ts';
export type { NewTask, TeamHooksOptions, UnapprovedHook } from './runtime/hooks/team-hooks.ts';
export type { Log, LogFields, LogLevel } from './runtime/log.ts';
export { SessionManager } from './runtime/sessions.ts';
export type { Session, SessionEvents } from './runtime/sessions.ts';
export { Supervisor } from './runtime/supervisor.ts';
export type { SupervisorEvents, SupervisorOptions } from './runtime/supervisor.ts';
export { openTeams } from './runtime/teams.ts';
export type { Teams, TeamsOptions } from './runtime/teams.ts';

export type { EventsFrame } from './operations/frames.ts';
export type { InputOf, OperationName, ResultOf } from './operations/index.ts';
export type { DaemonService, Services } from './operations/operation.ts';

export { CallError, Client } from './client/client.ts';
export type { CallOptions, ClientOptions, Connect, Connection, ConnectionState } from './client/client.ts';
export { connect } from './client/connect.ts';
export type { DaemonPlace } from './client/connect.ts';
export type { SubscribeOptions } from './client/feed.ts';
export type { Home } from './client/home.ts';

export type { Change, Door } from './teammate/door.ts';
export type { OwnAgents } from './teammate/own-agents.ts';
export { localDoor } from './teammate/local-door.ts';
export { runTeammate } from './teammate/teammate.ts';
export type { TeammateOptions } from './teammate/teammate.ts';
export type { Ending } from './teammate/teammate-steps.ts';

export type { JournalPlace } from './journals.ts';
export { startDaemon } from './daemon.ts';
export type { Daemon, DaemonOptions } from './daemon.ts';
export { embedTeams } from './embed.ts';
export type { EmbeddedTeams, EmbedOptions } from './embed.ts';
