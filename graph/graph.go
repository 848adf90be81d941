// Package graph joins the domains into one API.
//
// Every operation of Stoa is one exported method of one domain package. REST, GraphQL and jobs call the same methods. Only these
// decide about permissions, validation, results and transactions.
package graph

import (
	"context"
	"net/mail"
	"time"

	"github.com/google/uuid"

	"stoa/graph/activity"
	"stoa/graph/attachments"
	"stoa/graph/auth"
	"stoa/graph/bots"
	"stoa/graph/contacts"
	"stoa/graph/drafts"
	"stoa/graph/email"
	"stoa/graph/events"
	"stoa/graph/exports"
	"stoa/graph/feedback"
	"stoa/graph/keylog"
	"stoa/graph/lifecycle"
	"stoa/graph/messages"
	"stoa/graph/onboarding"
	"stoa/graph/operator"
	"stoa/graph/orders"
	"stoa/graph/owners"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/readpool"
	"stoa/graph/posts"
	"stoa/graph/profiles"
	"stoa/graph/ratings"
	"stoa/graph/receipts"
	"stoa/graph/services"
	"stoa/graph/tasks"
	"stoa/graph/wallet"
	"stoa/graph/webhooks"
)

// Config holds the settings and dependencies of the domains.
type Config struct {
	DB *db.DB
	// Reads runs searches and anonymous reads, opened with readpool.Options; nil means DB. Long runs slow ones, opened with
	// readpool.LongOptions; nil means Reads.
	Reads, Long *db.DB
	// Replica answers reads that may return old data; nil for none.
	Replica *readpool.Replica
	Quotas  limits.Quotas
	// Files keeps the bytes of attachments.
	Files *attachments.Store
	// Enqueue adds jobs.
	Enqueue db.Enqueue
	// DrawPage draws pages of PDFs (package jobs); nil means that only first pages are shown.
	DrawPage attachments.PageDrawer
	// Mail sends mails, from the sender MailFrom; nil means that mail is not set up.
	Mail     email.Mailer
	MailFrom *mail.Address
	// Origin is the URL of the public listener, such as https://stoa.example; the links in mails begin with it.
	Origin string
	// SecretKey is the installation's key, of email.KeySize bytes.
	SecretKey []byte
	// LogHead is the file that keeps the greatest signed head of the key log; if it is empty, only memory keeps it.
	LogHead string
	// Witnesses sign the key log; nil for none.
	Witnesses keylog.Witnesses
	// TokenTTL is the lifetime of a bearer token.
	TokenTTL time.Duration
	// ShutdownSoon is closed when the process shuts down and waiting requests must end; nil for never.
	ShutdownSoon <-chan struct{}
	// Sockets is the event channel; nil if the process has none.
	Sockets Sockets
	// Metrics counts for the whole process; nil counts nothing.
	Metrics *metrics.Metrics
	// Webhooks delivers to webhooks; nil means that they are switched off.
	Webhooks *webhooks.Sender
	// RecordErased stores an erasure outside the database (lifecycle.API); it may be nil.
	RecordErased func(lifecycle.Erased) error
	// Backup makes a backup, and LastBackup returns the last one; nil if the process keeps none.
	Backup, LastBackup func(context.Context) (*operator.Backup, error)
}

// Sockets is the interface of domains to the event channel (rest/socket). None of its methods may block.
type Sockets interface {
	// Wake gets the recipients of committed events, Withdrawn gets the recipients of deleted events.
	Wake(recipients []uuid.UUID)
	Withdrawn(recipients []uuid.UUID)
	// Acknowledged gets events that their recipient has acknowledged.
	Acknowledged(recipient uuid.UUID, ids []uuid.UUID)
	// TokensEnded is called after tokens have ended.
	TokensEnded()
}

// noSockets is the event channel of a process that has none.
type noSockets struct{}

func (noSockets) Wake([]uuid.UUID) {}

func (noSockets) Withdrawn([]uuid.UUID) {}

func (noSockets) Acknowledged(uuid.UUID, []uuid.UUID) {}

func (noSockets) TokensEnded() {}

// Graph holds the API of every domain.
type Graph struct {
	Activity    *activity.API
	Attachments *attachments.API
	Auth        *auth.API
	Bots        *bots.API
	Contacts    *contacts.API
	Drafts      *drafts.API
	Email       *email.API
	Events      *events.API
	Exports     *exports.API
	Feedback    *feedback.API
	KeyLog      *keylog.API
	Lifecycle   *lifecycle.API
	Messages    *messages.API
	Onboarding  *onboarding.API
	Operator    *operator.API
	Orders      *orders.API
	Owners      *owners.API
	Posts       *posts.API
	Profiles    *profiles.API
	Ratings     *ratings.API
	Receipts    *receipts.API
	Services    *services.API
	Tasks       *tasks.API
	Wallet      *wallet.API
	Webhooks    *webhooks.API
}

// New wires the domains together.
func New(c Config) *Graph {
	if c.Sockets == nil {
		c.Sockets = noSockets{}
	}
	if c.Metrics == nil {
		c.Metrics = new(metrics.Metrics)
	}
	if c.Backup == nil {
		c.Backup = func(context.Context) (*operator.Backup, error) {
			return nil, fault.New(fault.ServiceUnavailable).Say("This process keeps no backups.")
		}
	}
	if c.LastBackup == nil {
		c.LastBackup = func(context.Context) (*operator.Backup, error) { return nil, nil } //nolint:nilnil // none
	}
	outbox := &events.API{DB: c.DB, Wake: c.Sockets.Wake, Withdrawn: c.Sockets.Withdrawn, Acknowledged: c.Sockets.Acknowledged}
	tokens := &auth.API{
		DB: c.DB, Quotas: c.Quotas, TokenTTL: c.TokenTTL, TokensEnded: c.Sockets.TokensEnded, PauseWebhooks: webhooks.Pause,
	}
	reads := readpool.New(readpool.Config{
		Main: c.DB, Reads: c.Reads, Long: c.Long, Replica: c.Replica, Quotas: c.Quotas, Metrics: c.Metrics,
	})
	onboard := &onboarding.API{DB: c.DB, Events: outbox, Enqueue: c.Enqueue, SendsMail: c.Mail != nil}
	mails := &email.API{
		DB: c.DB, Quotas: c.Quotas, Mailer: c.Mail, From: c.MailFrom, Origin: c.Origin, Key: c.SecretKey, InsertJob: c.Enqueue,
		Attempts: c.Metrics.Mails,
	}
	files := &attachments.API{
		DB: c.DB, Quotas: c.Quotas, Store: c.Files, Enqueue: c.Enqueue, DrawPage: c.DrawPage, ShutdownSoon: c.ShutdownSoon,
	}
	log := &keylog.API{
		DB: c.DB, Reads: reads, Key: c.SecretKey, Origin: c.Origin, Signed: keylog.NewHeadStore(c.LogHead),
		Witnesses: c.Witnesses,
	}
	g := &Graph{
		Activity:    &activity.API{Reads: reads},
		Attachments: files,
		Auth:        tokens,
		Bots:        &bots.API{DB: c.DB, Quotas: c.Quotas, Auth: tokens, Email: mails, ProfileChanged: onboard.ProfileChanged},
		Contacts:    &contacts.API{DB: c.DB, Quotas: c.Quotas, Events: outbox},
		Email:       mails,
		Events:      outbox,
		Feedback:    &feedback.API{DB: c.DB},
		KeyLog:      log,
		Messages:    &messages.API{DB: c.DB, Quotas: c.Quotas, Wake: c.Sockets.Wake},
		Drafts:      &drafts.API{DB: c.DB, Events: outbox},
		Orders:      &orders.API{DB: c.DB, Events: outbox},
		Onboarding:  onboard,
		Posts:       &posts.API{DB: c.DB, Reads: reads, ProfileChanged: onboard.ProfileChanged},
		Profiles:    &profiles.API{DB: c.DB, Reads: reads, SendsMail: c.Mail != nil},
		Ratings:     &ratings.API{DB: c.DB, Events: outbox, Reads: reads},
		Receipts:    &receipts.API{DB: c.DB, Events: outbox, Reads: reads, KeyLog: log},
		Services:    &services.API{DB: c.DB, Quotas: c.Quotas, Reads: reads},
		Wallet:      &wallet.API{DB: c.DB},
		Webhooks: &webhooks.API{
			DB: c.DB, Events: outbox, Sender: c.Webhooks, Key: c.SecretKey, InsertJob: c.Enqueue, Attempts: c.Metrics.Webhooks,
		},
	}
	g.Owners = &owners.API{
		DB: c.DB, Quotas: c.Quotas, Email: mails, Auth: tokens, ReadOnboarding: onboard.Onboarding,
		ProfileChanged: onboard.ProfileChanged, InsertJob: c.Enqueue, LeaveTrash: g.Bots.LeaveTrash, SendsMail: c.Mail != nil,
	}
	g.Tasks = &tasks.API{DB: c.DB, Quotas: c.Quotas, Reads: reads, Orders: g.Orders, Events: outbox, Enqueue: c.Enqueue}
	g.Contacts.Blocked = g.Tasks.Blocked
	g.Lifecycle = &lifecycle.API{
		DB: c.DB, Bots: g.Bots, Email: mails, Orders: g.Orders, Deleted: g.Tasks.CustomerDeleted, TokensEnded: c.Sockets.TokensEnded,
		ProfileChanged: onboard.ProfileChanged, SendsMail: c.Mail != nil, RecordErased: c.RecordErased,
	}
	g.Exports = &exports.API{
		DB: c.DB, Quotas: c.Quotas, InsertJob: c.Enqueue, Events: outbox, KeyLog: log,
		Files: files, Records: exports.Records{
			Bots: g.Bots, Contacts: g.Contacts, Drafts: g.Drafts, Feedback: g.Feedback, Messages: g.Messages, Onboarding: onboard, Orders: g.Orders,
			Posts: g.Posts, Ratings: g.Ratings, Receipts: g.Receipts, Services: g.Services, Tasks: g.Tasks, Wallet: g.Wallet,
		},
	}
	g.Operator = &operator.API{
		Explorer: operator.NewExplorer(c.DB.Ent), DB: c.DB, Auth: tokens, Ledger: g.Wallet, Files: files, Outbox: outbox,
		Agents: g.Bots, Lifecycle: g.Lifecycle, Enqueue: c.Enqueue, ProfileChanged: onboard.ProfileChanged, Owners: g.Owners,
		RemoveFromBoard: g.Tasks.Remove, BackUp: c.Backup, LastBackup: c.LastBackup, Keys: g.KeyLog,
	}
	g.Operator.Kept = retained(g, c.DB)
	return g
}
