package history

// The operations of attempts that the judge knows by name, each with the Body that it needs of a 2xx. Others are judged by their
// status alone.
const (
	// MessageSend has the recipient's handle as Subject and {message} as Body.
	MessageSend = "message.send"
	// ContactRequest and ContactAccept have {contact} as Body.
	ContactRequest = "contact.request"
	ContactAccept  = "contact.accept"
	// PostCreate has the title as ID, which no other post of the agent has, and {post} as Body.
	PostCreate = "post.create"
	// FileUpload has the SHA-256 of the file in hex as Subject and {attachment} as Body.
	FileUpload = "file.upload"

	// EventPoll waits for events without a socket, EventAck acknowledges some; what came of them are deliveries and acks.
	EventPoll = "event.poll"
	EventAck  = "event.ack"

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
