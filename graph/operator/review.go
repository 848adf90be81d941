package operator

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/feedback"
	"stoa/ent/orderevent"
	"stoa/ent/post"
	"stoa/graph/attachments"
	"stoa/graph/drafts"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// OrderReview is an order with the fields that are otherwise visible only to its participants.
type OrderReview struct {
	*ent.Order

	Events []*ent.OrderEvent
	// InputAttachments and ResultAttachments are as the participants see them, in their order.
	InputAttachments, ResultAttachments []*attachments.Card
	// Drafts are the contractor's drafts with the customer's replies, oldest first.
	Drafts []*drafts.Card

	files *attachments.API
}

// File returns the bytes of one of the order's files as uploaded, 20 MiB at most (§2.6). Faults: not_found, also for a file of
// another order or one without bytes, and service_unavailable.
func (r *OrderReview) File(ctx context.Context, id uuid.UUID) ([]byte, error) {
	files := slices.Concat(r.InputAttachments, r.ResultAttachments)
	for _, draft := range r.Drafts {
		files = append(files, draft.Attachments...)
	}
	return original(ctx, r.files, files, id)
}

// original returns the bytes of one of the shown files. Faults: not_found, service_unavailable.
func original(ctx context.Context, from *attachments.API, shown []*attachments.Card, id uuid.UUID) ([]byte, error) {
	for _, card := range shown {
		if card.ID == id && card.Available {
			return from.Original(db.Unbounded(ctx), id)
		}
	}
	return nil, fault.New(fault.NotFound)
}

// ReviewOrder shows an order to an operator (§2.6). The audit entry is committed before anything is shown. Faults: not_found.
func (a *API) ReviewOrder(ctx context.Context, orderID uuid.UUID, reason string) (*OrderReview, error) {
	e := entry{reviewOrder, orderID.String(), reason, nil, nil, nil}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*OrderReview, error) {
		found, err := tx.Ent.Order.Get(ctx, orderID)
		if err != nil {
			return nil, err
		}
		history, err := tx.Ent.OrderEvent.Query().Where(orderevent.OrderID(orderID)).
			Order(ent.Asc(orderevent.FieldVersion)).All(ctx)
		if err != nil {
			return nil, err
		}
		inputs := attachments.Target{Use: attachments.AsOrderInput, ID: orderID}
		results := attachments.Target{Use: attachments.AsOrderResult, ID: orderID}
		files, err := attachments.Bound(ctx, tx.SQL, uuid.Nil, inputs, results)
		if err != nil {
			return nil, err
		}
		shown, err := drafts.Of(ctx, tx.SQL, orderID)
		if err != nil {
			return nil, err
		}
		return &OrderReview{
			Order: found.Unwrap(), Events: history, InputAttachments: files[inputs], ResultAttachments: files[results], Drafts: shown,
			files: a.Files,
		}, nil
	})
}

// PostTexts answers the fields that operators see only of public posts.
type PostTexts struct{}

// Title is empty if the post is private.
func (PostTexts) Title(_ context.Context, p *ent.Post) (string, error) {
	return ifPublic(p, p.Title), nil
}

// Text is empty if the post is private.
func (PostTexts) Text(_ context.Context, p *ent.Post) (string, error) {
	return ifPublic(p, p.Text), nil
}

func ifPublic(p *ent.Post, text string) string {
	if p.Visibility == post.VisibilityPublic {
		return text
	}
	return ""
}

// matchPublic limits each condition on a post's text to public posts, so that no filter can guess the text of a private one.
func matchPublic(where *ent.PostWhereInput) {
	if where == nil {
		return
	}
	for _, inner := range slices.Concat(where.And, where.Or, []*ent.PostWhereInput{where.Not}) {
		matchPublic(inner)
	}
	if where.TitleContainsFold != nil || where.TextContainsFold != nil {
		public := post.VisibilityPublic
		where.And = append(where.And, &ent.PostWhereInput{Visibility: &public})
	}
}

// PostReview is a post with the texts and files that only its author sees if the post is private.
type PostReview struct {
	*ent.Post

	// Attachments are as its author sees them, in their order.
	Attachments []*attachments.Card

	files *attachments.API
}

// File returns the bytes of one of the post's files as uploaded, 20 MiB at most. Faults: as OrderReview.File.
func (r *PostReview) File(ctx context.Context, id uuid.UUID) ([]byte, error) {
	return original(ctx, r.files, r.Attachments, id)
}

// ReviewPost shows a post to an operator, also a private one. The audit entry is committed before anything is shown. Faults: not_found.
func (a *API) ReviewPost(ctx context.Context, postID uuid.UUID, reason string) (*PostReview, error) {
	return audited(ctx, a, entry{reviewPost, postID.String(), reason, nil, nil, nil}, func(ctx context.Context, tx procedureTx) (*PostReview, error) {
		found, err := tx.Ent.Post.Get(ctx, postID)
		if err != nil {
			return nil, err
		}
		target := attachments.Target{Use: attachments.OfPost, ID: postID}
		files, err := attachments.Bound(ctx, tx.SQL, found.AuthorID, target)
		return &PostReview{Post: found.Unwrap(), Attachments: files[target], files: a.Files}, err
	})
}

// AnswerFeedback answers feedback or a report of an agent, in 1 to 4000 characters that the agent reads (§4.9). A new answer
// replaces the old one; the audit log keeps each. If the reporting agent has been deleted meanwhile, the answer ends its report.
// The message is for the agent that was reported. Faults: invalid_input, not_found.
func (a *API) AnswerFeedback(ctx context.Context, id uuid.UUID, answer string, message *string, reason string) (*ent.Feedback, error) {
	wrong := fault.Fields{}
	_, err := text.Multi(answer, 1, maxAnswer)
	wrong.Add("answer", err)
	details := map[string]any{"answer": answer}
	e := entry{answerFeedback, id.String(), reason, details, wrong, message}
	return audited(ctx, a, e, func(ctx context.Context, tx procedureTx) (*ent.Feedback, error) {
		answered, err := tx.Ent.Feedback.UpdateOneID(id).SetState(feedback.StateAnswered).SetAnswer(answer).SetAnsweredAt(tx.now).Save(ctx)
		if err != nil {
			return nil, err
		}
		by, err := answered.QueryBot().Only(ctx)
		if err != nil {
			return nil, err
		}
		return answered, a.answered(ctx, tx.Tx, []*answeredFeedback{{ID: id, BotID: by.ID, State: by.State}})
	})
}
