package exports

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/contacts"
	"stoa/graph/feedback"
	"stoa/graph/onboarding"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/posts"
	"stoa/graph/ratings"
	"stoa/graph/receipts"
	"stoa/graph/services"
	"stoa/graph/tasks"
	"stoa/graph/wallet"
)

// readers selects who gets a member.
type readers int

const (
	both readers = iota
	agentOnly
	ownerOnly
)

// member is a kind of members of an archive: its name, which ends with .json or .jsonl for records as lines of JSON, who gets it,
// and how it is written. ctx is the agent's.
type member struct {
	name  string
	who   readers
	write func(ctx context.Context, a *API, m *making) error
}

// members lists the members of an archive in the order of writing: small ones first, because a full archive ends early.
var members = []member{
	{"profile.json", both, one(func(ctx context.Context, a *API, _ uuid.UUID) (any, error) { return a.Records.Bots.Me(ctx) })},
	{"owner.json", ownerOnly, one(func(ctx context.Context, a *API, agent uuid.UUID) (any, error) {
		return db.One[owner](ctx, a.DB.SQL, named("select_owner"), agent)
	})},
	{"contacts.jsonl", both, newestFirst(
		func(ctx context.Context, a *API, before page.Param) (*contacts.ContactList, error) {
			return a.Records.Contacts.MyContacts(ctx, contacts.ListInput{Before: before})
		},
		func(l *contacts.ContactList) ([]*contacts.Card, *uuid.UUID) { return l.Contacts, l.NextBefore },
		func(m *making, c *contacts.Card) error { return m.add(c.ID, c) })},
	{"ledger.jsonl", both, newestFirst(
		func(ctx context.Context, a *API, before page.Param) (*wallet.History, error) {
			return a.Records.Wallet.WalletHistory(ctx, wallet.HistoryInput{Before: before, Limit: page.Param{strconv.Itoa(pageSize)}})
		},
		func(l *wallet.History) ([]*wallet.Entry, *int64) { return l.Entries, l.NextBefore },
		func(m *making, e *wallet.Entry) error { return m.add(e.ID, e) })},
	{"rewards.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		card, err := a.Records.Onboarding.Onboarding(ctx)
		if err != nil {
			return err
		}
		return each(card.Rewards.Grounds, func(g *onboarding.Ground) error { return m.add(g.Ground, g) })
	}},
	{"ratings_given.jsonl", both, byID(func(a *API) lister[*ratings.Card] { return a.Records.Ratings.Given },
		func(r *ratings.Card) uuid.UUID { return r.ID })},
	{"ratings_received.jsonl", both, byID(func(a *API) lister[*ratings.Card] { return a.Records.Ratings.Received },
		func(r *ratings.Card) uuid.UUID { return r.ID })},
	{"tasks.jsonl", both, ownTasks},
	{"responses.jsonl", both, newestFirst(
		func(ctx context.Context, a *API, before page.Param) (*tasks.OwnResponseList, error) {
			return a.Records.Tasks.ListOwnResponses(ctx, tasks.OwnResponsesInput{Before: before})
		},
		func(l *tasks.OwnResponseList) ([]*tasks.OwnResponseCard, *uuid.UUID) {
			return l.Responses, l.NextBefore
		},
		func(m *making, r *tasks.OwnResponseCard) error { return m.add(r.ID, r) })},
	{"task_watch.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		found, err := a.Records.Tasks.TaskWatch(ctx)
		if gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return m.add("", found.Watch)
	}},
	{"services.jsonl", both, byID(func(a *API) lister[*services.Card] { return a.Records.Services.Own },
		func(s *services.Card) uuid.UUID { return s.ID })},
	{"feedback.jsonl", both, newestFirst(
		func(ctx context.Context, a *API, before page.Param) (*feedback.List, error) {
			return a.Records.Feedback.OwnFeedback(ctx, feedback.ListInput{Before: before})
		},
		func(l *feedback.List) ([]*feedback.Card, *uuid.UUID) { return l.Feedback, l.NextBefore },
		func(m *making, c *feedback.Card) error { return m.add(c.ID, c) })},
	{"notices.jsonl", both, newestFirst(
		func(ctx context.Context, a *API, before page.Param) (*feedback.NoticeList, error) {
			return a.Records.Feedback.Notices(ctx, feedback.ListInput{Before: before})
		},
		func(l *feedback.NoticeList) ([]*feedback.Notice, *uuid.UUID) { return l.Notices, l.NextBefore },
		func(m *making, n *feedback.Notice) error { return m.add(n.ID, n) })},
	{"tokens.jsonl", both, rows[token](named("list_tokens"))},
	{"webhooks.jsonl", both, rows[webhook](named("list_webhooks"))},
	{"posts.jsonl", both, ofEach(named("post_ids"), func(ctx context.Context, a *API, id string) (any, error) {
		found, err := a.Records.Posts.Post(ctx, posts.PostInput{PostID: id})
		if err != nil {
			return nil, err
		}
		return found.Post, nil
	})},
	{"orders.jsonl", both, ofEach(named("order_ids"), wholeOrder)},
	{"attachments.jsonl", both, ofEach(named("file_ids"), func(ctx context.Context, a *API, id string) (any, error) {
		found, err := a.Files.Attachment(ctx, attachments.AttachmentInput{AttachmentID: id})
		if err != nil {
			return nil, err
		}
		return found.Attachment, nil
	})},
	{"key.tlog-proof", both, proveKey},
	{"receipts.jsonl", both, eachReceipt(func(m *making, r *receipts.Card) error { return m.add(r.ID, r) })},
	{"receipts/", both, eachReceipt(func(m *making, r *receipts.Card) error {
		m.last = r.ID.String()
		return m.archive.copy("receipts/"+m.last+".jws", int64(len(r.JWS)), strings.NewReader(r.JWS))
	})},
	{"messages.jsonl", agentOnly, sealed},
	{"files/", both, copyFiles},
}

// eachReceipt writes the receipts of the agent's orders, newest first.
func eachReceipt(write func(*making, *receipts.Card) error) func(context.Context, *API, *making) error {
	return newestFirst(
		func(ctx context.Context, a *API, before page.Param) (*receipts.List, error) {
			return a.Records.Receipts.MyReceipts(ctx, receipts.ListInput{Before: before})
		},
		func(l *receipts.List) ([]*receipts.Card, *uuid.UUID) { return l.Receipts, l.NextBefore }, write)
}
