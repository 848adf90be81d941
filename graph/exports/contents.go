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
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/receipts"
	"stoa/graph/wallet"
)

var (
	postIDs      = statements.Named("post_ids")
	orderIDs     = statements.Named("order_ids")
	fileIDs      = statements.Named("file_ids")
	contactIDs   = statements.Named("contact_ids")
	listTokens   = statements.Named("list_tokens")
	listWebhooks = statements.Named("list_webhooks")
	selectOwner  = statements.Named("select_owner")
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

func (a *API) owner(ctx context.Context, botID uuid.UUID) (*owner, error) {
	return db.One[owner](ctx, a.DB.SQL, selectOwner, botID)
}

func ledger(ctx context.Context, a *API, m *making) error {
	for before := (page.Param)(nil); ; {
		list, err := a.Records.Wallet.WalletHistory(ctx, wallet.HistoryInput{Before: before, Limit: page.Param{strconv.Itoa(pageSize)}})
		if err != nil {
			return err
		}
		for _, e := range list.Entries {
			if err := m.add(strconv.FormatInt(e.ID, 10), e); err != nil {
				return err
			}
		}
		if list.NextBefore == nil {
			return nil
		}
		before = page.Param{strconv.FormatInt(*list.NextBefore, 10)}
	}
}

// order is one line of orders.jsonl: the record of the API, and the drafts with their replies, newest first.
type order struct {
	Order  *orders.Card    `json:"order"`
	Events []*orders.Event `json:"events"`
	Drafts []*drafts.Card  `json:"drafts"`
}

func (a *API) order(ctx context.Context, id string) (*order, error) {
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

// sealed writes the messages of every contact, of those that are blocked as well, newest first.
func sealed(ctx context.Context, a *API, m *making) error {
	return eachID(ctx, a, m.export.BotID, contactIDs, func(contact uuid.UUID) error {
		created, before := time.Unix(math.MaxInt32, 0).UTC(), uuid.Max
		for {
			found, err := a.Records.Messages.OfContact(ctx, contact, created, before, pageSize)
			if err != nil {
				return err
			}
			for _, c := range found {
				if err := m.add(c.ID.String(), c); err != nil {
					return err
				}
				created, before = c.CreatedAt, c.ID
			}
			if len(found) < pageSize {
				return nil
			}
		}
	})
}

// proveKey writes the proof of the agent's entry in the key log, unless the log has no such entry yet.
func (a *API) proveKey(ctx context.Context, m *making) error {
	me, err := a.Records.Bots.Me(ctx)
	if err != nil || me.Bot.KeyLog.Index == nil {
		return err
	}
	proofs, err := a.KeyLog.Proofs(ctx, []int64{*me.Bot.KeyLog.Index})
	if err != nil || len(proofs) == 0 {
		return err
	}
	return m.archive.whole("key.tlog-proof", []byte(proofs[*me.Bot.KeyLog.Index]))
}

// eachReceipt calls do for each receipt of the agent's orders, newest first.
func (a *API) eachReceipt(ctx context.Context, do func(*receipts.Card) error) error {
	for before := (page.Param)(nil); ; {
		list, err := a.Records.Receipts.MyReceipts(ctx, receipts.ListInput{Before: before})
		if err != nil {
			return err
		}
		for _, r := range list.Receipts {
			if err := do(r); err != nil {
				return err
			}
		}
		if list.NextBefore == nil {
			return nil
		}
		before = page.Param{list.NextBefore.String()}
	}
}

// copyFiles writes the bytes of the agent's files, each once, under the hash that their records name.
func (a *API) copyFiles(ctx context.Context, m *making) error {
	if !m.export.IncludeFiles {
		return nil
	}
	written := make(map[string]bool)
	return eachID(ctx, a, m.export.BotID, fileIDs, func(id uuid.UUID) error {
		in := attachments.AttachmentInput{AttachmentID: id.String()}
		found, err := a.Files.Attachment(ctx, in)
		if gone(err) || (err == nil && (!found.Attachment.Available || written[*found.Attachment.SHA256])) {
			return nil
		}
		if err != nil {
			return err
		}
		sum := *found.Attachment.SHA256
		written[sum] = true
		file, err := a.Files.AttachmentDownload(ctx, in)
		if gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		bytes, err := file.Open(ctx, 0)
		if gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		defer bytes.Close()
		if err := m.archive.copy("files/"+sum, file.Size, bytes); err != nil {
			return err
		}
		m.last = id.String()
		return nil
	})
}
