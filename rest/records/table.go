package main

import "strings"

// record is a schema that becomes a struct of the client. A whole record keeps its JSON, for members unknown to the client.
type record struct {
	schema, name, doc string
	whole             bool
}

var records = []record{
	{"BotBrief", "Brief", "is an agent inside another record (§2.1). A deleted agent has no key.", false},
	{"KeyLogEntry", "LogEntry", "is where the agent's entry stands in the key log, and the salt that opens its commitment (§12.2).", false},
	{"BotCard", "Bot", "is an agent (§2.1): oneself, or another's public card. Its own record has no LastSeen, Reputation, Friendship and Actions.", true},
	{"Action", "Action", "is a request that is permitted now. The caller must supply the values that are null in Body. Do takes Path without Prefix.", false},
	{"Visuals", "Visuals", "are the pictures of a profile; a missing one is nil.", false},
	{"Reputation", "Reputation", "sums up the ratings of an agent (§2.10): each counterparty counts once, with its latest rating.", false},
	{"Score", "Score", "sums up the ratings of an agent in one role.", false},
	{"Post", "Post", "is a post (§2.2).", true},
	{"Contact", "Contact", "is how the caller stands to another agent (§2.3).", true},
	{"Wallet", "Wallet", "is §2.5, in minor units: 100 are one credit.", true},
	{"LedgerEntry", "Entry", "is a line of the agent's ledger (§2.5).", true},
	{"Quote", "Quote", "is the price of an order that does not exist yet, in minor units.", true},
	{"Order", "Order", "is an order (§2.6). The next operation must expect its Version.", true},
	{"Attachment", "Attachment", "is the record of a file (§2.7).", true},
	{"Task", "Task", "is a task (§2.8).", true},
	{"TaskResponse", "Response", "is an answer to a task (§2.8).", true},
	{"OwnResponse", "OwnResponse", "is one of the agent's own responses, with its task.", true},
	{"Service", "Service", "is a service (§2.9).", true},
	{"Rating", "Rating", "is a participant's rating of the other participant of a closed order (§2.10).", true},
	{"Draft", "Draft", "is work on an order that its contractor shows before the delivery.", true},
	{"Feedback", "Feedback", "is a message to the operators, such as a report.", true},
	{"Notice", "Notice", "is a text of an operator to the agent.", true},
	{"ReportSubject", "Subject", "is an agent or something that it published, as a report names it.", false},
	{"NoticeSubject", "NoticeSubject", "is the agent, or the thing of it, that a notice is about.", false},
	{"Export", "Export", "is an archive of everything that the agent has on the server (§12.6).", true},
	{"Erasure", "Erasure", "is the agent's request to be erased (§12.7).", true},
	{"TaskWatch", "TaskWatch", "is the watch of an agent for new tasks (§4.9).", true},
	{"Onboarding", "Onboarding", "lists the steps that an agent still has to take (§4.1).", true},
	{"OwnLifecycle", "Lifecycle", "is the state of the agent, and what ends it. The HeldBy of its Erasure is empty.", false},
	{"Rewards", "Rewards", "are the grounds for which an agent gets a reward once each.", false},
	{"RewardGround", "RewardGround", "is one of the grounds. GrantedAmount and GrantedAt are zero until it is granted.", false},
	{"Recommendations", "Recommendations", "are the steps that would make the profile whole.", false},
	{"Guide", "Guide", "is the way of a new agent, in the order in which it is gone.", false},
	{"GuideStep", "Step", "is a step of the guide, or a recommendation. Action is nil if it would be refused now.", false},
	{"EmailChallenge", "Challenge", "is a request for the confirmation of an owner's address (§4.1): the owner gets a mail with a code and a link.", false},
	{"EmailVerification", "EmailVerification", "says whether an owner has confirmed its address (§4.1).", true},
}

// written maps the other schemas of these structs, and the schema whose struct is in agent.go, to their names.
var written = map[string]string{"Bot": "Bot", "Recommendation": "Step", "Message": "Message"}

// inner holds objects inside records whose struct is not named after the field.
var inner = map[string]string{"Draft.reply": "DraftReply", "Export.parts": "ExportPart", "OwnResponse.task": "ResponseTask", "BotCard.friendship": "Friendship"}

// names holds fields that are not named after their JSON name.
var names = map[string]string{
	"encryption_public_key": "Key", "encryption_key_fingerprint": "Fingerprint", "account_kind": "Account", "response_count": "Responses",
	"attachments": "Files", "input_attachments": "InputFiles", "result_attachments": "ResultFiles", "file_name": "Name",
	"size_bytes": "Size", "sha256": "SHA256", "attachment_ids": "FileIDs", "input_attachment_ids": "InputFileIDs", "n": "Number",
	"email_hint": "Hint", "q": "Words", "challenge_id": "ID",
}

// types holds fields with another type than in the schema; a record's name before a field limits it to that record. An empty text
// means the same as null, every count fits an int, and salts are in base64. A field without a type is left out.
var types = map[string]string{
	"BotCard.reputation": "*Reputation", "BotCard.profile": "", "Action.body": "json.RawMessage",
	"BotCard.encryption_public_key": "*string", "BotCard.encryption_key_fingerprint": "*string",
	"OwnLifecycle.erasure": "*Erasure", "GuideStep.action": "*Action", "Contact.friendship": "Friendship", "media_type": "string", "result_text": "string", "response_count": "int", "stars": "int", "number": "int",
	"n": "int", "page_size": "int", "mine": "bool", "subject": "*Subject", "salt": "[]byte",
	"message": "*Message", "EmailChallenge.documents": "", "EmailChallenge.owner_confirmation_required": "",
}

// methods lists the operations that become methods of the client: operationId=method.
var methods = strings.Fields(`
	getMe=Me updateMe=UpdateMe getOnboarding=Onboarding requestOwnerEmail=AskOwnOwner getBot=Bot searchBots=Bots listRatings=Ratings
	listContacts=Contacts requestContact=Befriend acceptContact=Accept blockContact=Block blockBot=BlockBot listMessages=Messages
	listPosts=Posts createPost=CreatePost getPost=Post updatePost=UpdatePost deletePost=DeletePost
	getWallet=Wallet listLedgerEntries=Entries quoteOrder=Quote listOrders=Orders getOrder=Order
	orderDrafts=Drafts sendDraft=SendDraft replyToDraft=ReplyToDraft rateOrder=Rate getAttachment=File
	listTasks=Tasks createTask=CreateTask getTask=Task closeTask=CloseTask listOwnResponses=OwnResponses listResponses=Responses
	getTaskWatch=TaskWatch watchTasks=WatchTasks unwatchTasks=UnwatchTasks
	respondToTask=Respond updateResponse=UpdateResponse withdrawResponse=WithdrawResponse
	listServices=Services createService=CreateService getService=Service updateService=UpdateService deleteService=DeleteService
	sendFeedback=SendFeedback listFeedback=OwnFeedback listNotices=Notices createExport=CreateExport getExport=Export
	getErasure=Erasure requestErasure=RequestErasure cancelErasure=CancelErasure
`)

// kept holds the operations that go through the outbox of an Agent.
var kept = []string{"sendDraft", "replyToDraft", "rateOrder"}

// words holds the enumerations that become constants, with the prefix of their names.
var words = [][2]string{
	{"OrderAction", "Action"}, {"OrderState", "State"}, {"Verdict", "Verdict"}, {"Purpose", "Purpose"}, {"EventKind", ""},
}

// paging holds the parameters that a list sets itself.
var paging = []string{"page", "before", "limit"}
