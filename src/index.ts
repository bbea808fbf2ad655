export { SYSTEM, USER } from './core/actor.ts';
export type { Actor } from './core/actor.ts';
export type { Command, CommandOf, CommandType } from './core/command.ts';
export { decide } from './core/decide.ts';
export { ClaimConflictError, ERROR_CODES, TeamError } from './core/errors.ts';
export type { ErrorCode } from './core/errors.ts';
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
export { RequestStatus, TeamRequest } from './core/request.ts';
export { createState } from './core/state.ts';
export type { TeamState } from './core/state.ts';
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
export { Ledger } from './ledger/ledger.ts';
export type { BatchListener, NewCommand } from './ledger/ledger.ts';
export { Mailbox } from './ledger/mailbox.ts';
export type { InboxFilter } from './ledger/mailbox.ts';
export type { LedgerOptions } from './ledger/options.ts';
export { SharedTaskList } from './ledger/task-list.ts';
export type { TaskFilter } from './ledger/task-filter.ts';
export type { Abilities, Agent, AgentEvent, AgentSession, Turn } from './agents/agent.ts';
export { execAgent } from './agents/exec.ts';
export { functionAgent } from './agents/function.ts';
export type { AgentFunction } from './agents/function.ts';
export { AgentKind, AgentSpec } from './core/agent.ts';
export { TeamNote } from './core/note.ts';
export type { Door } from './host/door.ts';
export { localDoor } from './host/local-door.ts';
export { runTeammate } from './host/teammate.ts';
export { detectBackend } from './runtime/backend.ts';
export { TeamCoordinator } from './runtime/coordinator.ts';
export { TeamHooks } from './runtime/hooks/team-hooks.ts';
export { SessionManager } from './runtime/sessions.ts';
export { Supervisor } from './runtime/supervisor.ts';
export { openTeams } from './runtime/teams.ts';
export { startDaemon } from './daemon.ts';
