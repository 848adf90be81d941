package workload

import (
	"strings"

	"stoa/cmd/prove/history"
)

// operation holds the common properties of all requests of one operation.
type operation struct {
	// call is the method and the path. In the path $s is the request's subject, $o its parent, and $x a part that the history
	// does not name.
	call string
	// kept: the history keeps the answers. noted: it keeps the sent members.
	kept, noted bool
	// page: the path is outside the API; the agent's token is not sent there.
	page bool
	// One of `again` answered requests is repeated, 0 for none. member differs in repeats with a change; it is empty if a change
	// would be another request. present: the answer shows the present state, so repeats come at once and not later.
	again   int
	member  string
	present bool
}

// oneOfMany is the value of again for frequent operations, oneOfFew for the others.
const oneOfMany, oneOfFew = 10, 3

// operations are all operations of the agents.
var operations = map[string]operation{
	history.Register:           {call: "POST /bots/register", kept: true, again: 1, member: "display_name"},
	history.RegistrationVerify: {call: "POST /registration/email/verify"},
	"onboarding.get":           {call: "GET /bots/me/onboarding"},
	history.ProfileUpdate:      {call: "PATCH /bots/me", kept: true, noted: true},
	history.CardGet:            {call: "GET /bots/$x", kept: true},

	history.TokenRotate: {call: "POST /tokens/rotate"},
	history.TokenRevoke: {call: "POST /tokens/revoke"},
	history.TokenUse:    {call: "GET /bots/me"},

	history.OwnerRequest: {call: "POST $xemail/request", kept: true},
	history.OwnerGuess:   {call: "POST /bots/me/owner-email/verify"},
	history.OwnerVerify:  {call: "POST /bots/me/owner-email/verify", kept: true, again: oneOfFew, present: true},
	history.OwnerOpen:    {call: "GET $x", page: true},
	history.OwnerConfirm: {call: "POST $x", page: true},

	history.ContactRequest: {call: "POST /contacts/requests", kept: true},
	history.ContactAccept:  {call: "POST /contacts/$x/accept", kept: true},
	history.ContactBlock:   {call: "POST /contacts/$x/block", kept: true},
	history.ContactList:    {call: "GET /contacts"},
	history.MessageSend:    {call: "POST /messages", kept: true, noted: true, again: oneOfMany, member: "ciphertext"},
	"message.list":         {call: "GET /messages?peer=$x"},

	history.OrderCreate:        {call: "POST /orders", kept: true, again: oneOfMany, member: "title"},
	history.OrderGet:           {call: "GET /orders/$s", kept: true},
	history.OrderAccept:        acting("accept", oneOfMany, "expected_version"),
	history.OrderReject:        acting("reject", oneOfFew, "expected_version"),
	history.OrderCancel:        acting("cancel", oneOfFew, "expected_version"),
	history.OrderStart:         acting("start", oneOfMany, "expected_version"),
	history.OrderDeliver:       acting("deliver", oneOfMany, "result_text"),
	history.OrderComplete:      acting("complete", oneOfMany, "expected_version"),
	history.OrderDispute:       acting("dispute", oneOfFew, "reason"),
	history.OrderProposeRefund: acting("propose-refund", oneOfFew, "reason"),
	history.OrderApproveRefund: acting("approve-refund", oneOfFew, "expected_version"),
	history.OrderRate:          {call: "POST /orders/$s/rating", kept: true, again: oneOfFew, member: "stars"},
	history.DraftList:          {call: "GET /orders/$s/drafts", kept: true},
	history.DraftSend:          {call: "POST /orders/$s/drafts", kept: true, again: oneOfFew, member: "text"},
	history.DraftReply:         {call: "POST /orders/$s/drafts/$o/reply", kept: true, again: oneOfFew, member: "text"},
	"quote":                    {call: "POST /orders/quote"},

	history.TaskCreate:       {call: "POST /tasks", kept: true},
	history.TaskGet:          {call: "GET /tasks/$s", kept: true},
	history.TaskClose:        {call: "POST /tasks/$s/close", kept: true},
	history.TaskRespond:      {call: "POST /tasks/$s/responses", kept: true, again: oneOfFew, member: "text", present: true},
	history.ResponseList:     {call: "GET /tasks/$s/responses", kept: true},
	history.ResponseUpdate:   {call: "PATCH /tasks/$o/responses/$s", kept: true},
	history.ResponseWithdraw: {call: "DELETE /tasks/$o/responses/$s", kept: true},
	history.TaskSelect:       {call: "POST /tasks/$o/select", kept: true, noted: true, again: oneOfFew, member: "confirmed_total_minor"},

	history.PostCreate:  {call: "POST /posts", kept: true, noted: true},
	history.PostGet:     {call: "GET /posts/$s", kept: true},
	history.PostUpdate:  {call: "PATCH /posts/$s", kept: true, noted: true},
	history.PostDelete:  {call: "DELETE /posts/$s", kept: true},
	history.PostFeed:    {call: "GET /posts?page_size=50", kept: true},
	history.FileUpload:  {call: "POST /attachments", kept: true, again: oneOfFew, member: "file"},
	history.FileUnsound: {call: "POST /attachments"},
	"file.download":     {call: "GET /attachments/$s/download"},

	history.WalletGet:     {call: "GET /wallet", kept: true},
	history.WalletHistory: {call: "GET /wallet/history", kept: true},
	"wallet.all":          {call: "GET /wallet/history"},
	history.WebhookCreate: {call: "POST /webhooks"},
	history.EventPoll:     {call: "GET /events"},
	history.EventAck:      {call: "POST /events/acks"},

	history.ErasureRequest: {call: "POST /bots/me/erasure", kept: true},
	history.ErasureDue:     {call: "GET /bots/me/erasure"},

	"hook.keys": {call: "GET /.well-known/stoa-keys.json", kept: true, page: true},

	"burst.change":       {call: "POST /orders/quote"},
	"burst.contact":      {call: "POST /contacts/requests"},
	"burst.search":       {call: "GET /tasks?q=nothing"},
	"burst.file":         {call: "POST /attachments", kept: true},
	"burst.register":     {call: "POST /bots/register"},
	"burst.register.all": {call: "POST /bots/register"},
}

// acting is an action on an order.
func acting(action string, again int, member string) operation {
	return operation{call: "POST /orders/$s/" + action, kept: true, again: again, member: member}
}

// fill puts the parts of a request into a path.
func (r request) fill(template string) string {
	return strings.NewReplacer("$s", r.subject, "$o", r.of, "$x", r.part).Replace(template)
}
