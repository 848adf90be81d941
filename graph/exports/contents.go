package exports

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/drafts"
	"stoa/graph/messages"
	"stoa/graph/orders"
	"stoa/graph/platform/page"
	"stoa/graph/tasks"
)

// token is one line of tokens.jsonl.
type token struct {
	CreatedAt time.Time  `json:"created_at" db:"created_at"`
	ExpiresAt time.Time  `json:"expires_at" db:"expires_at"`
	RevokedAt *time.Time `json:"revoked_at" db:"revoked_at"`
}

// webhook is one line of webhooks.jsonl: the record of the API, also while webhooks are switched off, without its last failure.
type webhook struct {
	ID            uuid.UUID      `json:"id" db:"id"`
	URL           string         `json:"url" db:"url"`
	Kinds         jsontext.Value `json:"kinds" db:"kinds"`
	Own           bool           `json:"own" db:"own"`
	Signing       string         `json:"signing" db:"signing"`
	State         string         `json:"state" db:"state"`
	CreatedAt     time.Time      `json:"created_at" db:"created_at"`
	LastSuccessAt *time.Time     `json:"last_success_at" db:"last_success_at"`
}

// owner is owner.json.
type owner struct {
	Email       string         `json:"email" db:"email"`
	VerifiedAt  time.Time      `json:"verified_at" db:"verified_at"`
	ConfirmedAt time.Time      `json:"confirmed_at" db:"confirmed_at"`
	Documents   jsontext.Value `json:"documents" db:"documents"`
}

// ownTasks writes the tasks of the agent, whatever their state: a list of numbered pages.
func ownTasks(ctx context.Context, a *API, m *making) error {
	for number := 1; ; number++ {
		list, err := a.Records.Tasks.TaskBoard(ctx, tasks.TaskBoardInput{
			Mine: page.Param{"true"}, Page: page.Param{strconv.Itoa(number)}, PageSize: page.Param{"50"},
		})
		if err != nil {
			return err
		}
		if err := each(list.Tasks, func(t *tasks.Card) error { return m.add(t.ID, t) }); err != nil || list.NextPage == nil {
			return err
		}
	}
}

// order is one line of orders.jsonl: the record of the API, and the drafts with their replies, newest first.
type order struct {
	Order  *orders.Card    `json:"order"`
	Events []*orders.Event `json:"events"`
	Drafts []*drafts.Card  `json:"drafts"`
}

func wholeOrder(ctx context.Context, a *API, id string) (any, error) {
	detail, err := a.Records.Orders.Order(ctx, orders.OrderInput{OrderID: id})
	if err != nil {
		return nil, err
	}
	shown, err := a.Records.Drafts.OrderDrafts(ctx, drafts.ListInput{OrderID: id})
	if err != nil {
		return nil, err
	}
	return &order{detail.Order, detail.Events, shown.Drafts}, nil
}

// sealed writes the messages of every contact, also of blocked ones, newest first.
func sealed(ctx context.Context, a *API, m *making) error {
	return eachID(ctx, a, m, named("contact_ids"), func(contact uuid.UUID) error {
		created, before := time.Unix(math.MaxInt32, 0).UTC(), uuid.Max
		for {
			found, err := a.Records.Messages.OfContact(ctx, contact, created, before, pageSize)
			if err != nil {
				return err
			}
			if err := each(found, func(c *messages.Card) error { return m.add(c.ID, c) }); err != nil || len(found) < pageSize {
				return err
			}
			last := found[len(found)-1]
			created, before = last.CreatedAt, last.ID
		}
	})
}

// proveKey writes the proof of the agent's entry in the key log, unless the log has no such entry yet.
func proveKey(ctx context.Context, a *API, m *making) error {
	me, err := a.Records.Bots.Me(ctx)
	if err != nil {
		return err
	}
	proofs, err := a.KeyLog.Proofs(ctx, me.Bot.KeyLog.Index)
	if err != nil || proofs[0] == nil {
		return err
	}
	return m.archive.whole("key.tlog-proof", []byte(*proofs[0]))
}

// copyFiles writes the bytes of the agent's files, each once, under the hash that their records name. Missing files are left out.
func copyFiles(ctx context.Context, a *API, m *making) error {
	if !m.export.IncludeFiles {
		return nil
	}
	written := make(map[string]bool)
	return eachID(ctx, a, m, named("file_ids"), func(id uuid.UUID) error {
		if err := copyFile(ctx, a, m, id, written); !gone(err) {
			return err
		}
		return nil
	})
}

func copyFile(ctx context.Context, a *API, m *making, id uuid.UUID, written map[string]bool) error {
	in := attachments.AttachmentInput{AttachmentID: id.String()}
	found, err := a.Files.Attachment(ctx, in)
	if err != nil || !found.Attachment.Available || written[*found.Attachment.SHA256] {
		return err
	}
	file, err := a.Files.AttachmentDownload(ctx, in)
	if err != nil {
		return err
	}
	content, err := file.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer content.Close()
	sum := *found.Attachment.SHA256
	if err := m.archive.copy("files/"+sum, file.Size, content); err != nil {
		return err
	}
	written[sum], m.last = true, id.String()
	return nil
}
