// Written by scripts/write-manifest.ts from the table of operations; do not edit.
import { commandOf } from './command.ts';
import type { Command, CommandRow } from './command.ts';

/** Every operation as a command, as JSON: a command line reads the one it needs, and V8 need not build them all. */
const TABLE: Readonly<Record<string, string>> = {
  'team create':
    '["team.create","admin",[["name","name","string","!"]],[["description","description","string",""],["leadName","lead","string",""],["leadSessionId","lead-session-id","string",""],["leadAgentType","lead-agent-type","string",""],["leadModel","lead-model","string",""],["leadAgent","lead-agent","json",""],["leadPrompt","lead-prompt","string",""],["leadHost","lead-host","string",""],["leadLabels","lead-labels","list",""],["agents","agents","json",""],["budget","budget","json",""],["cwd","cwd","string",""],["teammateMode","teammate-mode","string","",["in-process","tmux","iterm2","auto"]],["resolvedBackend","resolved-backend","string","",["tmux","iterm2","in-process","subprocess"]],["maxTeammates","max-teammates","number",""],["messagesPerMinute","messages-per-minute","number",""],["delegateMode","delegate-mode","boolean",""],["metadata","metadata","json",""]]]',
  'team list': '["team.list","reader",[],[["known","known","number",""],["wait","wait","duration",""]]]',
  'team show': '["team.show","reader",[["teamId","team","string","!"]],[]]',
  'team status': '["team.status","reader",[["teamId","team","string","!"]],[]]',
  'team update':
    '["team.update","lead",[["teamId","team","string","!"]],[["description","description","string",""],["leadId","lead","string",""],["leadSessionId","lead-session-id","string",""],["maxTeammates","max-teammates","number",""],["messagesPerMinute","messages-per-minute","number",""],["delegateMode","delegate-mode","boolean",""],["agents","agents","json",""],["budget","budget","json",""],["status","status","string","",["active","shutting-down"]],["metadata","metadata","json",""]]]',
  'team close': '["team.close","lead",[["teamId","team","string","!"]],[["force","force","boolean",""]]]',
  down: '["team.down","lead",[["teamId","team","string","!"]],[["reason","reason","string",""],["within","within","duration",""],["force","force","boolean",""]]]',
  'team digest': '["team.digest","member",[["teamId","team","string","!"]],[["after","after","number",""]]]',
  'team delete': '["team.delete","admin",[["teamId","team","string","!"]],[["force","force","boolean",""]]]',
  'team check':
    '["team.check","admin",[["source","source","string","!"]],[["folder","folder","string","!"],["name","name","string",""]]]',
  'team up':
    '["team.up","admin",[["source","source","string","!"]],[["folder","folder","string","!"],["name","name","string",""],["approve","approve","list",""],["yes","yes","boolean",""],["again","again","boolean",""]]]',
  'team run':
    '["team.run","admin",[["goal","goal","string","!"]],[["folder","folder","string","!"],["lead","lead","string",""],["with","with","list",""],["name","name","string",""],["model","model","string",""],["mode","mode","string","",["plan","edit","full"]],["delegate","delegate","boolean",""]]]',
  'member add':
    '["member.add","lead",[["name","name","string","!"]],[["teamId","team","string","!"],["role","role","string",""],["prompt","prompt","string",""],["model","model","string",""],["planApprovalRequired","plan-approval-required","boolean",""],["agentType","agent-type","string",""],["sessionId","session-id","string",""],["color","color","string",""],["cwd","cwd","string",""],["backendType","backend-type","string","",["tmux","iterm2","in-process","subprocess"]],["subscriptions","subscriptions","list",""],["status","status","string","",["spawning","active","idle"]],["agent","agent","json",""],["host","host","string",""],["labels","labels","list",""],["budget","budget","json",""],["metadata","metadata","json",""]]]',
  'member spawn':
    '["member.spawn","lead",[["name","name","string","!"]],[["teamId","team","string","!"],["role","role","string",""],["prompt","prompt","string",""],["model","model","string",""],["planApprovalRequired","plan-approval-required","boolean",""],["agentType","agent-type","string",""],["color","color","string",""],["cwd","cwd","string",""],["backendType","backend-type","string","",["tmux","iterm2","in-process","subprocess"]],["subscriptions","subscriptions","list",""],["agent","agent","json",""],["host","host","string",""],["labels","labels","list",""],["budget","budget","json",""],["metadata","metadata","json",""]]]',
  'member stop':
    '["member.stop","lead",[["memberId","member","string","!"]],[["teamId","team","string","!"],["reason","reason","string",""]]]',
  'member restart': '["member.restart","lead",[["memberId","member","string","!"]],[["teamId","team","string","!"]]]',
  'session list': '["session.list","reader",[],[["teamId","team","string","!"]]]',
  'member list': '["member.list","reader",[],[["teamId","team","string","!"]]]',
  'member show': '["member.show","reader",[["memberId","member","string","!"]],[["teamId","team","string","!"]]]',
  'member update':
    '["member.update","member",[["memberId","member","string","!"]],[["teamId","team","string","!"],["status","status","string","",["spawning","active","idle","shutting-down"]],["sessionId","session-id","string",""],["role","role","string",""],["model","model","string",""],["color","color","string",""],["cwd","cwd","string",""],["backendType","backend-type","string","",["tmux","iterm2","in-process","subprocess"]],["subscriptions","subscriptions","list",""],["budget","budget","json",""],["result","result","string",""],["reason","reason","string",""],["metadata","metadata","json",""]]]',
  'member idle':
    '["member.idle","member",[["memberId","member","string","!"]],[["teamId","team","string","!"],["result","result","string",""],["reason","reason","string",""]]]',
  'member remove':
    '["member.remove","member",[["memberId","member","string","!"]],[["teamId","team","string","!"],["reason","reason","string",""],["returning","returning","boolean",""],["hostId","host-id","string",""]]]',
  'member token':
    '["member.token","admin",[["memberId","member","string","!"]],[["teamId","team","string","!"],["readOnly","read-only","boolean",""]]]',
  'usage record':
    '["usage.record","member",[["memberId","member","string","!"]],[["teamId","team","string","!"],["usage","usage","json","!"],["taskId","task","string",""],["context","context","json",""]]]',
  'budget show': '["budget.show","reader",[["memberId","member","string",""]],[["teamId","team","string","!"]]]',
  'usage show': '["usage.show","reader",[],[["teamId","team","string","!"]]]',
  'task add':
    '["task.create","member",[["title","title","string","!"]],[["teamId","team","string","!"],["description","description","string",""],["activeForm","active-form","string",""],["priority","priority","string","",["low","medium","high","critical"]],["assigneeId","assign","string",""],["dependencies","needs","list",""],["onDependencyFailure","on-dependency-failure","string","",["block","proceed","fail"]],["metadata","metadata","json",""]]]',
  'task list':
    '["task.list","reader",[],[["teamId","team","string","!"],["status","status","string","",["pending","in_progress","completed","failed","deleted","blocked"]],["assigneeId","assignee","string",""],["priority","priority","string","",["low","medium","high","critical"]],["after","after","string",""],["limit","limit","number",""]]]',
  'task show': '["task.show","reader",[["taskId","task","string","!"]],[["teamId","team","string","!"]]]',
  'task update':
    '["task.update","member",[["taskId","task","string","!"]],[["teamId","team","string","!"],["title","title","string",""],["description","description","string",""],["activeForm","active-form","string",""],["priority","priority","string","",["low","medium","high","critical"]],["onDependencyFailure","on-dependency-failure","string","",["block","proceed","fail"]],["metadata","metadata","json",""],["epoch","epoch","number",""],["revision","revision","number",""],["status","status","string","",["pending","in_progress","completed","failed","deleted","blocked"]],["assigneeId","assign","string","?"],["addDependencies","add-needs","list",""],["addDependents","add-needed-by","list",""]]]',
  'task assign':
    '["task.assign","member",[["taskId","task","string","!"],["assigneeId","assignee","string","?"]],[["teamId","team","string","!"],["epoch","epoch","number",""],["revision","revision","number",""]]]',
  'task claim':
    '["task.claim","member",[["taskId","task","string",""]],[["teamId","team","string","!"],["wait","wait","duration",""]]]',
  'task release':
    '["task.release","member",[["taskId","task","string","!"]],[["teamId","team","string","!"],["reason","reason","string",""],["epoch","epoch","number",""],["revision","revision","number",""]]]',
  'task complete':
    '["task.complete","member",[["taskId","task","string","!"]],[["teamId","team","string","!"],["result","result","string",""],["epoch","epoch","number",""]]]',
  'task fail':
    '["task.fail","member",[["taskId","task","string","!"],["reason","reason","string","!"]],[["teamId","team","string","!"],["epoch","epoch","number",""],["revision","revision","number",""]]]',
  'task reopen':
    '["task.reopen","member",[["taskId","task","string","!"]],[["teamId","team","string","!"],["reason","reason","string",""],["epoch","epoch","number",""],["revision","revision","number",""]]]',
  'task delete':
    '["task.delete","member",[["taskId","task","string","!"]],[["teamId","team","string","!"],["epoch","epoch","number",""],["revision","revision","number",""]]]',
  'task depend':
    '["task.depend","member",[["taskId","task","string","!"],["dependencies","dependencies","list","!"]],[["teamId","team","string","!"],["epoch","epoch","number",""],["revision","revision","number",""]]]',
  'task undepend':
    '["task.undepend","member",[["taskId","task","string","!"],["dependencies","dependencies","list","!"]],[["teamId","team","string","!"],["epoch","epoch","number",""],["revision","revision","number",""]]]',
  'message send':
    '["message.send","member",[["toId","to","string","!"],["content","content","string","!"]],[["teamId","team","string","!"],["summary","summary","string",""],["priority","priority","string","",["normal","urgent"]],["metadata","metadata","json",""],["messageId","message-id","string",""]]]',
  'message broadcast':
    '["message.broadcast","member",[["content","content","string","!"]],[["teamId","team","string","!"],["summary","summary","string",""],["priority","priority","string","",["normal","urgent"]],["metadata","metadata","json",""],["messageId","message-id","string",""]]]',
  inbox:
    '["message.inbox","reader",[],[["teamId","team","string","!"],["memberId","of","string",""],["unread","unread","boolean",""],["waiting","waiting","boolean",""],["type","type","string","",["direct","broadcast","system","plan_approval","task_update"]],["since","since","time",""],["until","until","time",""],["after","after","string",""],["limit","limit","number",""],["markRead","mark-read","boolean",""],["wait","wait","duration",""]]]',
  'message read':
    '["message.read","member",[["memberId","member","string","!"],["messageIds","messages","list","!"]],[["teamId","team","string","!"]]]',
  'message deliver':
    '["message.deliver","member",[["memberId","member","string","!"],["messageIds","messages","list","!"]],[["teamId","team","string","!"],["sessionId","session-id","string","!"],["redelivery","redelivery","boolean",""]]]',
  'message acknowledge':
    '["message.acknowledge","member",[["memberId","member","string","!"],["messageIds","messages","list","!"]],[["teamId","team","string","!"],["read","read","boolean",""]]]',
  'request list':
    '["request.list","reader",[],[["teamId","team","string","!"],["status","status","string","",["pending","approved","rejected","withdrawn"]],["kind","kind","string","",["shutdown","plan","gate","permission","budget","restart"]],["after","after","string",""]]]',
  'request raise':
    '["request.raise","member",[["kind","kind","string","!",["gate","permission","budget","restart"]],["content","content","string","!"]],[["teamId","team","string","!"],["memberId","member-id","string","!"],["taskId","task","string",""],["within","within","number",""],["detail","detail","json",""]]]',
  'request answer':
    '["request.answer","admin",[["requestId","request","string","!"]],[["teamId","team","string","!"],["approve","approve","boolean","!"],["feedback","feedback","string",""]]]',
  'request judge': '["request.judge","admin",[["requestId","request","string","!"]],[["teamId","team","string","!"]]]',
  'shutdown request':
    '["shutdown.request","member",[["memberId","member","string","!"]],[["teamId","team","string","!"],["reason","reason","string",""]]]',
  'shutdown approve':
    '["shutdown.approve","member",[["requestId","request","string","!"]],[["teamId","team","string","!"],["feedback","feedback","string",""]]]',
  'shutdown reject':
    '["shutdown.reject","member",[["requestId","request","string","!"],["feedback","feedback","string",""]],[["teamId","team","string","!"]]]',
  'plan submit':
    '["plan.submit","member",[["content","content","string","!"]],[["teamId","team","string","!"],["filePath","file-path","string",""]]]',
  'plan approve':
    '["plan.approve","lead",[["requestId","request","string","!"]],[["teamId","team","string","!"],["feedback","feedback","string",""]]]',
  'plan reject':
    '["plan.reject","lead",[["requestId","request","string","!"],["feedback","feedback","string",""]],[["teamId","team","string","!"]]]',
  'note add':
    '["note.add","member",[["text","text","string","!"]],[["teamId","team","string","!"],["tags","tag","list",""]]]',
  'note list':
    '["note.list","reader",[],[["teamId","team","string","!"],["tag","tag","string",""],["after","after","string",""],["limit","limit","number",""]]]',
  'note update':
    '["note.update","member",[["noteId","note","string","!"],["text","text","string",""]],[["teamId","team","string","!"],["tags","tag","list",""],["revision","revision","number",""]]]',
  'note remove': '["note.remove","member",[["noteId","note","string","!"]],[["teamId","team","string","!"]]]',
  'note search':
    '["note.search","reader",[["query","query","string","!"]],[["teamId","team","string","!"],["limit","limit","number",""]]]',
  'hook register':
    '["hook.register","admin",[["type","type","string","!",["TeammateIdle","TaskCompleted","TaskCreated"]],["command","command","string","!"]],[["teamId","team","string","!"],["executor","executor","string","",["shell","node"]],["cwd","cwd","string",""],["env","env","list",""],["approved","approved","string",""],["timeout","timeout","number",""],["enabled","enabled","boolean",""],["onFailure","on-failure","string","",["allow","block"]]]]',
  'hook list': '["hook.list","reader",[],[["teamId","team","string","!"]]]',
  'hook remove':
    '["hook.remove","admin",[["type","type","string","!",["TeammateIdle","TaskCompleted","TaskCreated"]]],[["teamId","team","string","!"]]]',
  'transcript read':
    '["transcript.read","reader",[["memberId","member","string","!"]],[["teamId","team","string","!"],["session","session","string",""],["after","after","number",""],["tail","tail","boolean",""],["wait","wait","duration",""]]]',
  'event list':
    '["event.list","reader",[],[["teamId","team","string","!"],["after","after","number",""],["limit","limit","number",""]]]',
  'native list': '["native.list","admin",[],[["known","known","number",""],["wait","wait","duration",""]]]',
  'native show': '["native.show","admin",[["name","name","string","!"]],[]]',
  'native events': '["native.events","admin",[],[["after","after","number",""],["wait","wait","duration",""]]]',
  'native leftovers': '["native.leftovers","admin",[],[["quiet","quiet","number",""]]]',
  'native clean': '["native.clean","admin",[["names","names","list","!"]],[["quiet","quiet","number",""]]]',
  join: '["native.join","admin",[["name","name","string","!"]],[["as","as","string",""]]]',
  'native leave': '["native.leave","admin",[["teamId","team","string","!"]],[]]',
  'native joined': '["native.joined","admin",[],[]]',
  'native players': '["native.players","admin",[],[["agents","agents","json",""],["cwd","cwd","string",""]]]',
  'native sit':
    '["native.sit","admin",[["name","name","string","!"],["member","member","string","!"]],[["agent","agent","json","!"],["cwd","cwd","string","!"],["root","root","string","!"],["ticket","ticket","string","!"],["plan","plan","boolean",""],["signs","signs","boolean",""]]]',
  'native hold':
    '["native.hold","admin",[["memberId","member","string","!"]],[["teamId","team","string","!"],["ticket","ticket","string","!"],["wait","wait","duration",""]]]',
  agents: '["agent.list","admin",[],[["quick","quick","boolean",""]]]',
  status: '["daemon.status","admin",[],[]]',
  stop: '["daemon.stop","admin",[],[["keep","keep","boolean",""]]]',
  ui: '["ui.login","admin",[],[]]',
  'token rotate': '["token.rotate","admin",[],[]]',
};

/** The names of all commands that come from operations. */
export const COMMAND_NAMES: readonly string[] = Object.keys(TABLE);

/** The command of this name, if an operation has it. */
export function readCommand(words: string): Command | undefined {
  const row = Object.hasOwn(TABLE, words) ? TABLE[words] : undefined;
  return row === undefined ? undefined : commandOf(words, JSON.parse(row) as CommandRow);
}
