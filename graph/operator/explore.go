package operator

import (
	"context"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"stoa/ent"
	"stoa/ent/feedback"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// Sizes of a page of a connection, in rows.
const (
	DefaultPage = 20
	MaxPage     = 100
)

// pageRequest asks for a page of a connection.
type pageRequest struct {
	after, before *ent.Cursor
	first, last   *int
}

// check bounds the page: the first DefaultPage rows unless asked otherwise, MaxPage at most. It returns invalid_pagination.
func (r pageRequest) check() (pageRequest, error) {
	if r.first != nil && r.last != nil {
		return r, fault.Field(fault.InvalidPagination, "last", "cannot be combined with first")
	}
	for name, size := range map[string]*int{"first": r.first, "last": r.last} {
		if size != nil && (*size < 1 || *size > MaxPage) {
			return r, fault.Field(fault.InvalidPagination, name, "must be an integer from 1 to 100")
		}
	}
	if r.first == nil && r.last == nil {
		size := DefaultPage
		r.first = &size
	}
	return r, nil
}

// paginate is the generated method of every entity's query.
type paginate[Option, Connection any] func(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	options ...Option) (Connection, error)

// page reads a page. Faults: unauthorized for anyone but an operator; invalid_pagination, also for a cursor of another order or
// another connection; invalid_input for a text that the database cannot hold, a zero character.
func page[Option, Connection any](ctx context.Context, r pageRequest, of paginate[Option, Connection],
	options ...Option) (connection Connection, err error) {
	if _, err := viewer.RequireOperator(ctx); err != nil {
		return connection, err
	}
	if r, err = r.check(); err != nil {
		return connection, err
	}
	connection, err = of(ctx, r.after, r.first, r.before, r.last, options...)
	if err != nil && fault.From(err).Code == fault.InternalError {
		if pq.As(err, pqerror.CharacterNotInRepertoire) != nil {
			return connection, fault.Field(fault.InvalidInput, "where", "must not hold a zero character")
		}
		if r.after != nil || r.before != nil {
			err = fault.Wrap(fault.InvalidPagination, err)
		}
	}
	return connection, err
}

// filtered is a generated filter whose only error, for an empty condition, becomes invalid_input.
func filtered[Query any](filter func(Query) (Query, error)) func(Query) (Query, error) {
	return func(query Query) (Query, error) {
		result, err := filter(query)
		if err != nil {
			return result, fault.Field(fault.InvalidInput, "where", "must not hold an empty condition below the first")
		}
		return result, nil
	}
}

// Accounts lists wallets.
func (a *API) Accounts(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.AccountOrder, where *ent.AccountWhereInput) (*ent.AccountConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Account.Query().Paginate,
		ent.WithAccountOrder(orderBy), ent.WithAccountFilter(filtered(where.Filter)))
}

// Attachments lists what is known of files: whose they are, what they are and where they are used.
func (a *API) Attachments(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.AttachmentOrder, where *ent.AttachmentWhereInput) (*ent.AttachmentConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Attachment.Query().Paginate,
		ent.WithAttachmentOrder(orderBy), ent.WithAttachmentFilter(filtered(where.Filter)))
}

// AuditEntries lists the audit log.
func (a *API) AuditEntries(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.AuditEntryOrder, where *ent.AuditEntryWhereInput) (*ent.AuditEntryConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.AuditEntry.Query().Paginate,
		ent.WithAuditEntryOrder(orderBy), ent.WithAuditEntryFilter(filtered(where.Filter)))
}

// Bots lists agents.
func (a *API) Bots(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.BotOrder, where *ent.BotWhereInput) (*ent.BotConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Bot.Query().Paginate,
		ent.WithBotOrder(orderBy), ent.WithBotFilter(filtered(where.Filter)))
}

// Contacts lists relations between agents.
func (a *API) Contacts(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.ContactOrder, where *ent.ContactWhereInput) (*ent.ContactConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Contact.Query().Paginate,
		ent.WithContactOrder(orderBy), ent.WithContactFilter(filtered(where.Filter)))
}

// Documents lists every version of the documents that owners confirm.
func (a *API) Documents(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.DocumentOrder, where *ent.DocumentWhereInput) (*ent.DocumentConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Document.Query().Paginate,
		ent.WithDocumentOrder(orderBy), ent.WithDocumentFilter(filtered(where.Filter)))
}

// Events lists events that wait for their acknowledgement, without their payloads.
func (a *API) Events(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.EventOrder, where *ent.EventWhereInput) (*ent.EventConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Event.Query().Paginate,
		ent.WithEventOrder(orderBy), ent.WithEventFilter(filtered(where.Filter)))
}

// Feedbacks lists the messages of agents to the operators, without reports.
func (a *API) Feedbacks(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.FeedbackOrder, where *ent.FeedbackWhereInput) (*ent.FeedbackConnection, error) {
	return page(ctx, pageRequest{after, before, first, last},
		a.DB.Ent.Feedback.Query().Where(feedback.KindNEQ(feedback.KindReport)).Paginate,
		ent.WithFeedbackOrder(orderBy), ent.WithFeedbackFilter(filtered(where.Filter)))
}

// Reports lists the reports by agents.
func (a *API) Reports(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.FeedbackOrder, where *ent.FeedbackWhereInput) (*ent.FeedbackConnection, error) {
	return page(ctx, pageRequest{after, before, first, last},
		a.DB.Ent.Feedback.Query().Where(feedback.KindEQ(feedback.KindReport)).Paginate,
		ent.WithFeedbackOrder(orderBy), ent.WithFeedbackFilter(filtered(where.Filter)))
}

// Invitations lists invitations, without their codes.
func (a *API) Invitations(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.InvitationOrder, where *ent.InvitationWhereInput) (*ent.InvitationConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Invitation.Query().Paginate,
		ent.WithInvitationOrder(orderBy), ent.WithInvitationFilter(filtered(where.Filter)))
}

// LedgerEntries lists sides of ledger transactions.
func (a *API) LedgerEntries(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.LedgerEntryOrder, where *ent.LedgerEntryWhereInput) (*ent.LedgerEntryConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.LedgerEntry.Query().Paginate,
		ent.WithLedgerEntryOrder(orderBy), ent.WithLedgerEntryFilter(filtered(where.Filter)))
}

// Mails lists mails to owners and what became of them, without their texts and with a hint of the address.
func (a *API) Mails(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.MailOrder, where *ent.MailWhereInput) (*ent.MailConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Mail.Query().Paginate,
		ent.WithMailOrder(orderBy), ent.WithMailFilter(filtered(where.Filter)))
}

// Messages lists what is known of messages: who, when, how large.
func (a *API) Messages(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.MessageOrder, where *ent.MessageWhereInput) (*ent.MessageConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Message.Query().Paginate,
		ent.WithMessageOrder(orderBy), ent.WithMessageFilter(filtered(where.Filter)))
}

// Orders lists orders without their texts.
func (a *API) Orders(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.OrderOrder, where *ent.OrderWhereInput) (*ent.OrderConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Order.Query().Paginate,
		ent.WithOrderOrder(orderBy), ent.WithOrderFilter(filtered(where.Filter)))
}

// Posts lists posts, private ones and those that an operator removed too. Only public ones show their texts, and are found by them.
func (a *API) Posts(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.PostOrder, where *ent.PostWhereInput) (*ent.PostConnection, error) {
	matchPublic(where)
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Post.Query().Paginate,
		ent.WithPostOrder(orderBy), ent.WithPostFilter(filtered(where.Filter)))
}

// Ratings lists what agents say of each other after an order, removed ratings too.
func (a *API) Ratings(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.RatingOrder, where *ent.RatingWhereInput) (*ent.RatingConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Rating.Query().Paginate,
		ent.WithRatingOrder(orderBy), ent.WithRatingFilter(filtered(where.Filter)))
}

// Responses lists responses to tasks, without their texts.
func (a *API) Responses(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.ResponseOrder, where *ent.ResponseWhereInput) (*ent.ResponseConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Response.Query().Paginate,
		ent.WithResponseOrder(orderBy), ent.WithResponseFilter(filtered(where.Filter)))
}

// Rewards lists the rewards that were granted.
func (a *API) Rewards(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.RewardOrder, where *ent.RewardWhereInput) (*ent.RewardConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Reward.Query().Paginate,
		ent.WithRewardOrder(orderBy), ent.WithRewardFilter(filtered(where.Filter)))
}

// Services lists the catalogue of services, deleted ones too, which have no texts any more unless an operator removed them.
func (a *API) Services(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.ServiceOrder, where *ent.ServiceWhereInput) (*ent.ServiceConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Service.Query().Paginate,
		ent.WithServiceOrder(orderBy), ent.WithServiceFilter(filtered(where.Filter)))
}

// Tasks lists the tasks of the board, removed ones too.
func (a *API) Tasks(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.TaskOrder, where *ent.TaskWhereInput) (*ent.TaskConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Task.Query().Paginate,
		ent.WithTaskOrder(orderBy), ent.WithTaskFilter(filtered(where.Filter)))
}

// Webhooks lists where agents have their events sent: the hosts, and not the whole addresses.
func (a *API) Webhooks(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.WebhookOrder, where *ent.WebhookWhereInput) (*ent.WebhookConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.Webhook.Query().Paginate,
		ent.WithWebhookOrder(orderBy), ent.WithWebhookFilter(filtered(where.Filter)))
}

// WebhookDeliveries lists how attempts to deliver to webhooks ended.
func (a *API) WebhookDeliveries(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int,
	orderBy []*ent.WebhookDeliveryOrder, where *ent.WebhookDeliveryWhereInput) (*ent.WebhookDeliveryConnection, error) {
	return page(ctx, pageRequest{after, before, first, last}, a.DB.Ent.WebhookDelivery.Query().Paginate,
		ent.WithWebhookDeliveryOrder(orderBy), ent.WithWebhookDeliveryFilter(filtered(where.Filter)))
}
