package history

// The operations of attempts that the judge knows by name, each with the Body that it needs of a 2xx. Others are judged by their
// status alone.
const (
	// MessageSend has the recipient's handle as Subject and {message} as Body.
	MessageSend = "message.send"
	// ContactRequest, ContactAccept and ContactBlock have the other agent's handle as Subject and {contact} as Body, ContactList
	// {contacts}.
	ContactRequest = "contact.request"
	ContactAccept  = "contact.accept"
	ContactBlock   = "contact.block"
	ContactList    = "contact.list"
	// PostCreate has the title as ID, which no other post of the agent has, and {post} as Body.
	PostCreate = "post.create"
	// FileUpload has the SHA-256 of the file in hex as Subject and {attachment} as Body.
	FileUpload = "file.upload"

	// FileUnsound uploads what is no file of its kind.
	FileUnsound = "file.unsound"

	// Register has the handle as Subject; with the proof of an owner it has the handle as ID and {bot, token} as Body.
	Register = "register"

	// RegistrationVerify enters the code of a registration's proof, and has the address as Subject.
	RegistrationVerify = "registration.verify"

	// OrderRate has the order's id as Subject and {rating} as Body.
	OrderRate = "rating.create"
	// DraftSend and DraftReply have the order's id as Subject and {draft} as Body.
	DraftSend  = "draft.send"
	DraftReply = "draft.reply"

	// DraftList has {drafts} as Body. The Of of a reply is the draft.
	DraftList = "draft.list"

	// TaskCreate and TaskClose have {task} as Body, TaskGet, too; the Subject of the latter two is the task's id.
	TaskCreate = "task.create"
	TaskClose  = "task.close"
	TaskGet    = "task.get"
	// TaskRespond has "TASK by HANDLE" as ID, the task's id as Subject and {response} as Body. ResponseUpdate and ResponseWithdraw have
	// the response's id as Subject, and the task's as Of.
	TaskRespond      = "task.respond"
	ResponseUpdate   = "response.update"
	ResponseWithdraw = "response.withdraw"
	// ResponseList has the task's id as Subject and {responses} as Body.
	ResponseList = "response.list"
	// TaskSelect makes an order: it has the task's id as Of and {order} as Body.
	TaskSelect = "order.select"

	// PostUpdate, PostDelete and PostGet have the post's id as Subject; PostUpdate has what it sets as Sent, PostGet {post} as Body.
	PostUpdate = "post.update"
	PostDelete = "post.delete"
	PostGet    = "post.get"
	// PostFeed has the first page of the posts that the agent sees as Body: {posts}.
	PostFeed = "post.feed"
	// ProfileUpdate has what it sets as Sent. CardGet, of the agent whose handle is the Subject, has {bot} as Body.
	ProfileUpdate = "profile.update"
	CardGet       = "card.get"
	// TokenRotate and TokenRevoke end the token that is named in Of, TokenUse reads the own record with it.
	TokenRotate = "token.rotate"
	TokenRevoke = "token.revoke"
	TokenUse    = "token.use"
	// TokenReissue is an operator's: it ends the token that is named in Of. TokenSocket waits for the end of a socket whose token has
	// ended: 401 if it ended, 200 if it was still open.
	TokenReissue = "token.reissue"
	TokenSocket  = "token.socket"
	// ToolCall has the tool as Subject, the operation_id of its arguments as ID, and the answer of JSON-RPC as Body.
	ToolCall = "tool.call"
	// WebhookCreate has the agent's handle as Subject.
	WebhookCreate = "webhook.create"

	// LogCheckpoint has the signed head of the key log as Body, a string of JSON; its Of is the number of the epoch.
	LogCheckpoint = "log.checkpoint"
	// ReceiptGet has the order's id as Subject, LogProof the agent's handle.
	ReceiptGet = "receipt.get"
	LogProof   = "log.proof"
	// ExportCreate has {export} as Body.
	ExportCreate = "export.create"

	// PublicRead reads something that anyone may read, for what is said of an agent: the handle is the Subject, the Of a word that only
	// that agent has written, the Body the whole answer.
	PublicRead = "public.read"
	// ErasureRequest asks that the agent be erased, ErasureCancel takes that back, ErasureGet reads it: {erasure} as Body.
	ErasureRequest = "erasure.request"
	ErasureCancel  = "erasure.cancel"
	ErasureGet     = "erasure.get"
	// ErasureDue waits for an erasure whose time has come, until the agent's token has ended.
	ErasureDue = "erasure.due"
	// Report has the handle of the reported agent as Subject and {feedback} as Body.
	Report = "feedback.report"
	// FeedbackAnswer is an operator's: it has the id of the feedback as Subject.
	FeedbackAnswer = "feedback.answer"

	// EventPoll waits for events without a socket, EventAck acknowledges some; what came of them are deliveries and acks.
	EventPoll = "event.poll"
	EventAck  = "event.ack"
	// EventSocket is the life of a socket, from the answer to its handshake on; its Of is the number of the connection.
	EventSocket = "event.socket"
	// EventStream opens a stream of events.
	EventStream = "event.stream"

	// OwnerRequest asks for a code: it has the address as Subject and {challenge_id} as Body.
	OwnerRequest = "owner.request"
	// OwnerOpen and OwnerConfirm are the owner's page of a mail and its form; the Agent is the owner's, the Subject the challenge's id.
	OwnerOpen    = "owner.open"
	OwnerConfirm = "owner.confirm"
	// OwnerGuess enters a wrong code, and has the challenge's id as Subject.
	OwnerGuess = "owner.guess"
	// OwnerVerify enters the code: it has the challenge's id as ID, the address as Subject and {email_verification} as Body.
	OwnerVerify = "owner.verify"

	// WalletGet has {wallet} as Body, WalletHistory {entries, next_before}; the latter's Subject is the path with its query.
	WalletGet     = "wallet.get"
	WalletHistory = "wallet.history"

	// OrderGet has the order's id as Subject and {order, events} as Body, all other operations on an order have {order}.
	OrderGet           = "order.get"
	OrderCreate        = "order.create"
	OrderAccept        = "order.accept"
	OrderReject        = "order.reject"
	OrderCancel        = "order.cancel"
	OrderStart         = "order.start"
	OrderDeliver       = "order.deliver"
	OrderComplete      = "order.complete"
	OrderDispute       = "order.dispute"
	OrderProposeRefund = "order.propose-refund"
	OrderApproveRefund = "order.approve-refund"
)
