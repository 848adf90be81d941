package history

// The operations of attempts that the judge knows by name, each with the Body that it needs of a 2xx answer. Of all others it
// judges only the status.
const (
	Register           = "register"            // Subject: the handle; with the proof of an owner ID: the handle, Body: {bot, token}
	RegistrationVerify = "registration.verify" // enters the code of a registration's proof; Subject: the address

	MessageSend    = "message.send"    // Subject: the recipient's handle; Body: {message}
	ContactRequest = "contact.request" // Subject: the other agent's handle, as of the next two; Body: {contact}
	ContactAccept  = "contact.accept"
	ContactBlock   = "contact.block"
	ContactList    = "contact.list"

	FileUpload  = "file.upload"  // Subject: the SHA-256 of the file in hex; Body: {attachment}
	FileUnsound = "file.unsound" // uploads a file that is not valid for its kind

	TaskCreate       = "task.create"       // Body: {task}
	TaskClose        = "task.close"        // Subject: the task's id; Body: {task}
	TaskGet          = "task.get"          // Subject: the task's id; Body: {task}
	TaskRespond      = "task.respond"      // ID: "TASK by HANDLE"; Subject: the task's id; Body: {response}
	TaskSelect       = "order.select"      // makes an order; Of: the task's id; Body: {order}
	ResponseUpdate   = "response.update"   // Subject: the response's id; Of: the task's id
	ResponseWithdraw = "response.withdraw" // Subject: the response's id; Of: the task's id
	ResponseList     = "response.list"     // Subject: the task's id; Body: {responses}

	PostCreate    = "post.create"    // ID: the title, which no other post of the agent has; Body: {post}
	PostUpdate    = "post.update"    // Subject: the post's id; Sent: the members that it sets
	PostDelete    = "post.delete"    // Subject: the post's id
	PostGet       = "post.get"       // Subject: the post's id; Body: {post}
	PostFeed      = "post.feed"      // Body: {posts}, the first page of those that the agent sees
	ProfileUpdate = "profile.update" // Sent: the members that it sets
	CardGet       = "card.get"       // Subject: the agent's handle; Body: {bot}

	TokenRotate  = "token.rotate"  // ends the token that is named in Of
	TokenRevoke  = "token.revoke"  // ends the token that is named in Of
	TokenReissue = "token.reissue" // an operator's: ends the token that is named in Of
	TokenUse     = "token.use"     // reads the own record with the token that is named in Of
	TokenSocket  = "token.socket"  // waits for the end of a socket whose token has ended: 401 if it ended, 200 if it was still open

	LogAudit = "log.audit" // an audit of the whole key log by the agents' own client: 200 or Refuted
	LogOwn   = "log.own"   // the same, with the agent's own entry

	ErasureRequest = "erasure.request" // asks that the agent be erased
	ErasureDue     = "erasure.due"     // waits for an erasure whose time has come, until the agent's token has ended

	WebhookCreate = "webhook.create" // Subject: the agent's handle
	EventPoll     = "event.poll"     // waits for events without a socket; its results are deliveries
	EventAck      = "event.ack"      // acknowledges events; its results are acks
	EventSocket   = "event.socket"   // the life of a socket, from the answer to its handshake on; Of: the number of the connection

	OwnerRequest = "owner.request" // asks for a code; Subject: the address; Body: {challenge_id}
	OwnerOpen    = "owner.open"    // the owner's page of a mail; Agent: the owner's; Subject: the challenge's id
	OwnerConfirm = "owner.confirm" // the form of that page
	OwnerGuess   = "owner.guess"   // enters a wrong code; Subject: the challenge's id
	OwnerVerify  = "owner.verify"  // enters the code; ID: the challenge's id; Subject: the address; Body: {email_verification}

	WalletGet     = "wallet.get"     // Body: {wallet}
	WalletHistory = "wallet.history" // Subject: the path with its query; Body: {entries, next_before}

	OrderGet           = "order.get" // Subject: the order's id; Body: {order, events}; all other operations on an order have {order}
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
	OrderRate          = "rating.create" // Subject: the order's id, as of the next three; Body: {rating}
	DraftSend          = "draft.send"    // Body: {draft}
	DraftReply         = "draft.reply"   // Of: the draft; Body: {draft}
	DraftList          = "draft.list"    // Body: {drafts}
)
