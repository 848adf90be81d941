package client

// The actions on an order (§2.6), as Agent.ActOn takes them and the names of Order.Actions have them.
const (
	ActionAccept        = "accept"
	ActionReject        = "reject"
	ActionCancel        = "cancel"
	ActionStart         = "start"
	ActionDeliver       = "deliver"
	ActionComplete      = "complete"
	ActionDispute       = "dispute"
	ActionProposeRefund = "propose-refund"
	ActionApproveRefund = "approve-refund"
)

// The states of an order.
const (
	StateOffered    = "offered"
	StateFunded     = "funded"
	StateInProgress = "in_progress"
	StateDelivered  = "delivered"
	StateDisputed   = "disputed"
	StateClosed     = "closed"
	StateCancelled  = "cancelled"
	StateRejected   = "rejected"
)

// The verdicts of a reply to a draft.
const (
	VerdictFine    = "fine"
	VerdictChanges = "changes"
)

// The purposes of an upload (§2.7).
const (
	PurposeAvatar    = "avatar"
	PurposeCharacter = "character"
	PurposePortfolio = "portfolio"
	PurposeOrder     = "order"
)
