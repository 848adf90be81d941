package exports

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/contacts"
	"stoa/graph/feedback"
	"stoa/graph/platform/page"
	"stoa/graph/posts"
	"stoa/graph/receipts"
	"stoa/graph/tasks"
)

// readers say who gets a member.
type readers int

const (
	both readers = iota
	agentOnly
	ownerOnly
)

// member is a kind of members of an archive: its name, which ends with .jsonl for lines of JSON, who gets it, and how its records are
// written. A record's id is noted with m.add, so that a full archive can say where it ended.
type member struct {
	name  string
	who   readers
	write func(ctx context.Context, a *API, m *making) error
}

// pageSize is how many records are read at once.
const pageSize = 100

// members is the table of the contents of an archive, in the order in which it is written: what is small first, since a full archive ends.
var members = []member{
	{"profile.json", both, func(ctx context.Context, a *API, m *making) error {
		return one(m, func() (any, error) { return a.Records.Bots.Me(ctx) })
	}},
	{"owner.json", ownerOnly, func(ctx context.Context, a *API, m *making) error {
		return one(m, func() (any, error) { return a.owner(ctx, m.export.BotID) })
	}},
	{"contacts.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		return cursor(m, func(before page.Param) ([]*contacts.Card, *uuid.UUID, error) {
			list, err := a.Records.Contacts.MyContacts(ctx, contacts.ListInput{Before: before})
			if err != nil {
				return nil, nil, err
			}
			return list.Contacts, list.NextBefore, nil
		}, func(c *contacts.Card) string { return c.ID.String() })
	}},
	{"ledger.jsonl", both, ledger},
	{"rewards.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		card, err := a.Records.Onboarding.Onboarding(ctx)
		if err != nil {
			return err
		}
		for _, ground := range card.Rewards.Grounds {
			if err := m.add(ground.Ground, ground); err != nil {
				return err
			}
		}
		return nil
	}},
	{"ratings_given.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		return keyset(func(after uuid.UUID) (last uuid.UUID, n int, err error) {
			found, err := a.Records.Ratings.Given(ctx, m.export.BotID, after, pageSize)
			for _, r := range found {
				if err := m.add(r.ID.String(), r); err != nil {
					return last, 0, err
				}
				last = r.ID
			}
			return last, len(found), err
		})
	}},
	{"ratings_received.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		return keyset(func(after uuid.UUID) (last uuid.UUID, n int, err error) {
			found, err := a.Records.Ratings.Received(ctx, m.export.BotID, after, pageSize)
			for _, r := range found {
				if err := m.add(r.ID.String(), r); err != nil {
					return last, 0, err
				}
				last = r.ID
			}
			return last, len(found), err
		})
	}},
	{"tasks.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		return numbered(func(number page.Param) (more bool, err error) {
			list, err := a.Records.Tasks.TaskBoard(ctx, tasks.TaskBoardInput{Mine: page.Param{"true"}, Page: number, PageSize: page.Param{"50"}})
			if err != nil {
				return false, err
			}
			for _, t := range list.Tasks {
				if err := m.add(t.ID.String(), t); err != nil {
					return false, err
				}
			}
			return list.NextPage != nil, nil
		})
	}},
	{"responses.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		return cursor(m, func(before page.Param) ([]*tasks.OwnResponseCard, *uuid.UUID, error) {
			list, err := a.Records.Tasks.ListOwnResponses(ctx, tasks.OwnResponsesInput{Before: before})
			if err != nil {
				return nil, nil, err
			}
			return list.Responses, list.NextBefore, nil
		}, func(r *tasks.OwnResponseCard) string { return r.ID.String() })
	}},
	{"services.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		return keyset(func(after uuid.UUID) (last uuid.UUID, n int, err error) {
			found, err := a.Records.Services.Own(ctx, m.export.BotID, after, pageSize)
			for _, s := range found {
				if err := m.add(s.ID.String(), s); err != nil {
					return last, 0, err
				}
				last = s.ID
			}
			return last, len(found), err
		})
	}},
	{"feedback.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		return cursor(m, func(before page.Param) ([]*feedback.Card, *uuid.UUID, error) {
			list, err := a.Records.Feedback.OwnFeedback(ctx, feedback.ListInput{Before: before})
			if err != nil {
				return nil, nil, err
			}
			return list.Feedback, list.NextBefore, nil
		}, func(c *feedback.Card) string { return c.ID.String() })
	}},
	{"tokens.jsonl", both, func(ctx context.Context, a *API, m *making) error { return records[token](ctx, a, m, listTokens) }},
	{"webhooks.jsonl", both, func(ctx context.Context, a *API, m *making) error { return records[webhook](ctx, a, m, listWebhooks) }},
	{"posts.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		return byID(ctx, a, m, postIDs, func(id string) (any, error) {
			found, err := a.Records.Posts.Post(ctx, posts.PostInput{PostID: id})
			if err != nil {
				return nil, err
			}
			return found.Post, nil
		})
	}},
	{"orders.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		return byID(ctx, a, m, orderIDs, func(id string) (any, error) { return a.order(ctx, id) })
	}},
	{"attachments.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		return byID(ctx, a, m, fileIDs, func(id string) (any, error) {
			found, err := a.Files.Attachment(ctx, attachments.AttachmentInput{AttachmentID: id})
			if err != nil {
				return nil, err
			}
			return found.Attachment, nil
		})
	}},
	{"key.tlog-proof", both, func(ctx context.Context, a *API, m *making) error { return a.proveKey(ctx, m) }},
	{"receipts.jsonl", both, func(ctx context.Context, a *API, m *making) error {
		return a.eachReceipt(ctx, func(r *receipts.Card) error { return m.add(r.ID.String(), r) })
	}},
	{"receipts/", both, func(ctx context.Context, a *API, m *making) error {
		return a.eachReceipt(ctx, func(r *receipts.Card) error {
			m.last = r.ID.String()
			return m.archive.copy("receipts/"+m.last+".jws", int64(len(r.JWS)), strings.NewReader(r.JWS))
		})
	}},
	{"messages.jsonl", agentOnly, sealed},
	{"files/", both, func(ctx context.Context, a *API, m *making) error { return a.copyFiles(ctx, m) }},
}
