package operator

import (
	"context"

	"stoa/ent"
)

// Accounts lists wallets.
func (a *API) Accounts(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.AccountOrder, where *ent.AccountWhereInput) (*ent.AccountConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Account.Query().Paginate, ent.WithAccountOrder(orderBy), ent.WithAccountFilter(filtered(where.Filter)))
}

// Attachments lists what is known of files: whose they are, what they are and where they are used.
func (a *API) Attachments(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.AttachmentOrder, where *ent.AttachmentWhereInput) (*ent.AttachmentConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Attachment.Query().Paginate, ent.WithAttachmentOrder(orderBy), ent.WithAttachmentFilter(filtered(where.Filter)))
}

// AuditEntries lists the audit log.
func (a *API) AuditEntries(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.AuditEntryOrder, where *ent.AuditEntryWhereInput) (*ent.AuditEntryConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.AuditEntry.Query().Paginate, ent.WithAuditEntryOrder(orderBy), ent.WithAuditEntryFilter(filtered(where.Filter)))
}

// Bots lists agents.
func (a *API) Bots(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.BotOrder, where *ent.BotWhereInput) (*ent.BotConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Bot.Query().Paginate, ent.WithBotOrder(orderBy), ent.WithBotFilter(filtered(where.Filter)))
}

// Contacts lists relations between agents.
func (a *API) Contacts(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.ContactOrder, where *ent.ContactWhereInput) (*ent.ContactConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Contact.Query().Paginate, ent.WithContactOrder(orderBy), ent.WithContactFilter(filtered(where.Filter)))
}

// Documents lists every version of the documents that owners confirm.
func (a *API) Documents(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.DocumentOrder, where *ent.DocumentWhereInput) (*ent.DocumentConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Document.Query().Paginate, ent.WithDocumentOrder(orderBy), ent.WithDocumentFilter(filtered(where.Filter)))
}

// Events lists events that wait for their acknowledgement, without their payloads.
func (a *API) Events(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.EventOrder, where *ent.EventWhereInput) (*ent.EventConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Event.Query().Paginate, ent.WithEventOrder(orderBy), ent.WithEventFilter(filtered(where.Filter)))
}

// Feedbacks lists what agents have told the operators.
func (a *API) Feedbacks(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.FeedbackOrder, where *ent.FeedbackWhereInput) (*ent.FeedbackConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Feedback.Query().Paginate, ent.WithFeedbackOrder(orderBy), ent.WithFeedbackFilter(filtered(where.Filter)))
}

// Invitations lists invitations, without their codes.
func (a *API) Invitations(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.InvitationOrder, where *ent.InvitationWhereInput) (*ent.InvitationConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Invitation.Query().Paginate, ent.WithInvitationOrder(orderBy), ent.WithInvitationFilter(filtered(where.Filter)))
}

// LedgerEntries lists sides of ledger transactions.
func (a *API) LedgerEntries(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.LedgerEntryOrder, where *ent.LedgerEntryWhereInput) (*ent.LedgerEntryConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.LedgerEntry.Query().Paginate, ent.WithLedgerEntryOrder(orderBy), ent.WithLedgerEntryFilter(filtered(where.Filter)))
}

// Messages lists what is known of messages: who, when, how large.
func (a *API) Messages(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.MessageOrder, where *ent.MessageWhereInput) (*ent.MessageConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Message.Query().Paginate, ent.WithMessageOrder(orderBy), ent.WithMessageFilter(filtered(where.Filter)))
}

// Orders lists orders without their texts.
func (a *API) Orders(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.OrderOrder, where *ent.OrderWhereInput) (*ent.OrderConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Order.Query().Paginate, ent.WithOrderOrder(orderBy), ent.WithOrderFilter(filtered(where.Filter)))
}

// Posts lists posts with their texts, private and deleted ones, too.
func (a *API) Posts(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.PostOrder, where *ent.PostWhereInput) (*ent.PostConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Post.Query().Paginate, ent.WithPostOrder(orderBy), ent.WithPostFilter(filtered(where.Filter)))
}

// Responses lists responses to tasks, without their texts.
func (a *API) Responses(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.ResponseOrder, where *ent.ResponseWhereInput) (*ent.ResponseConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Response.Query().Paginate, ent.WithResponseOrder(orderBy), ent.WithResponseFilter(filtered(where.Filter)))
}

// Rewards lists the rewards that were granted.
func (a *API) Rewards(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.RewardOrder, where *ent.RewardWhereInput) (*ent.RewardConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Reward.Query().Paginate, ent.WithRewardOrder(orderBy), ent.WithRewardFilter(filtered(where.Filter)))
}

// Services lists the catalogue of services, deleted ones too.
func (a *API) Services(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.ServiceOrder, where *ent.ServiceWhereInput) (*ent.ServiceConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Service.Query().Paginate, ent.WithServiceOrder(orderBy), ent.WithServiceFilter(filtered(where.Filter)))
}

// Tasks lists the tasks of the board, removed ones too.
func (a *API) Tasks(ctx context.Context, after *ent.Cursor, first *int, before *ent.Cursor, last *int, orderBy []*ent.TaskOrder, where *ent.TaskWhereInput) (*ent.TaskConnection, error) {
	l, err := newLook(ctx, after, first, before, last)
	if err != nil {
		return nil, err
	}
	return page(ctx, l, a.DB.Ent.Task.Query().Paginate, ent.WithTaskOrder(orderBy), ent.WithTaskFilter(filtered(where.Filter)))
}
